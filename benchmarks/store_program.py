"""A responder that also answers `bare_balance`: the reply of `balance` by a plain function, which holds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from services.python.operations import OPERATIONS, Operation
from services.python.programs import respond
from services.python.stores import seed

BARE = "bare_balance"


def _answer(request: Mapping[str, Any], _wall_clock_ns: Any) -> dict[str, Any]:
    account, owner, balance = seed.accounts()[request["account"] - 1]
    return {"account": account, "owner": owner, "balance": balance}


def enter() -> None:
    """Have this process know the operation."""
    bare = replace(OPERATIONS["balance"], name=BARE, answer=_answer, runs="inline", open=None, resources=())
    cast(dict[str, Operation], OPERATIONS)[BARE] = bare


if __name__ == "__main__":
    enter()
    seed.accounts()
    respond.main()
