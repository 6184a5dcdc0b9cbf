"""The table of transactions, written from the prose of `protos/store.md`."""

from __future__ import annotations

from functools import cache

from tests.conformance.reference.generator import below, words

TRANSACTIONS = 100_000
_ACCOUNTS = 10_000


@cache
def _drawn() -> tuple[int, ...]:
    return words("transactions", 3 * TRANSACTIONS)


def row_of(after: int, number: int) -> dict[str, int]:
    """What event `number` of a subscription to what follows transaction `after` carries."""
    place = (after + number - 1) % TRANSACTIONS
    w0, w1, w2 = _drawn()[3 * place : 3 * place + 3]
    p = below(w0, _ACCOUNTS)
    payee = (p + 1 + below(w1, _ACCOUNTS - 1)) % _ACCOUNTS + 1
    return {"transaction": place + 1, "payer": p + 1, "payee": payee, "amount": 1 + below(w2, 10_000)}


def after_of(seed: int) -> int:
    """The transaction that a trial's subscriptions to `activity` begin behind."""
    return below(words(f"activity/{seed}", 1)[0], TRANSACTIONS)
