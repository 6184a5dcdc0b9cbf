import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import UsageError
from orchestrator.experiment.planning import make_plan
from orchestrator.experiment.plan import Load, Plan, Warmup
from orchestrator.experiment.problems import ExperimentError
from services.harness.spec import Protocol

from tests.support.experiments import MINIMAL

Write = Callable[[str], Path]
Known = dict[str, Protocol]


def problems(path: Path, known: Known, *overrides: str) -> list[str]:
    with pytest.raises(ExperimentError) as error:
        make_plan(path, overrides, known)
    assert error.value.exit_code == 2
    return [f"{p.mark.line}:{p.mark.column}: {p.message}" for p in error.value.problems]


BAD_INPUT = [
    ("stakcs: rest\n", "5:1: unknown key 'stakcs'. Did you mean stacks?"),
    ("load: {request: 10}\n", "5:8: unknown key 'request' in load. Did you mean requests?"),
    ("load: {requests: 0}\n", "5:18: 'requests': must be at least 1; it is '0'."),
    ("load: {requests: -5}\n", "5:18: 'requests': must be at least 1; it is '-5'."),
    ("load: {requests: ten}\n", "5:18: 'requests': must be a whole number; it is 'ten'."),
    ("load: {requests: 2.5}\n", "5:18: 'requests': must be a whole number; it is '2.5'."),
    ("load: {concurrency: [1, 0]}\n", "5:25: 'concurrency': must be at least 1; it is '0'."),
    ("load: {concurrency: [1, 1]}\n", "5:21: 'concurrency': item 2 of the list is given twice; every value of a list is its own cell."),
    ("load: {concurrency: []}\n", "5:21: 'concurrency': the list is empty; leave the key out for its default, or give a value."),
    ("load: {at_most: 60}\n", "5:17: 'at_most': '60' is not a duration: write it with its unit, like 60s, 45m, 2h or 500ms."),
    ("load: {at_most: 0s}\n", "5:17: 'at_most': must be more than 0; it is '0s'."),
    ("load: {rate: 500}\n", "5:14: 'rate': '500' is not a rate: write it with its unit, like 500/s."),
    ("load: {rate: 1/h, duration: 10s}\n", "5:14: at 0.0002777777777777778/s not one request is sent in 10 s."),
    ("load: {arrivals: uniform}\n", "5:18: `arrivals` spaces the requests of an open loop: it needs a `rate`."),
    ("load: {concurrency: 50, requests: 10}\n", "5:21: 50 requests in flight, but a trial has only 10 requests."),
    (
        "load: {requests: 10, duration: 5s}\n",
        "5:32: `requests` and `duration` both end a trial; for whichever comes first write `requests` and `at_most`.",
    ),
    ("load: {duration: 5s, at_most: 6s}\n", "5:31: `duration` is exact; `at_most` goes with `requests`. Leave one out."),
    ("load:\n", "5:1: 'load' has no value: give one, or leave the key out."),
    ("load: [1]\n", "5:7: 'load': must be a mapping of keys; it is a list."),
    ("warmup: {at_least: 5s, at_most: 2s}\n", "5:33: the warm-up ends after 2 s, before it has lasted 5 s."),
    ("repeats: 0\n", "5:10: 'repeats': must be at least 1; it is '0'."),
    ("control: maybe\n", "5:10: 'control': must be true or false; it is 'maybe'."),
    ("provider: cloud\n", "5:11: 'provider': 'cloud' is not one of local, lab, gcp. Known: gcp, lab, local."),
    ("connection: reused\n", "5:13: 'connection': 'reused' is not one of reuse, per-request. Did you mean reuse?"),
    ("pin: [apart]\n", "5:6: 'pin': a list is not one of apart, together, off. Known: apart, off, together."),
    ("machine: f1-micro\n", "5:10: provider local measures on this very machine; `machine` is for lab and gcp."),
    ("requesters: 2\n", "5:13: provider local has one host; several requesters need `provider: lab` or gcp."),
    (
        "placements: cross-region\n",
        "5:13: provider local has one machine, so 'cross-region' cannot be had there: its only placement is local."
        " `provider: lab` emulates distance on one Linux machine, `provider: gcp` has the real one.",
    ),
    (
        "placements: [{name: local, rtt: 5ms}]\n",
        "5:33: 'rtt' needs two hosts: both ends of a local placement share one.",
    ),
    ("reference: rset\n", "5:12: no stack is called 'rset'. The stacks are 'rest', 'grpc'."),
    ("exclude: {protocol: graphql}\n", "5:10: this leaves nothing out: no cell of the matrix matches it."),
    ("exclude: {operation: timestamp}\n", "5:10: `exclude` leaves nothing to measure."),
    ("limits: {cost: 1}\n", "5:16: 'cost': '1' is not an amount: write it with its unit, like 1.00 USD."),
]  # fmt: skip


