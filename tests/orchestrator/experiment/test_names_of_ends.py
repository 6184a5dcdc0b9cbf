"""Names of responders and clients that a protocol does not have, and ends that cannot do what is asked: who can is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.model.factors import of_the_call
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError

QUESTION = "name: x\nquestion: Why?\n"


def planned(folder: Path, text: str, operation: str = "timestamp") -> Plan:
    path = folder / "x.yaml"
    path.write_text(f"{QUESTION}operations: {operation}\nstacks: {text}\n")
    return make_plan(path, needs_programs=False)


@pytest.mark.parametrize(
    ("stack", "said"),
    [
        ("{protocol: rest, responder: go}", "4:37: protocol rest has no responder 'go': in Go it has go-net-http."),
        ("{protocol: rest, client: Node.js}", "has no client 'Node.js': in Node.js it has node-http, undici."),
        ("{protocol: json, client: rust}", "protocol json has no client 'rust', and none in Rust. Known: aiohttp,"),
        ("{protocol: graphql, client: go-net-http}", "has no client 'go-net-http', which is of rest, sse. Known: "),
        ("{protocol: grpc, responder: hyper}", "has no responder 'hyper', which is of rest. Known: grpc-aio, grpc-go,"),
        ("{protocol: rest, client: hypper}", "has no client 'hypper'. Did you mean hyper?"),
    ],
)
def test_a_language_and_an_end_of_another_protocol_are_known_by_name(tmp_path: Path, stack: str, said: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        planned(tmp_path, stack)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "operation", "said"),
    [
        (
            "{protocol: rest, responder: go-net-http}\nhttp: 3\ntls: tls1.3",
            "add",
            "rest with its client pycurl cannot do http: 3: no end of it in Python speaks HTTP/3."
            " Give the stack `http: 1.1` or `client: go-net-http`, or leave this part out",
        ),
        (
            "rest\nhttp: 3\ntls: tls1.3",
            "add",
            "rest with its responder fastapi cannot do http: 3: no end of it in Python speaks HTTP/3."
            " Give the stack `http: 1.1` or `responder: go-net-http` with `client: go-net-http`, or leave",
        ),
        (
            "rest\nstore: postgresql\ndriver: pgx",
            "balance",
            "by psycopg or asyncpg. Give the stack `driver: psycopg` or `responder: go-net-http`, or leave",
        ),
        (
            "{protocol: rest, responder: go-net-http}\nstore: postgresql\ndriver: psycopg",
            "balance",
            "it asks PostgreSQL by pgx. Give the stack `driver: pgx` or `responder: fastapi`, or leave",
        ),
        (
            "{protocol: rest, responder: hyper}",
            "balance",
            "hyper cannot do 'balance': Rust does not carry it. Give it `responder: fastapi`, or leave",
        ),
    ],
)
def test_an_end_that_cannot_do_it_is_named_with_one_that_can(
    tmp_path: Path, text: str, operation: str, said: str
) -> None:
    with pytest.raises(ExperimentError) as refused:
        planned(tmp_path, text, operation)
    assert said in str(refused.value)


@pytest.mark.parametrize("store", ["none", "postgresql"])
def test_responders_are_compared_whatever_library_is_usual_to_each(tmp_path: Path, store: str) -> None:
    text = "{protocol: rest, responder: [fastapi, go-net-http]}\ncompare_by: responder\n"
    plan = planned(tmp_path, f"{text}store: {store}", "balance")
    assert [(pair.cell.factors["responder"], pair.reference.factors["responder"]) for pair in pairs(plan)] == [
        ("go-net-http", "fastapi")
    ]


def test_responders_that_ask_no_database_differ_in_no_library(tmp_path: Path) -> None:
    plan = planned(tmp_path, "{protocol: rest, responder: [fastapi, go-net-http, hyper, fastify]}")
    assert len({of_the_call(cell.factors) for cell in plan.cells}) == 1


def test_what_excludes_nothing_is_told_with_what_was_meant(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError) as refused:
        planned(tmp_path, "{protocol: rest, client: [hyper, pycurl]}\nexclude: [{client: hyperr}]")
    assert "this excludes nothing: no cell has `client: hyperr`. Did you mean hyper?" in str(refused.value)


def test_no_native_client_at_all_is_no_reason_to_say_or(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError) as refused:
        planned(tmp_path, "{protocol: grpc, client: native}\ncompression: zstd")
    assert "without another library). Name another client: `orch services`." in str(refused.value)


def test_an_override_that_clashes_with_the_file_is_told_how_to_replace_both(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"{QUESTION}operations: add\nstacks: rest\nload: {{concurrency: 4, duration: 3s}}\n")
    with pytest.raises(ExperimentError) as refused:
        make_plan(path, ["load.requests=50"], needs_programs=False)
    assert "x.yaml:5:" in str(refused.value)
    assert "`--set 'load={...}'` replaces all of it." in str(refused.value)
