"""Addresses of stores, and the rows that each begins with."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from services.python.stores import postgresql, seed
from services.python.stores.base import StoreError


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://me:one@two@127.0.0.1:9/x",
        "postgresql://me:one/two@127.0.0.1:9/x",
        "postgresql://me:one@two:three@127.0.0.1/x",
        "host=127.0.0.1 port=two dbname=x",
    ],
)
def test_a_password_that_is_cut_in_two_is_not_told(dsn: str) -> None:
    with pytest.raises(StoreError, match="writes @ as %40") as refused:
        postgresql.named(dsn)
    assert not {"one", "two", "three"} & set(str(refused.value).split())
    assert "two" not in str(refused.value)


PAGE = (Path(__file__).parents[3] / "protos/store.md").read_text(encoding="utf-8")
DICTIONARY = ["amber", "basalt", "cedar", "delta", "ember", "fjord", "granite", "harbour", "indigo", "juniper", "kelp"]


def words(label: str, first: int, number: int) -> list[int]:
    data = hashlib.shake_128(b"orch payload v1/" + label.encode()).digest(4 * (first + number))
    return [int.from_bytes(data[4 * i : 4 * i + 4], "little") for i in range(first, first + number)]


def below(word: int, limit: int) -> int:
    return word * limit // 2**32


def test_rows_are_those_of_the_page() -> None:
    names = [*DICTIONARY, "lagoon"]
    for number in (1, 2, 4711, 10_000):
        w = words("accounts", 3 * (number - 1), 3)
        owner = f"{names[below(w[0], 12)]} {names[below(w[1], 12)]}"
        assert seed.accounts()[number - 1] == (number, owner, 10_000 + below(w[2], 990_000))
    for number in (1, 2, 99_999, 100_000):
        w = words("transactions", 3 * (number - 1), 3)
        payer = below(w[0], 10_000)
        payee = (payer + 1 + below(w[1], 9_999)) % 10_000 + 1
        assert seed.transactions()[number - 1] == (number, payer + 1, payee, 1 + below(w[2], 10_000))


def test_the_digest_is_that_of_all_rows_and_of_the_page() -> None:
    accounts, transactions = seed.accounts(), seed.transactions()
    assert (len(accounts), len(transactions)) == (seed.ACCOUNTS, seed.TRANSACTIONS) == (10_000, 100_000)
    assert seed.digest(seed.lines(accounts), seed.lines(transactions)) == seed.DIGEST
    assert re.findall(r"^    ([0-9a-f]{64})$", PAGE, re.MULTILINE) == [seed.DIGEST]
