"""The sentence that says what differs between the stacks of a run, and who may be called the protocol."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.findings.summary import Comparison
from orchestrator.summarise import summarise
from orchestrator.wording.notes import clauses, differences
from tests.support.runs import a_plan, a_run

OF = Comparison(
    cell="c",
    reference_cell="r",
    group="g",
    stack="cbor",
    stack_label="cbor",
    reference_label="json",
    statistic="median",
    ratio=0.9,
    interval=(0.8, 0.95),
    p_value=0.01,
    by_block=(0.9, 0.9, 0.9),
    standing="faster",
)


def of(label, *parts, **more):
    return replace(OF, stack=label, stack_label=label, differs_in=parts, **more)


def test_the_protocol_is_what_differs_only_where_nothing_else_does():
    said = differences([of("cbor", "codec"), of("avro", "codec"), of("grpc-like", "codec", "transport")])
    assert said == (
        "What differs is the protocol, and nothing else: cbor and avro differ from json in the codec; "
        "grpc-like differs in the codec and the transport."
    )


@pytest.mark.parametrize("other", ["framework", "validation", "client", "connection", "language", "reading"])
def test_anything_else_that_differs_is_said_in_plain_words(other):
    said = differences([of("cbor", "codec"), of("avro", "codec", other)])
    assert said.startswith(
        "More than the protocol differs here, and a difference is the protocol's alone only where stated: cbor"
    )
    assert "the protocol, and nothing else" not in said
    assert "The protocol is the same" in differences([of("flask", other)])


def test_what_differs_in_some_settings_alone_is_said_so():
    both = [of("flask", "framework"), of("flask", "framework", "connection", group="h")]
    assert clauses(both) == "flask differs from json in the framework, and in the connection policy in some settings"
    apart = [of("flask", "client"), of("flask", "connection", group="h")]
    assert clauses(apart) == "flask differs from json in the client and the connection policy in some settings"


def test_what_is_not_known_may_differ():
    unknown = ("framework", "reading")
    given = of("json (external)", may_differ_in=unknown)
    other = of("cbor (external)", "codec", may_differ_in=unknown)
    assert differences([given]) == (
        "The protocol is the same: json (external) may differ from json in the framework and which fields are read, of"
        " which nothing is known."
    )
    said = differences([other])
    assert said.startswith("More than the protocol may differ here")
    assert "cbor (external) differs from json in the codec, and may differ in the framework and which" in said


def test_a_control_and_a_plan_without_parts_have_nothing_that_differs():
    assert differences([of("json again", control=True), of("cbor")]) == ""


def with_parts(**parts):
    plan = a_plan(stacks=("rest", "grpc"), controls=1)
    every = {stack.id: {"parts": {"codec": "JSON", "framework": "none", "client": "thin"}} for stack in plan.stacks}
    every["grpc-thin"] = {"parts": every["grpc-thin"]["parts"] | parts}
    return summarise(a_run(replace(plan, resolved=every)))


def test_every_comparison_of_a_run_lists_what_differs():
    summary = with_parts(codec="Protocol Buffers", framework="grpcio")
    found = {(c.stack, c.statistic): c.differs_in for c in summary.comparisons if not c.control}
    assert set(found.values()) == {("codec", "framework")}
    assert {statistic for _, statistic in found} == {"median", "p99", "throughput"}
    assert {c.differs_in for c in summary.comparisons if c.control} == {()}
    listed = [c["differs_in"] for c in summary.to_dict()["comparisons"] if not c["control"]]
    assert listed == [("codec", "framework")] * 3
