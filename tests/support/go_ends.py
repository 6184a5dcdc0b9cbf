"""Go's ends as programs, for tests of what is particular to it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.responder_lines import Serve
from tests.support.built import why_not
from tests.support.ends import Program, responder

BUILT = Path(__file__).parents[2] / "services" / "go" / "build"


class GoProgram(Program):
    """See `Program`."""

    def __init__(self, env: Mapping[str, str] | None = None, role: str = "respond") -> None:
        super().__init__(str(BUILT / role), env={**os.environ, **(env or {})})


def go_responder(
    protocol: str = "rest", *, env: Mapping[str, str] | None = None, **serve: Any
) -> AbstractContextManager[tuple[Program, dict[str, Any]]]:
    """See `ends.responder`."""
    if why := why_not("go"):
        pytest.skip(why)
    return responder(protocol, argv=[str(BUILT / "respond")], env={**os.environ, **(env or {})}, **serve)


def refusal_of_go(*, env: Mapping[str, str] | None = None, **serve: Any) -> str:
    """The one line that it says on stderr before it ends with status 1."""
    if why := why_not("go"):
        pytest.skip(why)
    started = GoProgram(env)
    try:
        started.send(Serve(protocol="rest", identity="nonce", **serve).to_json())
        status, printed, said = started.ended_by_itself()
    finally:
        started.stop()
    assert (status, printed, len(said.splitlines())) == (1, [], 1), said
    return said
