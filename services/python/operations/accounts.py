"""A service over a database: `balance`, `payment`, `transactions` and `accounts`, over the rows of `protos/store.md`.

A trial asks one of them, and its responder begins with the seeded rows. So what only reads is compared with those, field by
field. What a payment's reply must be depends on the payments before it, whose order the requester does not know: it
verifies that an accepted one has a number beyond the seeded ones and leaves a balance that there can be, and that a declined
one has none and was not covered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from services.python.contract.generator import below, words
from services.python.contract.lines import Payload
from services.python.contract.messages import ACCOUNTS, BALANCE, PAYMENT, TRANSACTIONS, Message
from services.python.operations.base import Make, Operation, Reply, Request, WallClockNs, expect_kind, shorten
from services.python.operations.sameness import is_alike, rows_of
from services.python.stores import seed
from services.python.stores.base import RESOURCES, Held, Payment, Spent, missing, opened
from services.python.stores.seed import Account, Transaction

LAST, PAGE = 10, 50
"""How many transactions, and accounts, a request asks for."""
_MOST_ROWS = 1_000
_MOST_AMOUNT = 100  # cents, far below what accounts are seeded with: next to none is declined
_PREPARED = 1024


def _prepared(name: str, payload: Payload, each: int, make: Callable[..., dict[str, int]], seed_: int) -> Make:
    expect_kind(name, payload, "none")
    drawn = iter(words(f"{name}/{seed_}", each * _PREPARED))
    requests = [make(*draws) for draws in zip(*[drawn] * each, strict=True)]
    return lambda sequence, _wall_clock_ns: requests[sequence % _PREPARED]


def _number(word: int) -> int:
    return 1 + below(word, seed.ACCOUNTS)


def _whole(request: Request, name: str) -> int:
    value = request.get(name)
    if type(value) is not int:
        raise ValueError(f"`{name}` is a whole number, not {shorten(value)}")
    return value


def _count(request: Request) -> int:
    count = _whole(request, "count")
    if not 0 < count <= _MOST_ROWS:
        raise ValueError(f"1 to {_MOST_ROWS:,} rows can be asked for, not {count:,}")
    return count


def _ask_balance(payload: Payload, seed_: int) -> Make:
    return _prepared("balance", payload, 1, lambda word: {"account": _number(word)}, seed_)


def _find_balance(request: Request, store: Any, spent: Spent) -> Any:
    return store.account(_whole(request, "account"), spent)


def _balance(request: Request, account: Account | None) -> dict[str, Any]:
    if account is None:
        raise missing(request["account"])
    return {"account": account[0], "owner": account[1], "balance": account[2]}


def _verify_balance(request: Request, reply: Reply) -> str | None:
    wanted = dict(zip(BALANCE.reply, seed.accounts()[request["account"] - 1], strict=True))
    return (
        None if is_alike(wanted, reply) else f"account {request['account']} came back as {shorten(reply)}, not {wanted}"
    )


def _ask_payment(payload: Payload, seed_: int) -> Make:
    def make(first: int, second: int, third: int) -> dict[str, int]:
        payer, payee = seed.pair(first, second)
        return {"payer": payer, "payee": payee, "amount": 1 + below(third, _MOST_AMOUNT)}

    return _prepared("payment", payload, 3, make, seed_)


def _make_payment(request: Request, store: Any, spent: Spent) -> Any:
    return store.pay(_whole(request, "payer"), _whole(request, "payee"), _whole(request, "amount"), spent)


def _payment(_: Request, made: Payment) -> dict[str, Any]:
    return {"accepted": made.accepted, "payment": made.number, "balance": made.balance}


def _verify_payment(request: Request, reply: Reply) -> str | None:
    accepted, number, balance = (reply.get(name) for name in ("accepted", "payment", "balance"))
    if type(accepted) is bool and type(number) is int and type(balance) is int and len(reply) == len(PAYMENT.reply):
        is_made = number > seed.TRANSACTIONS and 0 <= balance <= seed.MOST_BALANCE
        is_declined = number == 0 and 0 <= balance < request["amount"]
        if is_made if accepted else is_declined:
            return None
    return f"a payment of {request['amount']} cents came back as {shorten(reply)}"


def _ask_transactions(payload: Payload, seed_: int) -> Make:
    return _prepared("transactions", payload, 1, lambda word: {"account": _number(word), "count": LAST}, seed_)


def _find_transactions(request: Request, store: Any, spent: Spent) -> Any:
    return store.last(_whole(request, "account"), _count(request), spent)


def _transactions(_: Request, rows: Iterable[Transaction]) -> dict[str, Any]:
    return {"transactions": rows_of("transactions", rows)}


def _verify_transactions(request: Request, reply: Reply) -> str | None:
    wanted = rows_of("transactions", seed.by_payer()[request["account"]][: request["count"]])
    return _unlike(wanted, reply.get("transactions"), f"the last transactions of account {request['account']}")


def _ask_accounts(payload: Payload, seed_: int) -> Make:
    return _prepared("accounts", payload, 1, lambda word: {"after": below(word, seed.ACCOUNTS), "count": PAGE}, seed_)


def _find_accounts(request: Request, store: Any, spent: Spent) -> Any:
    return store.page(_whole(request, "after"), _count(request), spent)


def _accounts(_: Request, rows: Iterable[Account]) -> dict[str, Any]:
    return {"accounts": rows_of("accounts", rows)}


def _verify_accounts(request: Request, reply: Reply) -> str | None:
    after = request["after"]
    wanted = rows_of("accounts", seed.accounts()[after : after + request["count"]])
    return _unlike(wanted, reply.get("accounts"), f"the accounts after {after}")


def _unlike(wanted: list[dict[str, Any]], got: object, what: str) -> str | None:
    if not isinstance(got, list) or len(got) != len(wanted):
        rows = f"{len(got)} rows" if isinstance(got, list) else shorten(got)
        return f"{what}: {rows}, not {len(wanted)}"
    for place, (mine, other) in enumerate(zip(wanted, got, strict=True), start=1):
        if not is_alike(mine, other):
            return f"{what}: row {place} came back as {shorten(other)}, not {mine}"
    return None


def _operation(
    message: Message,
    requests: Callable[[Payload, int], Make],
    ask: Callable[[Request, Any, Spent], Any],
    reply: Callable[[Request, Any], dict[str, Any]],
    verify: Callable[[Request, Reply], str | None],
) -> Operation:
    """`ask` asks the store, which may give something to await, and `reply` makes the reply of what came of it."""

    def answer(request: Request, _: WallClockNs, held: Held, spent: Spent) -> dict[str, Any]:
        return reply(request, ask(request, held.store, spent))

    async def awaited(request: Request, _: WallClockNs, held: Held, spent: Spent) -> dict[str, Any]:
        return reply(request, await ask(request, held.store, spent))

    return Operation(
        name=message.name,
        message=message,
        requests=requests,
        answer=answer,
        awaited=awaited,
        verify=verify,
        runs="held",
        open=opened,
        resources=RESOURCES,
    )


OPERATIONS: tuple[Operation, ...] = (
    _operation(BALANCE, _ask_balance, _find_balance, _balance, _verify_balance),
    _operation(PAYMENT, _ask_payment, _make_payment, _payment, _verify_payment),
    _operation(TRANSACTIONS, _ask_transactions, _find_transactions, _transactions, _verify_transactions),
    _operation(ACCOUNTS, _ask_accounts, _find_accounts, _accounts, _verify_accounts),
)
