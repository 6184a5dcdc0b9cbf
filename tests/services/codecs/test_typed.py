"""Documents as messages of their own: every JSON value comes back equal, and every field is read once."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import grpc_tools
import pytest
from grpc_tools import protoc
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.experiment.read.message_shape import typed_message
from services.python.codecs.base import Coder
from services.python.codecs.protobuf import CODEC, method_named
from services.python.codecs.typed import method_of, typed_echo, with_schema
from services.python.load.client import CallFailed
from tests.support.documents import compiled

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"id": st.integers(-(2**63), 2**63 - 1), "n": st.none() | st.integers(0, 2**64 - 1)},
        optional={
            "x": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9),
            "tags": st.none() | st.lists(st.none() | st.text("ab", max_size=2), max_size=3),
            "in": st.lists(st.lists(st.booleans(), max_size=2), max_size=2),
            "m": st.dictionaries(st.sampled_from(["\0", "k"]), st.none() | st.fixed_dictionaries({"y": SCALARS})),
        },
    ),
    max_size=5,
)
QUICK = settings(deadline=None, max_examples=500, suppress_health_check=[HealthCheck.too_slow])


def schema_of(document: Any) -> bytes:
    """As `compiled`, without a process of its own: hundreds are made here."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("document.proto").write_text(typed_message([document], "x.json"), encoding="utf-8")
        own = f"-I{os.path.join(os.path.dirname(grpc_tools.__file__), '_proto')}"  # noqa: PTH118, PTH120
        assert not protoc.main(["protoc", "-I.", own, "--include_imports", "--descriptor_set_out=o", "document.proto"])
        return Path("o").read_bytes()


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is 1.0, but no `true`, and a zero keeps its sign where it is written with a point."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and one == 0:
        return repr(one) == repr(other)
    return (type(one) in (int, float) and type(other) in (int, float) and one == other) or (
        type(one) is type(other) and one == other
    )


def carried(document: Any) -> Any:
    """A document after it went to the responder and back."""
    echo = typed_echo(schema_of(document))
    arrived = echo.unpack_request(
        echo.request.FromString(echo.pack_request({"document": document}).SerializeToString())
    )
    return echo.unpack_reply(echo.request.FromString(echo.pack_reply(arrived).SerializeToString()))["document"]


@pytest.mark.slow
@QUICK
@given(ROWS)
def test_rows_with_missing_and_null_fields_survive(document: Any) -> None:
    assert same(document, carried(document))


@pytest.mark.parametrize(
    "document",
    [
        [{"_id": 1, "a": 2}, {"a": 3}],
        [{"_id": 1, "id": 2}, {"_id": 3}],
        [{"_a_b": 1}, {}],
        [{"id": None, "_id_or_null": 1}, {"id": 2}],
        [{"_id": 1, "id": 2, "_id_2": 3, "id_2": 4}, {}],
        [{"_": 1, "_field": 2, "field": 3, "_field_2": 4}, {}],
    ],
)
def test_a_key_may_be_an_underline_and_the_name_of_a_field(document: Any) -> None:
    assert carried(document) == document


def test_a_number_that_no_double_holds_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(CallFailed, match=r"beyond 2\^53") as failed:
        method_of("echo", {"document": {"n": 2**53 + 1}}, None)
    assert failed.value.status == "protocol"


def test_what_is_nested_deeper_than_parsers_go_is_refused_before_anything_is_sent() -> None:
    document: Any = {}
    for _ in range(200):
        document = {"in": document}
    for schema in (compiled(document), None):
        with pytest.raises(CallFailed, match="cannot carry this echo request"):
            method_of("echo", {"document": document}, schema)


def test_it_goes_twice_as_deep_as_a_value() -> None:
    document: Any = {}
    for _ in range(80):
        document = {"in": document}
    assert carried(document) == document
    with pytest.raises(CallFailed):
        method_of("echo", {"document": document}, None)


@pytest.mark.parametrize("schema", [b"", b"no descriptor set", compiled([1])[:-9]])
def test_a_file_that_is_no_schema_of_a_document_is_refused(schema: bytes) -> None:
    with pytest.raises(ValueError, match="schema: not the descriptor set of a document"):
        typed_echo(schema)
    with pytest.raises(CallFailed, match="schema"):
        method_of("echo", {"document": [1]}, schema)


DOCUMENT = {
    "rows": [
        {"id": 1, "name": "a", "tags": ["x"], "in": {"y": 1.5}},
        {"id": 2, "name": "b", "tags": [], "in": {"y": 2}},
    ],
    "grid": [[1, 2], [3]],
    "one": {"two": True},
}


def test_in_bodies_only_documents_change() -> None:
    typed = with_schema(compiled(DOCUMENT))

    def through(coder: Coder, fields: dict[str, Any]) -> tuple[dict[str, Any], int]:
        body = coder.write(fields)
        return coder.read(body), len(body)

    document, short = through(typed.request("echo/document"), {"document": DOCUMENT})
    _, long = through(CODEC.request("echo/document"), {"document": DOCUMENT})
    assert document == {"document": DOCUMENT}
    assert short < long
    assert typed.reply("add").write({"sum": 3}) == method_named("add").pack_reply({"sum": 3}).SerializeToString()
