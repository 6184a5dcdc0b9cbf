"""Experiment files: the shipped ones, what is understood of guesses, and documents of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reference import examples_page
from orchestrator.errors import MissingError
from orchestrator.experiment.examples import FOLDER, examples
from orchestrator.experiment.plan.own import json_documents
from orchestrator.experiment.plan.payloads import materialise
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.store import is_stale
from orchestrator.hosts.probes import survey
from orchestrator.shapes import decode


def test_every_shipped_experiment_is_a_row_and_the_list_in_the_repository_is_current() -> None:
    rows = examples()
    assert {row.name for row in rows} == {path.stem for path in FOLDER.glob("*.yaml")}
    assert (FOLDER / "README.md").read_text() == examples_page(rows), "make it again: make schema"


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
        cell.id: json_documents.plan_way(plan, cell.stack, cell.operation, cell.factors["document"])
        for cell in plan.cells
    }


def test_typed_is_the_default_where_there_are_protocol_buffers(tmp_path: Path) -> None:
    plan = planned(tmp_path, HEAD + STACKS)
    assert list(ways(plan).values()) == [None, "typed", "typed"]
    assert [cell.id for cell in plan.cells][1] == "grpc-grpcio-grpcio__echo-rows__local__reuse__c1"
    assert plan.operations[0].shape
    assert decode(Plan, plan.to_dict()) == plan


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
    assert json_documents.write_schemas(plan, [path]).keys() == {file.operation}
    assert is_stale(plan) is None
    (tmp_path / "small.json").write_text('{"id": 2}')
    assert is_stale(plan) == "small.json or rows.json has changed since the plan was made"


def test_a_document_without_a_shape_is_a_value_with_its_reason(tmp_path: Path) -> None:
    plan = planned(tmp_path, HEAD + STACKS, 7)
    assert list(ways(plan).values()) == [None, "value", "value"]
    assert json_documents.write_schemas(plan, materialise(plan, tmp_path / "payloads")) == {}


@pytest.mark.slow
def test_without_a_compiler_plan_run_and_doctor_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(tmp_path, HEAD + STACKS)
    files = materialise(plan, tmp_path / "payloads")
    monkeypatch.setattr(json_documents, "find_spec", lambda _name: None)
    for needs_it in (lambda: planned(tmp_path, HEAD + STACKS), lambda: json_documents.write_schemas(plan, files)):
        with pytest.raises(MissingError) as missing:
            needs_it()
        assert "grpcio-tools; or write `document: value`" in (missing.value.hint or "")
    [protoc] = [finding for finding in survey() if finding.name == "protoc"]
    assert (protoc.is_there, "grpcio-tools" in protoc.hint) == (False, True)
    only_value = planned(tmp_path, HEAD + "stacks: [grpc]\ndocument: value\n")
    assert list(ways(only_value).values()) == ["value"]
