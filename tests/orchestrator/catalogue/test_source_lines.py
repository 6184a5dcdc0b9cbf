"""What a language counted of its source is read strictly, and told apart by who else has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.catalogue.offers import Client, Language, Parts, Protocol, Responder
from orchestrator.catalogue.source_lines import counted
from orchestrator.errors import UsageError

ALPHA = Language(name="alpha", title="Alpha", precedence=0)
ANSWERS = Responder(name="a", language=ALPHA, parts=Parts(codec="c", transport="t", server="s"))
ASKS = Client(name="b", language=ALPHA, style="sync")
LINES: dict[str, Any] = {
    "lines": 1,
    "language": "alpha",
    "files": {"one": 10, "two": 20, "made": 300, "other": 4},
    "generated": ["made"],
    "protocols": {
        "talk": {"responders": {"a": ["one", "two", "made"]}, "clients": {"b": ["two"]}},
        "else": {"responders": {"a": ["two", "other"]}, "clients": {}},
    },
}


def protocol(name: str = "talk") -> Protocol:
    return Protocol(
        name=name,
        title=name,
        summary=name,
        operations=frozenset(),
        responders=(ANSWERS,),
        clients=(ASKS,),
        sequential="b",
        concurrent="b",
    )


def written(folder: Path, document: Any) -> Path:
    (folder / "alpha").mkdir()
    (folder / "alpha" / "lines.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def test_own_files_are_those_that_no_other_protocol_has(tmp_path: Path) -> None:
    folder = written(tmp_path, LINES)
    found = counted(folder, protocol(), ANSWERS, asks=False)
    assert found is not None
    assert (found.own, found.shared, found.generated) == (10, 20, 300)
    assert found.files == (("one", 10), ("two", 20), ("made", 300))
    assert found.made == {"made"}
    asks = counted(folder, protocol(), ASKS, asks=True)
    assert asks is not None
    assert (asks.own, asks.shared, asks.generated) == (0, 20, 0)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"lines": 2}, "lines"),
        ({"colour": "red"}, "colour is not a key"),
        ({"files": {"one": -1}}, "files"),
    ],
)
def test_a_file_that_is_none_is_refused_by_name(tmp_path: Path, change: dict[str, Any], complaint: str) -> None:
    folder = written(tmp_path, {**LINES, **change})
    with pytest.raises(UsageError, match=complaint) as refused:
        counted(folder, protocol(), ANSWERS, asks=False)
    assert refused.value.message.startswith("alpha/lines.json cannot be used: ")
