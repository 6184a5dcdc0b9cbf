"""What stands on stdin and is no line of the contract: each with a word that the refusal must name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

OTHER_VERSION = 99
# The word, and the text: of a line, the line as JSON, and a key of it that is a whole number.
SPOILT: dict[str, tuple[str, Callable[[dict[str, Any], str, str], str]]] = {
    "an-empty-line": ("", lambda line, whole, number: ""),
    "no-JSON": ("", lambda line, whole, number: "serve tcp, please"),
    "no-object": ("", lambda line, whole, number: f"[{whole}]"),
    "an-empty-object": ("", lambda line, whole, number: "{}"),
    "an-unknown-key": ("colour", lambda line, whole, number: json.dumps({**line, "colour": "red"})),
    "a-key-is-missing": (
        "protocol",
        lambda line, whole, number: json.dumps({key: value for key, value in line.items() if key != "protocol"}),
    ),
    "a-value-of-another-type": ("protocol", lambda line, whole, number: json.dumps({**line, "protocol": 7})),
    "a-whole-number-with-a-point": ("{number}", lambda line, whole, number: json.dumps({**line, number: 1.0})),
    "true-for-a-number": ("{number}", lambda line, whole, number: json.dumps({**line, number: True})),
    "a-text-for-a-number": ("{number}", lambda line, whole, number: json.dumps({**line, number: "1"})),
    "a-number-that-is-not-finite": ("", lambda line, whole, number: json.dumps({**line, number: float("inf")})),
    "a-key-stands-there-twice": (
        "protocol",
        lambda line, whole, number: whole[:-1] + f', "protocol": {json.dumps(line["protocol"])}}}',
    ),
    "a-line-of-another-type": ("type", lambda line, whole, number: json.dumps({**line, "type": "stats"})),
    "a-byte-order-mark": ("", lambda line, whole, number: f"\ufeff{whole}"),
    "half-of-a-surrogate-pair": ("", lambda line, whole, number: json.dumps({**line, "protocol": "\ud800"})),
    "a-line-of-2-MiB": ("1 MiB", lambda line, whole, number: whole[:-1] + " " * 2**21 + "}"),
}
CASES = [pytest.param(case, named, id=case) for case, (named, _) in SPOILT.items()]


def spoilt(case: str, line: dict[str, Any], number: str) -> str:
    """A line, right but for one thing."""
    return SPOILT[case][1](line, json.dumps(line), number)
