"""What stands on stdin and is no line of the contract: each with a word that the refusal must name."""

from __future__ import annotations

import json
from typing import Any

import pytest

OTHER_VERSION = 99

CASES = [
    pytest.param("nothing", "", id="an-empty-line"),
    pytest.param("words", "", id="no-JSON"),
    pytest.param("list", "", id="no-object"),
    pytest.param("empty", "", id="an-empty-object"),
    pytest.param("unknown", "colour", id="an-unknown-key"),
    pytest.param("missing", "protocol", id="a-key-is-missing"),
    pytest.param("typed", "protocol", id="a-value-of-another-type"),
    pytest.param("point", "{number}", id="a-whole-number-with-a-point"),
    pytest.param("true", "{number}", id="true-for-a-number"),
    pytest.param("text", "{number}", id="a-text-for-a-number"),
    pytest.param("infinite", "", id="a-number-that-is-not-finite"),
    pytest.param("twice", "protocol", id="a-key-stands-there-twice"),
    pytest.param("other", "type", id="a-line-of-another-type"),
    pytest.param("marked", "", id="a-byte-order-mark"),
    pytest.param("half", "", id="half-of-a-surrogate-pair"),
    pytest.param("long", "1 MiB", id="a-line-of-2-MiB"),
]


def spoilt(case: str, line: dict[str, Any], number: str) -> str:
    """A line, right but for one thing. `number`: a key of it that is a whole number."""
    whole = json.dumps(line)
    return {
        "nothing": "",
        "words": "serve tcp, please",
        "list": f"[{whole}]",
        "empty": "{}",
        "unknown": json.dumps({**line, "colour": "red"}),
        "missing": json.dumps({key: value for key, value in line.items() if key != "protocol"}),
        "typed": json.dumps({**line, "protocol": 7}),
        "point": json.dumps({**line, number: 1.0}),
        "true": json.dumps({**line, number: True}),
        "text": json.dumps({**line, number: "1"}),
        "infinite": json.dumps({**line, number: float("inf")}),
        "twice": whole[:-1] + f', "protocol": {json.dumps(line["protocol"])}}}',
        "marked": f"\ufeff{whole}",
        "half": json.dumps({**line, "protocol": "\ud800"}),
        "long": whole[:-1] + " " * 2**21 + "}",
        "other": json.dumps({**line, "type": "stats"}),
    }[case]
