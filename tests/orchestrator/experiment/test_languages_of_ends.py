"""Programs of both ends: whose they are, and what is said where one is not built."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from orchestrator.catalogue import building, builds, read
from orchestrator.errors import UsageError
from orchestrator.experiment.plan import parts, stacks, topology
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.providers import PROVIDERS
from tests.support.tiny_language import STACK, TOOL, of_another_machine, tiny, write_tiny

FILE = Path(__file__).parents[3] / "experiments" / "languages.yaml"


def test_every_language_asks_and_answers_every_other() -> None:
    plan = make_plan(FILE)
    ends = parts.languages_of_stacks(plan)
    assert ends.keys() == {stack.id for stack in plan.stacks}
    spoken = ("Python", "Go", "Rust", "Node.js")
    for protocol in ("rest", "grpc", "tcp"):
        of = {ends[stack.id] for stack in plan.stacks if stack.protocol == protocol}
        assert of == set(product(spoken, spoken))
    assert ends["rest-hyper-undici"] == ("Rust", "Node.js")


TEXT = f"name: x\nquestion: Which?\nstacks:\n  - tcp\n  - {STACK}\noperations: add\nrepeats: 2\n"


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "services"
    write_tiny(folder)
    monkeypatch.setattr(read, "SERVICES", folder)
    return folder


def planned(folder: Path) -> Plan:
    path = folder / "x.yaml"
    path.write_text(TEXT)
    return make_plan(path)


def build(services: Path) -> None:
    assert building.build(tiny(services), services, say=lambda said: None).kind in ("built", "up to date")


def refused(plan: Plan) -> str:
    with pytest.raises(UsageError) as error:
        topology.require_programs(plan)
    assert topology.missing_programs(plan) == [error.value.message]
    return error.value.message


def test_what_is_built_is_planned_and_what_was_built_is_known(services: Path, tmp_path: Path) -> None:
    build(services)
    plan = planned(tmp_path)
    assert [stack.id for stack in plan.stacks] == ["tcp-threads-socket", "tcp-reference-reference"]
    (found,) = topology.require_programs(plan).values()
    assert found == builds.look(tiny(services), services, topology.platform_of("local")).built
    assert plan.resolved["tcp-reference-reference"]["parts"]["language"] == "Tiny"
    assert plan.resolved["tcp-reference-reference"]["versions"] == {}


def test_what_is_not_built_is_refused_with_the_command(services: Path, tmp_path: Path) -> None:
    assert refused(planned(tmp_path)) == (
        "the programs of Tiny cannot be used: they are not built; run `orch setup build tiny`, or `make native`"
    )


def _foreign(folder: Path) -> None:
    path, program = folder / "build" / "built.json", folder / "build" / "respond"
    program.write_bytes(of_another_machine())
    raw = json.loads(path.read_text())
    raw["artifacts"]["build/respond"] = dict(vars(builds.artifact(program)))
    path.write_text(json.dumps(raw))


def test_what_is_not_what_was_built_is_refused_before_anything_starts(services: Path, tmp_path: Path) -> None:
    build(services)
    plan = planned(tmp_path)
    (services / "tiny" / "source" / "respond").write_text("another")
    message = refused(plan)
    assert "their source has changed since they were built" in message
    assert "`orch setup build tiny`, or `make native`" in message


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
    assert "not for linux-riscv64; build them on linux-riscv64" in refused(plan)


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ({"program": "tiny-vm", "version": ["tiny-vm", "-v"]}, "there is no tiny-vm on the PATH"),
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
    assert refused(planned(tmp_path)).startswith(f"the programs of Tiny cannot be started here: {why}")


@pytest.mark.parametrize(
    ("built", "client"), [(("Go", "Rust"), "rust-raw"), (("Go",), "go-net-http"), ((), "rust-raw")]
)
def test_native_is_the_first_compiled_client_that_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: tuple[str, ...], client: str
) -> None:
    monkeypatch.setattr(stacks, "usable", lambda language, *_: ("" if language.title in built else "not built", None))
    (tmp_path / "x.yaml").write_text(
        "name: x\nquestion: Y?\nstacks: {protocol: rest, client: native}\noperations: add\n"
    )
    assert [stack.client for stack in make_plan(tmp_path / "x.yaml").stacks] == [client]
