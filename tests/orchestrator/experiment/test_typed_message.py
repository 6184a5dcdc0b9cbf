"""The message of a JSON document: its text, what of it is typed, and that no document makes it grow without bounds."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.experiment.plan.own.json_documents import descriptor_set
from orchestrator.experiment.read.message_shape import LONGEST_KEY, MOST_FIELDS, MOST_KEYS, Place, typed_message

ORDERS = {
    "orders": [
        {"id": 1, "customer": {"name": "Ada", "vip": True}, "total": 10, "note": None, "lines": [["a", 1]]},
        {"id": 2, "customer": {"name": "Bob"}, "total": 9.5, "note": "soon", "lines": []},
    ],
    "page": {"next": None},
}


def test_a_document_gives_a_message_that_a_person_could_have_written() -> None:
    proto = typed_message([ORDERS], "orders.json")
    assert proto.partition("\nmessage ")[2] == (
        "Object1 {\n"
        '  string name = 1 [json_name = "name"];\n'
        '  optional bool vip = 2 [json_name = "vip"];\n'
        "}\n\n"
        "message List2 {\n"
        "  repeated google.protobuf.Value items = 1;\n"
        "}\n\n"
        "message Object3 {\n"
        '  int64 id = 1 [json_name = "id"];\n'
        '  Object1 customer = 2 [json_name = "customer"];\n'
        '  double total = 3 [json_name = "total"];\n'
        '  optional string note_or_null = 4 [json_name = "note"];\n'
        '  repeated List2 lines = 5 [json_name = "lines"];\n'
        "}\n\n"
        "message Object4 {\n"
        '  google.protobuf.NullValue next = 1 [json_name = "next"];\n'
        "}\n\n"
        "message Object5 {\n"
        '  repeated Object3 orders = 1 [json_name = "orders"];\n'
        '  Object4 page = 2 [json_name = "page"];\n'
        "}\n"
    )
    assert "rpc Echo(Object5) returns (Object5);" in proto


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 2**63 - 1], "int64"),
        ([0, 2**64 - 1], "uint64"),
        ([-1, 2**63 - 1], "sint64"),
        ([1, 1.5], "double"),
        ([-1, 2**63], "double"),
        ([True, 1], "value"),
        ([True, None], "bool"),
        ([None], "null"),
        ([], "value"),
        (["a", {}], "value"),
        ([[], [1]], "list"),
        ([{}, {"a": 1}], "object"),
        ([{"\0": 1}], "value"),
        ([{"[a]": 1}], "value"),
        ([{"x" * 100_000: 1}], "value"),
    ],
)
def test_what_stands_at_one_place_has_one_type(values: list[Any], kind: str) -> None:
    place = Place()
    for value in values:
        place.see(value)
    assert place.kind == kind


def test_an_object_whose_keys_are_data_is_a_value() -> None:
    few = {f"k{n}": n for n in range(MOST_KEYS)}
    assert "google.protobuf.Value" not in typed_message([[few]], "x.json")
    assert "repeated google.protobuf.Value items" in typed_message([[few | {"one more": 1}]], "x.json")


def test_a_document_of_too_many_fields_stays_a_value() -> None:
    document = {f"part{n}": {f"{n}-{m}": m for m in range(200)} for n in range(MOST_FIELDS // 200)}
    assert typed_message([document], "x.json") == ""


def test_keys_of_all_kinds_have_names_of_their_own() -> None:
    keys = [
        "",
        "x" * LONGEST_KEY,
        'quote"\\',
        "line\nend",
        *["a-b", "a_b", "A_B", "aB", "ab", "__proto__", "message", "日本", "é", "1"],
    ]
    keys += ["a_or_null", "or_null", "a_b_2", "None", "class", "field", "field_1", "descriptor", "optional"]
    proto = typed_message([{key: None if key == "a_b" else 1 for key in keys}], "x.json")
    assert proto.count("json_name") == len(keys)
    assert descriptor_set(proto)
