"""Programs of both ends: whose they are, and what is said where one is not built."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from orchestrator.catalogue import building, builds, read
from orchestrator.cli.experiments.plan_text import plan_document, plan_lines
from orchestrator.errors import UsageError
from orchestrator.experiment.plan import contrasts, topology
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.experiment.read.problems import ExperimentError
from tests.support.tiny_language import MAKE, MANIFEST, STACK, TOOL, of_another_machine, tiny, write_tiny

FILE = Path(__file__).parents[3] / "experiments" / "languages.yaml"


def test_every_language_asks_and_answers_every_other() -> None:
    plan = make_plan(FILE, needs_programs=False)
    ends = contrasts.languages_of_stacks({"resolved": plan.resolved})
    assert ends.keys() == {stack.id for stack in plan.stacks}
    spoken = ("Python", "Go", "Rust", "Node.js")
    for protocol in ("rest", "grpc", "tcp"):
        of = {ends[stack.id] for stack in plan.stacks if stack.protocol == protocol}
        assert of == set(product(spoken, spoken))
    assert ends["rest-hyper-undici"] == ("Rust", "Node.js")


def test_a_row_of_cells_with_every_stack_of_many_says_so_in_place_of_their_names() -> None:
    plan = make_plan(FILE, needs_programs=False)
    document = plan_document(plan, FILE) | {"terraform": None, "machine_now": None}
    rows = [line for line in plan_lines(plan, document) if line.startswith("echo 10 records ")]
    assert len(rows) == 2
    assert all(row.endswith("  all 48") for row in rows)


TEXT = f"name: x\nquestion: Which?\nstacks:\n  - tcp\n  - {STACK}\noperations: add\nrepeats: 2\n"


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "services"
    write_tiny(folder)
    monkeypatch.setattr(read, "SERVICES", folder)
    return folder


def planned(folder: Path, text: str = TEXT, *, needs_programs: bool = True) -> Plan:
    path = folder / "x.yaml"
    path.write_text(text)
    return make_plan(path, needs_programs=needs_programs)


def build(services: Path) -> None:
    assert building.build(tiny(services), services, say=lambda said: None).kind in ("built", "up to date")


def refused(folder: Path, text: str = TEXT) -> ExperimentError:
    with pytest.raises(ExperimentError) as error:
        planned(folder, text)
    return error.value


def test_what_is_built_is_planned_and_what_was_built_is_known(services: Path, tmp_path: Path) -> None:
    build(services)
    plan = planned(tmp_path)
    assert [stack.id for stack in plan.stacks] == ["tcp-threads-socket", "tcp-reference-reference"]
    (found,) = topology.require_programs(plan).values()
    assert found == builds.look(tiny(services), services, topology.platform_of("local")).built
    assert plan.resolved["tcp-reference-reference"]["parts"]["language"] == "Tiny"
    assert plan.resolved["tcp-reference-reference"]["versions"] == {}


def test_versions_of_packages_are_told_from_what_was_built_and_not_looked_up_as_pythons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`fastify` and `pytest` are of the build: that a package of Python has the second's name says nothing of it."""
    (protocol,) = MANIFEST["protocols"]
    ends = [{**protocol["responders"][0], "packages": ["fastify", "pytest"]}]
    folder = tmp_path / "services"
    tell = f"""{MAKE}echo '{{"fastify": "5.1.2", "pytest": "0.0.1", "more": "3"}}' > build/packages.json\n"""
    write_tiny(folder, make=tell, protocols=[{**protocol, "responders": ends}])
    monkeypatch.setattr(read, "SERVICES", folder)
    build(folder)
    plan = planned(tmp_path)
    (told,) = topology.programs_in_words(plan)
    assert told.startswith("Tiny: built with sh 7.1, of source ")
    assert told.endswith("; in them fastify 5.1.2, pytest 0.0.1")
    assert plan.resolved["tcp-reference-reference"]["versions"] == {}
    assert plan_document(plan, tmp_path / "x.yaml")["warnings"] == []


def test_what_is_not_built_is_refused_at_its_place_with_the_command(services: Path, tmp_path: Path) -> None:
    error = refused(tmp_path)
    assert error.exit_code == 2
    (first,) = error.problems
    assert (first.mark.line, first.mark.column) == (5, 32), error.message
    assert first.message == (
        "the programs of Tiny cannot be used: they are not built; run `orch setup build tiny`, or `make native`."
    )


def _stale(folder: Path) -> None:
    (folder / "source" / "respond").write_text("another")


def _cut(folder: Path) -> None:
    (folder / "build" / "request").write_bytes(b"#!/bin/sh\n")


def _of_contract_1(folder: Path) -> None:
    path = folder / "build" / "built.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "contract": 1}))


def _foreign(folder: Path) -> None:
    path, program = folder / "build" / "built.json", folder / "build" / "respond"
    program.write_bytes(of_another_machine())
    raw = json.loads(path.read_text())
    raw["artifacts"]["build/respond"] = dict(vars(builds.artifact(program)))
    path.write_text(json.dumps(raw))


@pytest.mark.parametrize(
    ("break_it", "why"),
    [
        (_stale, "their source has changed since they were built"),
        (_cut, "build/request is not what was built: "),
        (_of_contract_1, "they were built for contract 1; this orch speaks contract 2"),
        (_foreign, "build/respond is a program for linux-"),
    ],
)
def test_what_is_not_what_was_built_is_refused_before_anything_starts(
    services: Path, tmp_path: Path, break_it: Callable[[Path], None], why: str
) -> None:
    build(services)
    plan = planned(tmp_path)
    break_it(services / "tiny")
    assert why in refused(tmp_path).problems[0].message
    with pytest.raises(UsageError, match="the programs of Tiny cannot be used: ") as error:
        topology.require_programs(plan)  # as `orch run` does with a plan that was made before
    assert why in error.value.message
    assert "`orch setup build tiny`, or `make native`" in error.value.message


def test_what_was_built_for_this_machine_is_refused_for_hosts_of_another(
    services: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(services)
    plan = planned(tmp_path)
    _foreign(services / "tiny")
    artifact = builds.artifact(services / "tiny" / "build" / "respond")
    monkeypatch.setitem(PROVIDERS, "local", replace(PROVIDERS["local"], platform=artifact.platform))
    assert topology.require_programs(plan)["tiny"].artifacts["build/respond"] == artifact
    monkeypatch.setitem(PROVIDERS, "local", replace(PROVIDERS["local"], platform="linux-riscv64"))
    with pytest.raises(UsageError, match="not for linux-riscv64; build them on linux-riscv64"):
        topology.require_programs(plan)


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        (
            {"program": "tiny-vm", "version": ["tiny-vm", "-v"]},
            "there is no tiny-vm on the PATH (it is in every image)",
        ),
        ({"at_least": "8"}, "sh is 7.1, older than 8 (it is in every image)"),
    ],
)
def test_what_programs_need_to_run_is_looked_for_where_this_machine_is_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: dict[str, str], why: str
) -> None:
    services = tmp_path / "services"
    write_tiny(services, needs=[{**TOOL, **tool}])
    monkeypatch.setattr(read, "SERVICES", services)
    build(services)
    message = refused(tmp_path).problems[0].message
    assert message == f"the programs of Tiny cannot be started here: {why}."