@pytest.mark.parametrize(("line", "problem"), BAD_INPUT)
def test_what_cannot_be_is_refused_with_its_place_and_a_way_out(
    write: Write, known: Known, line: str, problem: str
) -> None:
    assert problems(write(MINIMAL + line), known) == [problem]


@pytest.mark.parametrize(
    ("operations", "problem"),
    [
        ("tmestamp", "4:13: unknown operation 'tmestamp'. Did you mean timestamp?"),
        ("{echo: {bytes: 10 GB}}", "4:28: 'bytes': must be at most 64 MiB, the largest payload that every protocol carries; it is '10 GB'."),
        ("{echo: {bytes: 0 B}}", "4:28: 'bytes': must be at least 1; it is '0 B'."),
        ("{echo: {bytes: 3}}", "4:28: 'bytes': '3' is not a size: write it with its unit, like 1.58 MB, 117 B or 64 KiB."),
        ("{echo: {bytes: 1 B, records: 2}}", "4:20: 'echo': an echo carries one of bytes, records, json; list echo once per kind."),
        ("{echo: {size: 1 B}}", "4:21: unknown key 'size' in echo. Known: bytes, json, load, records, warmup."),
        ("{echo: {}, add: {}}", "4:13: 'operations': name one operation per list item; its load and warm-up belong below its name."),
        ("{image: {decode: all}}", "4:30: 'decode': 'all' is not one of header, full. Known: full, header."),
        ("{timestamp: {load: {requests: 5, concurrency: 9}}}", "4:59: 9 requests in flight, but a trial has only 5 requests."),
        ("[timestamp, timestamp]", "4:13: 'operations': item 2 of the list is given twice; every value of a list is its own cell."),
        ("[{echo: {bytes: 1 kB}}, {echo: {bytes: 1000 B}}]", "4:37: operation 'echo 1 kB' is given twice."),
        ("[]", "4:13: 'operations': the list is empty; leave the key out for its default, or give a value."),
        ("image", "3:16: grpc does not carry 'image' (it carries add, echo, timestamp). Change the stack, or leave this part out with `exclude`."),
    ],
)  # fmt: skip
def test_operations_that_cannot_be_asked_are_refused(write: Write, known: Known, operations: str, problem: str) -> None:
    assert problems(write(MINIMAL.replace("timestamp", operations)), known) == [problem]


@pytest.mark.parametrize(
    ("stacks", "problem"),
    [
        ("grcp", "3:9: unknown protocol 'grcp'. Did you mean grpc?"),
        ("{protocol: rest, responder: falsk}", "3:37: protocol rest has no responder 'falsk'. Did you mean flask?"),
        ("{protocol: rest, client: curl}", "3:34: protocol rest has no client 'curl'. Known: parallel, slow, thin."),
        ("{responder: flask}", "3:9: 'protocol' is missing. The wire protocol; `orch services` lists them."),
        ("{protocol: all, client: thin}", "3:9: `all` takes every protocol with its defaults; name a protocol to choose a responder or client."),
        ("[rest, {protocol: rest, client: thin}]", "3:16: stack rest-fastapi-thin is given twice; `control: true` enters the reference again."),
        (
            "{protocol: rest, responder: flask}",
            "3:9: rest's responder flask cannot do connection: reuse: it closes every connection."
            " Change the stack, or leave this part out with `exclude`.",
        ),
    ],
)  # fmt: skip
def test_stacks_that_do_not_exist_or_do_not_fit_are_refused(
    write: Write, known: Known, stacks: str, problem: str
) -> None:
    assert problems(write(MINIMAL.replace("[rest, grpc]", stacks)), known) == [problem]


def test_an_excluded_part_may_be_what_an_implementation_refuses(write: Write, known: Known) -> None:
    text = MINIMAL.replace("rest, grpc", "rest, {protocol: rest, responder: flask}")
    text += "connection: [reuse, per-request]\nexclude: {responder: flask, connection: reuse}\n"
    plan = make_plan(write(text), known=known)
    assert [(c.stack, c.connection) for c in plan.cells] == [
        ("rest-fastapi-thin", "reuse"),
        ("rest-fastapi-thin", "per-request"),
        ("rest-flask-thin", "per-request"),
    ]


def test_missing_keys_say_what_they_are_for(write: Write, known: Known) -> None:
    assert problems(write("name: x\n"), known) == [
        "1:1: 'operations' is missing. What is asked.",
        "1:1: 'question' is missing. The question that the report answers.",
        "1:1: 'stacks' is missing. What is compared; `all` is every protocol there is.",
    ]


