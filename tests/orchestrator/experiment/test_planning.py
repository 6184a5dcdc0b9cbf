import dataclasses
import hashlib
import json

import pytest

from orchestrator import quantities
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.estimate import short_of_room
from orchestrator.experiment.plan.loads import describe_load
from orchestrator.experiment.plan.plan import read_plan
from orchestrator.experiment.plan.planning import make_plan
from services.python.contract.lines import Load, Warmup
from tests.support.experiments import MINIMAL, Known, Write, problems


def test_an_excluded_part_may_be_what_an_implementation_refuses(write: Write, known: Known) -> None:
    text = MINIMAL.replace("rest, grpc", "rest, {protocol: rest, responder: flask}")
    text += "connection: [reuse, per-request]\nexclude: {responder: flask, connection: reuse}\n"
    plan = make_plan(write(text), known=known)
    assert [(c.stack, c.connection) for c in plan.cells] == [
        ("rest-fastapi-thin", "reuse"),
        ("rest-fastapi-thin", "per-request"),
        ("rest-flask-thin", "per-request"),
    ]


def test_a_plan_resolves_every_default(write: Write, known: Known) -> None:
    plan = make_plan(write(MINIMAL), known=known)
    cell = plan.cells[0]
    assert cell.id == "rest-fastapi-thin__timestamp__local__reuse__c1"
    assert cell.load == Load(concurrency=1, requests=1000, duration_s=60.0)
    assert cell.warmup == Warmup(requests=500, at_least_s=2.0, at_most_s=60.0)
    assert (plan.provider, plan.pin, plan.repeats, plan.seed) == ("local", "apart", 5, 1)
    assert plan.reference == "rest-fastapi-thin"
    assert plan.resolved["rest-fastapi-thin"]["client_reason"] == "thin and comparable: the default"
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


def loads(text: str, write: Write, known: Known) -> list[Load]:
    return [cell.load for cell in make_plan(write(MINIMAL.replace("[rest, grpc]", "rest") + text), known=known).cells]


def test_an_open_loop_has_room_for_replies_that_take_half_a_second(write: Write, known: Known) -> None:
    found = loads("load: {rate: [2/s, 500/s, 100000/s], duration: 10s}\n", write, known)
    assert [load.concurrency for load in found] == [8, 250, 256]
    assert [load.concurrency for load in loads("load: {rate: 500/s, requests: 20}\n", write, known)] == [20]
    assert [load.concurrency for load in loads("load: {rate: 500/s, concurrency: 3}\n", write, known)] == [3]


def test_an_open_loop_with_too_little_room_is_found_beforehand(write: Write, known: Known) -> None:
    text = MINIMAL.replace("[rest, grpc]", "rest") + "provider: lab\nplacements: {name: far, rtt: 100ms}\n"
    text = text.replace("{name: far, rtt: 100ms}", "{name: far, from: us-central1-a, to: us-west1-a, rtt: 100ms}")
    plan = make_plan(write(text + "load: {rate: 100/s, concurrency: [2, 50]}\n"), known=known)
    assert [cell.load.concurrency for cell in short_of_room(plan)] == [2]
    assert short_of_room(make_plan(write(text + "load: {rate: [10/s, 400/s]}\n"), known=known)) == ()
    assert short_of_room(make_plan(write(text), known=known)) == ()


@pytest.mark.parametrize(
    "varied",
    [
        "rate: [100/s, 200/s]",
        "rate: [100000.1/s, 100000.2/s]",
        "rate: 1000000/s, concurrency: [10, 20]",
        "rate: 100/s, concurrency: [10, 20]",
        "rate: 100/s, arrivals: [poisson, uniform]",
        "think: [10ms, 10.01ms]",
        "think: 1.0001s, thinking: [constant, exponential]",
        "think: [0ms, 1us]",
    ],
)
def test_two_values_of_a_load_have_two_names_everywhere(varied: str, write: Write, known: Known) -> None:
    plan = make_plan(write(MINIMAL.replace("[rest, grpc]", "rest") + f"load: {{{varied}}}\n"), known=known)
    assert len({cell.id for cell in plan.cells}) == len({describe_load(cell.load) for cell in plan.cells}) == 2
    assert len({quantities.of_load(cell.load) for cell in plan.cells}) == 2
    assert all("+" not in cell.id for cell in plan.cells)


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
        "5:12: 'rest' is the label of no stack. The stacks are 'grpc', 'rest (fastapi)', 'rest (flask)'."
    ]
    assert make_plan(write(text + "reference: rest (flask)\n"), known=known).reference == "rest-flask-thin"


def test_a_control_enters_the_reference_twice_more(write: Write, known: Known) -> None:
    plan = make_plan(write(MINIMAL + "control: true\nreference: grpc\n"), known=known)
    controls = [stack for stack in plan.stacks if stack.control_of]
    assert [(c.label, c.control_of) for c in controls] == [
        ("control 1 of grpc", "grpc-grpcio-grpcio"),
        ("control 2 of grpc", "grpc-grpcio-grpcio"),
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
    again = read_plan(json.loads(json.dumps(plan.to_dict())))
    assert again == plan
    assert again.id == plan.id
    assert plan.to_dict() == json.loads(json.dumps(dataclasses.asdict(plan)))
