"""`client: native`: which client it is, in which order, and the refusal where none will do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.catalogue import read
from orchestrator.catalogue.offers import Client, Protocol
from orchestrator.catalogue.read import protocols
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError
from tests.support.experiments import Write, problems
from tests.support.tiny_language import MANIFEST, tiny, write_tiny

TEXT = """\
name: example
question: Which is quicker?
stacks:
  - {protocol: rest, client: [native, slow]}
operations: timestamp
"""


def compiled(like: Client, name: str, native: int | None, **changes: Any) -> Client:
    return replace(like, name=name, native=native, **changes)


@pytest.fixture
def known() -> dict[str, Protocol]:
    """REST with three compiled clients, of which the one that stands first comes last, and one that is none."""
    rest = protocols()["rest"]
    like = rest.client("pycurl")
    lacking = {key: values for key, values in like.knobs.items() if key != "compression"}
    clients = (
        compiled(like, "third", 30),
        compiled(like, "first", 10, knobs=lacking, refuses={"image": "it has no pictures"}),
        compiled(like, "second", 20, refuses={"tls: tls1.3": "it has no TLS"}),
        compiled(like, "slow", None),
    )
    asked = replace(rest, clients=clients, sequential="slow", concurrent="slow")
    return {"rest": asked, "grpc": protocols()["grpc"], "tcp": protocols()["tcp"]}


def clients(plan: Any) -> list[str]:
    return list(dict.fromkeys(cell.factors["client"] for cell in plan.cells))


def test_the_first_of_them_asks_and_every_name_is_its_own(write: Write, known: dict[str, Protocol]) -> None:
    plan = make_plan(write(TEXT), known=known)
    assert clients(plan) == ["first", "slow"]
    assert plan.cells[0].id.startswith("rest-asgi-first__timestamp__")
    assert [stack.label for stack in plan.stacks] == ["rest (first)", "rest (slow)"]
    assert plan.reference == "rest-asgi-first"
    assert plan.resolved["rest-asgi-first"]["client_reason"] == "`native` in the experiment"
    assert plan.resolved["rest-asgi-slow"]["client_reason"] == "named in the experiment"


@pytest.mark.parametrize(
    ("override", "client", "why"),
    [
        ("compression=gzip", "second", "rest with its client first cannot do compression: gzip: it has no such knob"),
        ("operations=[timestamp, image]", "second", "rest's client first cannot do 'image': it has no pictures"),
    ],
)
def test_what_one_cannot_do_is_asked_of_the_next_for_the_whole_stack(
    write: Write, known: dict[str, Protocol], override: str, client: str, why: str
) -> None:
    plan = make_plan(write(TEXT.replace("[native, slow]", "native")), [override], known)
    assert clients(plan) == [client]  # of a list of operations, too: no stack changes its client half-way
    assert plan.resolved[f"rest-asgi-{client}"]["client_reason"] == f"`native` in the experiment; not first ({why})"


def test_what_is_left_out_is_asked_of_nobody(write: Write, known: dict[str, Protocol]) -> None:
    text = TEXT.replace("timestamp", "[timestamp, image]") + "exclude: [{client: native, operation: image}]\n"
    plan = make_plan(write(text), known=known)
    assert [(cell.factors["client"], cell.operation) for cell in plan.cells][:2] == [
        ("first", "timestamp"),
        ("slow", "timestamp"),
    ]
    assert "rest-asgi-first" not in {cell.stack for cell in plan.cells if cell.operation != "timestamp"}


def test_where_none_can_each_says_why_at_its_place(write: Write, known: dict[str, Protocol]) -> None:
    lacking = {**known, "rest": replace(known["rest"], clients=known["rest"].clients[1:])}
    text = TEXT.replace("[native, slow]", "native") + "tls: tls1.3\ncompression: gzip\n"
    assert problems(write(text), lacking) == [
        "4:30: no compiled client of rest will do: first (rest with its client first cannot do"
        " compression: gzip: it has no such knob), second (rest's client second cannot do tls: tls1.3: it has no TLS)."
        " Name another client: `orch services`."
    ]


# ---- whether it is built


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The languages of this checkout, and a tiny one whose client is compiled, and comes before theirs."""
    folder = tmp_path / "services"
    (protocol,) = MANIFEST["protocols"]
    (client,) = protocol["clients"]
    write_tiny(folder, protocols=[{**protocol, "clients": [{**client, "native": 1}]}])
    monkeypatch.setattr(read, "SERVICES", folder)
    return folder


def of_tcp(folder: Path, *, needs_programs: bool = True) -> list[str]:
    path = folder / "x.yaml"
    path.write_text(
        "name: x\nquestion: Which?\nstacks: [{protocol: tcp, client: native}]\noperations: add\nrepeats: 2\n"
    )
    return clients(make_plan(path, needs_programs=needs_programs))


def others(services: Path) -> None:
    """Takes away the languages that are built or not as this checkout happens to be."""
    for language in read.read_catalogue(services).languages.values():
        if language.build and language.name != "tiny":
            (services / language.name).unlink()
    read.read_catalogue.cache_clear()


def test_where_none_is_built_the_command_is_told_at_its_place(services: Path, tmp_path: Path) -> None:
    others(services)
    with pytest.raises(ExperimentError, match="run `orch setup build tiny`, or `make native`") as error:
        of_tcp(tmp_path)
    (problem,) = error.value.problems
    assert (problem.mark.line, problem.mark.column) == (3, 34)
    assert of_tcp(tmp_path, needs_programs=False) == ["reference"]  # a file that is validated alone


def test_one_that_is_not_built_is_passed_over(
    write: Write, known: dict[str, Protocol], services: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *rest = known["rest"].natives
    unbuilt = replace(first, language=tiny(services))
    known["rest"] = replace(known["rest"], clients=(unbuilt, *rest, known["rest"].client("slow")))
    plan = make_plan(write(TEXT), known=known)
    assert clients(plan) == ["second", "slow"]
    reason = plan.resolved["rest-asgi-second"]["client_reason"]
    assert reason.startswith(
        "`native` in the experiment; not first (the programs of Tiny cannot be used: they are not built"
    )


def test_every_language_whose_programs_are_started_themselves_says_which_of_its_clients_are_native() -> None:
    """A new client of such a language that says nothing is left out of `native` by mistake."""
    found = read.catalogue()
    for protocol in found.protocols.values():
        for client in protocol.clients:
            language = client.language
            is_compiled = bool(language.build) and language.start["request"][0].startswith("{folder}/")
            assert (client.native is not None) == is_compiled, f"{protocol.name}: {client.name}"