@pytest.mark.parametrize("text", ["", "# nothing\n", "just text\n", "- a\n"])
def test_a_file_that_is_no_mapping_is_no_experiment(write: Write, known: Known, text: str) -> None:
    assert problems(write(text), known)[0].endswith("an experiment is a mapping of keys; `orch init` writes one.")


def test_a_payload_file_must_be_there_and_be_json(write: Write, known: Known, tmp_path: Path) -> None:
    path = write(MINIMAL.replace("timestamp", "{echo: {json: body.json}}"))
    assert problems(path, known) == [
        f"4:27: there is no file {tmp_path / 'body.json'}; paths are relative to the experiment file."
    ]
    (tmp_path / "body.json").write_text("{'a': 1}")
    assert problems(path, known) == [
        f"4:27: {tmp_path / 'body.json'}:1:2: this is not JSON: Expecting property name enclosed in double quotes."
    ]
    (tmp_path / "body.json").write_bytes(b'"\xff"')
    assert "is not JSON" in problems(path, known)[0]


def test_a_plan_resolves_every_default(write: Write, known: Known) -> None:
    plan = make_plan(write(MINIMAL), known=known)
    cell = plan.cells[0]
    assert cell.id == "rest-fastapi-thin__timestamp__local__reuse__c1"
    assert cell.load == Load(concurrency=1, requests=1000, duration_s=60.0)
    assert cell.warmup == Warmup(requests=500, at_least_s=2.0, at_most_s=60.0)
    assert (plan.provider, plan.pin, plan.repeats, plan.seed) == ("local", "apart", 5, 1)
    assert plan.reference == "rest-fastapi-thin"
    assert plan.resolved["rest-fastapi-thin"]["client_reason"] == "thin and comparable: the default at 1 in flight"
    assert plan.resolved["rest-fastapi-thin"]["versions"]["no-such-package"] == "not installed here"
    assert plan.resolved["grpc-grpcio-grpcio"]["round_trips_to_open"] == 2
    assert plan.experiment_sha256 == hashlib.sha256(MINIMAL.encode()).hexdigest()


def test_lists_multiply(write: Write, known: Known) -> None:
    text = MINIMAL.replace("timestamp", "[add, {echo: {bytes: [100 B, 1 kB]}}]")
    text += "connection: [reuse, per-request]\nload: {concurrency: [1, 8]}\n"
    plan = make_plan(write(text), known=known)
    assert len(plan.cells) == 2 * 3 * 2 * 2
    assert [operation.id for operation in plan.operations] == ["add", "echo-100b", "echo-1kb"]
    assert len(plan.trials) == 5 * len(plan.cells)


def test_the_default_client_depends_on_the_requests_in_flight(write: Write, known: Known) -> None:
    plan = make_plan(write(MINIMAL.replace("[rest, grpc]", "rest") + "load: {concurrency: [1, 8]}\n"), known=known)
    assert [(c.load.concurrency, c.stack) for c in plan.cells] == [
        (1, "rest-fastapi-thin"),
        (8, "rest-fastapi-parallel"),
    ]
    assert [stack.label for stack in plan.stacks] == ["rest (thin)", "rest (parallel)"]


def test_an_open_loop_asks_with_the_concurrent_client(write: Write, known: Known) -> None:
    plan = make_plan(write(MINIMAL.replace("[rest, grpc]", "rest") + "load: {rate: [100/s, 200/s]}\n"), known=known)
    assert {cell.stack for cell in plan.cells} == {"rest-fastapi-parallel"}
    assert [(c.load.rate_per_s, c.load.duration_s, c.load.requests) for c in plan.cells] == [
        (100, 10, None),
        (200, 10, None),
    ]


def test_an_operation_may_have_its_own_load_and_warm_up(write: Write, known: Known) -> None:
    text = MINIMAL.replace("timestamp", "[add, {echo: {load: {requests: 7}, warmup: {requests: 3}}}]")
    plan = make_plan(write(text + "load: {requests: 50, at_most: 9s}\nwarmup: {at_least: 1s}\n"), known=known)
    loads = {cell.operation: (cell.load, cell.warmup) for cell in plan.cells}
    assert loads["add"] == (Load(requests=50, duration_s=9.0), Warmup(requests=500, at_least_s=1.0))
    assert loads["echo-100b"] == (Load(requests=7, duration_s=9.0), Warmup(requests=3, at_least_s=1.0))


