"""Matrices of tests, of which the defaults run with the light tests and the rest with the heavy ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from services.python.contract.offers import find_protocol


def others_slow(cases: Sequence[tuple[Any, ...]], is_light: Callable[..., bool]) -> list[Any]:
    """All of them as parameters, marked `slow` but for the light ones."""
    return [pytest.param(*case, marks=[] if is_light(*case) else [pytest.mark.slow]) for case in cases]


def is_default_responder(protocol: str, responder: str) -> bool:
    """Whether that protocol is answered by it where nothing is said."""
    return find_protocol(protocol).responder().name == responder


def is_default_client(protocol: str, client: str) -> bool:
    """Whether that protocol is asked by it where nothing is said, with one request in flight or with several."""
    of = find_protocol(protocol)
    return client in (of.sequential, of.concurrent)
