"""The rows that every store begins with: a pure function, the same everywhere (`protos/store.md`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

from services.python.contract.generator import DICTIONARY, below, words

Account = tuple[int, str, int]  # number from 1, owner, balance in cents
Transaction = tuple[int, int, int, int]  # number from 1, payer's account, payee's account, amount in cents

Row = TypeVar("Row", bound=tuple[Any, ...])

ACCOUNTS: Final = 10_000
TRANSACTIONS: Final = 100_000
MOST_BALANCE: Final = 2**31 - 1  # cents: what an integer of 32 bits holds
DIGEST: Final = "7de8a7bcc3f115260663794a9a63263803263c1c1bd3eea0b92863d644cca464"
"""SHA-256 of all rows as `lines` writes them, accounts before transactions."""

_LEAST_BALANCE, _BALANCES = 10_000, 990_000
_MOST_SEEDED_AMOUNT = 10_000
_ACCOUNT_WORDS, _TRANSACTION_WORDS = 3, 3


@lru_cache(maxsize=1)
def accounts() -> tuple[Account, ...]:
    """Every account, by number."""
    drawn = iter(words("accounts", ACCOUNTS * _ACCOUNT_WORDS))
    names, size = DICTIONARY, len(DICTIONARY)
    return tuple(
        (number, f"{names[below(first, size)]} {names[below(second, size)]}", _LEAST_BALANCE + below(third, _BALANCES))
        for number, (first, second, third) in enumerate(zip(drawn, drawn, drawn, strict=True), start=1)
    )


@lru_cache(maxsize=1)
def transactions() -> tuple[Transaction, ...]:
    """Every transaction, by number."""
    drawn = iter(words("transactions", TRANSACTIONS * _TRANSACTION_WORDS))
    return tuple(
        (number, *pair(first, second), 1 + below(third, _MOST_SEEDED_AMOUNT))
        for number, (first, second, third) in enumerate(zip(drawn, drawn, drawn, strict=True), start=1)
    )


def pair(first: int, second: int) -> tuple[int, int]:
    """Payer and payee of two words: two accounts that are not the same one."""
    payer = below(first, ACCOUNTS)
    return payer + 1, (payer + 1 + below(second, ACCOUNTS - 1)) % ACCOUNTS + 1


@lru_cache(maxsize=1)
def by_payer() -> tuple[tuple[Transaction, ...], ...]:
    """The transactions of each payer, newest first; those of account n at place n."""
    return newest_first(transactions(), 1, ACCOUNTS)


def newest_first(rows: Sequence[Row], place: int, most: int) -> tuple[tuple[Row, ...], ...]:
    """Return the rows with each number from 0 to `most` in their column `place`, the last one first."""
    rows_of: list[list[Row]] = [[] for _ in range(most + 1)]
    for row in reversed(rows):
        rows_of[row[place]].append(row)
    return tuple(map(tuple, rows_of))


def lines(rows: Iterable[tuple[Any, ...]]) -> bytes:
    """Rows as text: a line for each, its fields separated by tabs."""
    return "".join("\t".join(map(str, row)) + "\n" for row in rows).encode()


def digest(*tables: bytes) -> str:
    """SHA-256, hexadecimal, of the lines of all tables."""
    return hashlib.sha256(b"".join(tables)).hexdigest()