def test_all_is_every_protocol_but_the_floor(write: Write, known: Known) -> None:
    plan = make_plan(write(MINIMAL.replace("[rest, grpc]", "all")), known=known)
    assert [stack.protocol for stack in plan.stacks] == ["grpc", "rest"]


def test_labels_are_the_shortest_that_tell_stacks_apart(write: Write, known: Known) -> None:
    stacks = "[grpc, {protocol: rest, responder: [fastapi, flask], client: [thin, slow], connection: per-request}]"
    plan = make_plan(write(MINIMAL.replace("[rest, grpc]", stacks)), known=known)
    assert [stack.label for stack in plan.stacks] == [
        "grpc",
        "rest (fastapi, thin)",
        "rest (fastapi, slow)",
        "rest (flask, thin)",
        "rest (flask, slow)",
    ]


def test_a_reference_that_may_be_several_stacks_is_refused(write: Write, known: Known) -> None:
    stacks = "[grpc, {protocol: rest, responder: [fastapi, flask], connection: per-request}]"
    text = MINIMAL.replace("[rest, grpc]", stacks)
    assert problems(write(text + "reference: rest\n"), known) == [
        "5:12: 'rest' may be any of several stacks; name one of 'grpc', 'rest (fastapi)', 'rest (flask)'."
    ]
    assert make_plan(write(text + "reference: rest (flask)\n"), known=known).reference == "rest-flask-thin"


def test_a_control_enters_the_reference_twice_more(write: Write, known: Known) -> None:
    plan = make_plan(write(MINIMAL + "control: true\nreference: grpc\n"), known=known)
    controls = [stack for stack in plan.stacks if stack.control_of]
    assert [(c.label, c.control_of) for c in controls] == [
        ("grpc, control 1", "grpc-grpcio-grpcio"),
        ("grpc, control 2", "grpc-grpcio-grpcio"),
    ]
    assert {c.stack for c in plan.cells} == {stack.id for stack in plan.stacks}
    assert len({cell.id for cell in plan.cells}) == 4
    assert plan.resolved[controls[0].id] == plan.resolved["grpc-grpcio-grpcio"]


def test_overrides_replace_values_and_are_recorded(write: Write, known: Known) -> None:
    text = MINIMAL.replace("timestamp", "[{echo: {bytes: 1 kB}}]")
    overrides = ("load.requests=7", "operations.0.echo.bytes=[1 B, 2 B]", "repeats=2", "stacks.1=rest", "stacks.0=grpc")
    plan = make_plan(write(text), overrides, known)
    assert {cell.load.requests for cell in plan.cells} == {7}
    assert [operation.id for operation in plan.operations] == ["echo-1b", "echo-2b"]
    assert [stack.protocol for stack in plan.stacks] == ["grpc", "rest"]
    assert plan.overrides == overrides
    assert plan.id != make_plan(write(text), known=known).id


def test_an_override_may_go_into_a_shorthand(write: Write, known: Known) -> None:
    plan = make_plan(write(MINIMAL), ["stacks.0.client=slow"], known)
    assert [stack.client for stack in plan.stacks] == ["slow", "grpcio"]


def test_a_wrong_override_is_refused_as_a_place_of_its_own(write: Write, known: Known) -> None:
    with pytest.raises(ExperimentError) as error:
        make_plan(write(MINIMAL), ["load.requests=many"], known)
    assert error.value.message.startswith("--set load.requests:1:1: 'requests': must be a whole number; it is 'many'.")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("load.requests", "--set load.requests: this is not KEY=VALUE"),
        ("=5", "--set =5: this is not KEY=VALUE"),
        ("stacks.9=grpc", "--set stacks.9=grpc: '9' is not an item of the list"),
        ("name.first.second=x", "is a single value, so it has no first"),
        ("name.first=x", "is a single value, so it has no first"),
    ],
)
def test_an_override_without_a_place_is_refused(write: Write, known: Known, override: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        make_plan(write(MINIMAL), [override], known)
    assert message in error.value.message


def test_a_plan_survives_its_way_through_json(write: Write, known: Known) -> None:
    text = MINIMAL.replace("timestamp", "[add, {image: {bytes: 2 kB}}]").replace("[rest, grpc]", "rest")
    plan = make_plan(write(text + "control: true\n"), known=known)
    again = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert again == plan
    assert again.id == plan.id
    assert plan.to_dict() == json.loads(json.dumps(dataclasses.asdict(plan)))


def test_a_plan_of_another_schema_is_not_read(write: Write, known: Known) -> None:
    raw: dict[str, Any] = make_plan(write(MINIMAL), known=known).to_dict()
    with pytest.raises(ValueError, match="schema version 99, not 1"):
        Plan.from_dict({**raw, "schema_version": 99})
