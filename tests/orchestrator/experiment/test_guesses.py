"""Experiment files: the shipped ones, what is understood of guesses, and documents of one's own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from orchestrator.cli.experiments.plan_text import plan_document, plan_lines
from orchestrator.errors import MissingError, UsageError
from orchestrator.experiment.examples import FOLDER, examples, markdown
from orchestrator.experiment.model.json_schema import json_schema
from orchestrator.experiment.plan.own import own_json
from orchestrator.experiment.plan.payloads import materialise
from orchestrator.experiment.plan.plan import Plan, read_plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.experiment.store import is_stale
from orchestrator.hosts.probes import survey
from tests.support.experiments import MINIMAL, Write


@pytest.mark.parametrize(
    ("factor", "written", "values"),
    [
        ("http", "[1.1, 2]", {"1.1", "2"}),
        ("http", "[1, 2]", {"1.1", "2"}),
        ("tls", "true", {"tls1.3"}),
        ("tls", "[false, true]", {"none", "tls1.3"}),
        ("connection", "[keep-alive, new]", {"reuse", "per-request"}),
    ],
)
def test_guesses_are_understood(write: Write, factor: str, written: str, values: set[str]) -> None:
    stack = f"{{protocol: http+json, responder: asgi-granian, client: pycurl-multi, {factor}: {written}}}"
    text = f"name: x\nquestion: Which?\nstacks: {stack}\noperations: add\nrepeats: 1\n"
    assert {cell.factors[factor] for cell in make_plan(write(text)).cells} == values
    jsonschema.validate(yaml.safe_load(text), json_schema())


@pytest.mark.parametrize(("written", "rtts"), [("80ms", {80.0}), ("[1ms, 80ms]", {1.0, 80.0})])
def test_a_distance_may_be_its_round_trip_alone(write: Write, written: str, rtts: set[float]) -> None:
    text = f"{MINIMAL}provider: lab\nmachine: lab\ndistance: {written}\n"
    assert {place.link.rtt_ms for place in make_plan(write(text)).placements} == rtts
    jsonschema.validate(yaml.safe_load(text), json_schema())


def test_every_shipped_experiment_is_a_row_and_the_list_in_the_repository_is_current() -> None:
    rows = examples()
    assert {row.name for row in rows} == {path.stem for path in FOLDER.glob("*.yaml")}
    assert (FOLDER / "README.md").read_text() == markdown(rows), "make it again: make schema"


ROWS = [{"id": n, "name": f"row {n}"} for n in range(20)]
HEAD = "name: own\nquestion: How?\noperations: [{echo: {json: rows.json}}]\n"
STACKS = "stacks: [rest, grpc, http+protobuf]\n"
BOTH = "stacks: [rest, {protocol: grpc, document: [typed, value]}]\ncompare_by: [stack, document]\n"


def planned(folder: Path, text: str, document: Any = ROWS) -> Plan:
    (folder / "rows.json").write_text(json.dumps(document))
    (folder / "x.yaml").write_text(text)
    return make_plan(folder / "x.yaml")


def ways(plan: Plan) -> dict[str, str | None]:
    return {
        cell.id: own_json.plan_way(plan, cell.stack, cell.operation, cell.factors["document"]) for cell in plan.cells
    }


def test_typed_is_the_default_where_there_are_protocol_buffers(tmp_path: Path) -> None:
    plan = planned(tmp_path, HEAD + STACKS)
    assert list(ways(plan).values()) == [None, "typed", "typed"]
    assert [cell.id for cell in plan.cells][1] == "grpc-grpcio-grpcio__echo-rows__local__reuse__c1"
    shape = plan.operations[0].shape
    assert shape is not None
    assert (shape.values, shape.typed) == (61, 61)
    assert read_plan(json.loads(json.dumps(plan.to_dict()))) == plan == read_plan(plan.to_dict())


def test_plan_and_document_say_which_it_was(tmp_path: Path) -> None:
    plan = planned(tmp_path, HEAD + BOTH)
    said = own_json.sentence(plan.to_dict())
    assert said == (
        "Its own JSON: rows.json travels as a typed message over grpc (all of its 61 values)"
        " and as google.protobuf.Value over grpc."
    )
    document = plan_document(plan, tmp_path / "plan.json") | {"terraform": None}
    assert document["documents"] == said
    assert said in list(plan_lines(plan, document))


def test_an_exchange_has_one_message_for_both_of_its_documents(tmp_path: Path) -> None:
    (tmp_path / "small.json").write_text('{"id": 1}')
    text = HEAD.replace("echo: {json: rows.json}", "exchange: {request: small.json, reply: rows.json}")
    plan = planned(tmp_path, text + STACKS, {"rows": ROWS})
    (operation,), (file,) = plan.operations, plan.payload_files
    assert operation.label == "exchange small.json, reply rows.json"
    assert (operation.request_bytes, operation.reply_bytes) == (9, len(json.dumps({"rows": ROWS})))
    assert list(ways(plan).values()) == [None, "typed", "typed"]
    (path,) = materialise(plan, tmp_path / "payloads")
    assert json.loads(path.read_bytes()) == {"request": {"id": 1}, "reply": {"rows": ROWS}}
    assert own_json.write_schemas(plan, [path]).keys() == {file.operation}
    assert is_stale(plan) is None
    (tmp_path / "small.json").write_text('{"id": 2}')
    assert is_stale(plan) == "small.json or rows.json has changed since the plan was made"


def test_programs_of_other_languages_carry_no_exchange(tmp_path: Path) -> None:
    (tmp_path / "small.json").write_text('{"id": 1}')
    text = HEAD.replace("echo: {json: rows.json}", "exchange: {request: small.json, reply: rows.json}")
    with pytest.raises(ExperimentError, match="Go does not carry it"):
        planned(tmp_path, f"{text}stacks: [rest, {{protocol: rest, responder: go-net-http}}]\n")


def test_a_document_without_a_shape_is_a_value_with_its_reason(tmp_path: Path) -> None:
    plan = planned(tmp_path, HEAD + STACKS, 7)
    assert list(ways(plan).values()) == [None, "value", "value"]
    assert own_json.write_schemas(plan, materialise(plan, tmp_path / "payloads")) == {}
    said = own_json.sentence(plan.to_dict())
    assert "as google.protobuf.Value over grpc, http+protobuf (it is no list, and no object of few keys)" in said


def test_the_message_of_another_version_of_orch_is_not_measured(tmp_path: Path) -> None:
    plan = planned(tmp_path, HEAD + STACKS)
    operation = plan.operations[0]
    assert operation.shape is not None
    other = replace(operation, shape=replace(operation.shape, proto_sha256="0" * 64))
    files = materialise(plan, tmp_path / "payloads")
    with pytest.raises(UsageError, match="is not what it was when the plan was made"):
        own_json.write_schemas(replace(plan, operations=(other,)), files)


@pytest.mark.slow
def test_without_a_compiler_plan_run_and_doctor_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(tmp_path, HEAD + STACKS)
    files = materialise(plan, tmp_path / "payloads")
    monkeypatch.setattr(own_json, "find_spec", lambda _name: None)
    with pytest.raises(ExperimentError, match="grpcio-tools; or write `document: value`") as refused:
        planned(tmp_path, HEAD + STACKS)
    assert refused.value.problems[0].mark.line == 3
    with pytest.raises(MissingError) as missing:
        own_json.write_schemas(plan, files)
    assert "grpcio-tools" in (missing.value.hint or "")
    [protoc] = [finding for finding in survey(tmp_path) if finding.name == "protoc"]
    assert (protoc.is_there, "grpcio-tools" in protoc.hint) == (False, True)
    only_value = planned(tmp_path, HEAD + "stacks: [grpc]\ndocument: value\n")
    assert list(ways(only_value).values()) == ["value"]
