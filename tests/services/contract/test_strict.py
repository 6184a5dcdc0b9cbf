"""The strict decoder, and the JSON Schemas beside it: what one takes the other takes."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from services.python.contract import schemas
from services.python.contract.counters import Clocks, HostCounters, TcpCounters
from services.python.contract.description import Description, HostClock
from services.python.contract.lines import Load, Payload, Target, Trial
from services.python.contract.ping_lines import Ping, PingDone
from services.python.contract.requester_lines import Checked, Done, Failed, Progress, Start, Turn, Warm, Wire
from services.python.contract.responder_lines import Own, Ready, Serve, Stats, Tls
from services.python.contract.strict import Line, WrongShape, decode, parse, read_line

PROTOS = Path(__file__).parents[3] / "protos"
ANCHOR = Clocks(wall_ns=1_700_000_000_000_000_000, monotonic_ns=5)
COUNTERS = HostCounters(
    monotonic_ns=5,
    tick_hz=100,
    cpu_ticks={"total": 5, "busy": 3},
    pressure_us={"cpu": 4, "memory": None},
    tcp=TcpCounters(segments_sent=4, retransmits=0),
    load_average=[0.5, 1.0],
    process={"cpu_s": 0.5},
)
LINES: dict[str, Line] = {
    "serve": Serve(
        protocol="rest",
        identity="x",
        knobs={"compression": "gzip", "mode": "a"},
        resources={"store": "db:5432"},
        tls=Tls(certificate="c.pem", key="k.pem"),
    ),
    "own": Own(
        argv=["./serve"], folder="/f", address="127.0.0.1", output="/f/o", ready="http", ready_at="/", env={"A": "b"}
    ),
    "ready": Ready(port=4711, implementation="threads", identity="x", versions={"python": "3.11"}),
    "stats": Stats(answered=3, peers=2, cpu_s=0.25, host=COUNTERS),
    "trial": Trial(
        target=Target(host="h", port=1, identity="x"),
        protocol="rest",
        client="pycurl",
        operation="echo",
        record="r",
        payload=Payload(kind="bytes", size=4),
        load=Load(duration_s=1.5, rate_per_s=10.0),
        start_at_unix_ns=1_700_000_000_000_000_000,
    ),
    "checked": Checked(body_bytes_sent=4, body_bytes_received=8),
    "start": Start(anchor=ANCHOR),
    "warm": Warm(requests=3),
    "turn": Turn(number=0, requests=90, begin_ns=1, end_ns=50_000_001, cpu_s=0.01, waited_s=0.002, stolen_s=None),
    "progress": Progress(phase="measured", requests=7, elapsed_s=1.0),
    "done": Done(
        rows=3,
        warmup_requests=1,
        requests=2,
        errors={"timeout": 1},
        error_examples={"timeout": "no word"},
        wire=Wire(bytes_sent=1, bytes_received=1, segments_sent=1, segments_received=1, retransmits=0),
        anchor=ANCHOR,
        host_before=COUNTERS,
        settings={"pool": "1"},
    ),
    "failed": Failed(kind="trial", message="no such protocol"),
    "ping": Ping(address="127.0.0.1", record="r"),
    "ping-done": PingDone(method="icmp-raw", sent=3, received=0, min_ms=None, avg_ms=None, anchor=ANCHOR),
    "describe": Description(
        kernel="6.1",
        cpus=2,
        mitigations={"mds": "Not affected", "srso": None},
        clock=HostClock(implementation="c", resolution_ns=1.0, synchronised=None, wall_ns=1, monotonic_ns=2),
        cloud={"zone": "us-west1-a"},
    ),
}


def written(name: str) -> Any:
    return json.loads((PROTOS / "schemas" / f"{name}.json").read_text(encoding="utf-8"))


def plain(name: str) -> dict[str, Any]:
    return json.loads(LINES[name].to_json())


def test_the_files_are_what_the_types_say():
    """`python -m services.python.contract.schemas` writes them anew."""
    made = schemas.documents()
    there = {path.relative_to(PROTOS) for path in (PROTOS / "schemas").iterdir()} | {Path("statuses.json")}
    assert there == made.keys()
    assert {path: (PROTOS / path).read_text(encoding="utf-8") for path in made} == made


def test_every_line_has_a_schema_and_an_example_here():
    assert LINES.keys() == schemas.LINES.keys()
    assert all(type(line) is schemas.LINES[name] for name, line in LINES.items())


@pytest.mark.parametrize("name", LINES)
def test_a_line_goes_out_and_comes_back_the_same_and_its_schema_takes_it(name: str):
    raw = plain(name)
    assert decode(type(LINES[name]), raw) == LINES[name]
    assert raw == asdict(LINES[name])
    Draft202012Validator.check_schema(written(name))
    Draft202012Validator(written(name)).validate(raw)


ODD: list[Any] = [None, True, False, -1, 0, 70_000, 1.5, "5", "", [], [1], {}, {"x": 1}, {"x": "y"}, 10**30]


@pytest.mark.parametrize("name", LINES)
def test_model_and_schema_refuse_and_take_the_same(name: str):
    """Every key in turn: left out, or of every other type; and keys that there are not."""
    cls, validator = type(LINES[name]), Draft202012Validator(written(name))
    tried = [{**plain(name), "unknown": 1}]
    for field in fields(cls):  # type: ignore[arg-type]
        tried.append({key: value for key, value in plain(name).items() if key != field.name})
        tried += [{**plain(name), field.name: odd} for odd in ODD]
        if isinstance(inner := plain(name).get(field.name), dict):
            tried += [{**plain(name), field.name: {**inner, key: odd}} for key in [*inner, "unknown"] for odd in ODD]
            tried += [{**plain(name), field.name: {k: v for k, v in inner.items() if k != left}} for left in inner]
    taken = 0
    for raw in tried:
        is_taken = validator.is_valid(raw)
        taken += is_taken
        try:
            decode(cls, raw)
        except WrongShape:
            assert not is_taken, raw
        else:
            assert is_taken, raw
    assert len(tried) - taken > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"requests": True}, "requests must be a whole number, not true"),
        ({"requests": 1.0}, "requests must be a whole number, not 1.0"),
        ({"requests": -1}, "requests must be 0 or more, not -1"),
        ({"measured_s": "1"}, 'measured_s must be a finite number, not "1"'),
        ({"measured_s": float("nan")}, "measured_s must be a finite number, not nan"),
        ({"measured_s": True}, "measured_s must be a finite number, not true"),
        ({"anchor": {"wall_ns": 1}}, "anchor.monotonic_ns is missing"),
        ({"host_before": {"load_average": [1, "2"]}}, 'host_before.load_average.1 must be a finite number, not "2"'),
        ({"not_sent_reason": "tired"}, 'not_sent_reason must be "connections-busy" or "requester-behind", not "tired"'),
        ({"mood": "good"}, "mood is not a key of Done"),
        ({"errors": []}, "errors must be an object, not []"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_the_key(change: dict[str, Any], words: str):
    with pytest.raises(WrongShape) as refused:
        decode(Done, {**plain("done"), **change})
    assert str(refused.value) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "one JSON object"),
        ('{"a": NaN}', "NaN is not a number of JSON"),
        ('{"a": -Infinity}', "-Infinity is not a number"),
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ("[" * 100_000, "nested too deeply"),
        ("{", "Expecting"),
    ],
)
def test_what_is_no_object_of_json_is_refused(text: str, words: str):
    with pytest.raises(ValueError, match=words):
        parse(text)


@pytest.mark.parametrize(
    ("contract", "words"),
    [
        (1, "this orchestrator speaks contract 2; the responder speaks 1"),
        ("2", 'this orchestrator speaks contract 2; the responder speaks "2"'),
        (True, "this orchestrator speaks contract 2; the responder speaks true"),
        (None, "this orchestrator speaks contract 2; the responder does not say which"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"a key of": "another contract"}])
def test_another_contract_is_refused_by_name_before_anything_else(contract: object, words: str, more: dict[str, str]):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole message is compared
        read_line((Ready,), {**plain("ready"), "contract": contract, **more}, reader="orchestrator", writer="responder")
    assert str(refused.value) == words


@pytest.mark.parametrize("kind", ["hello", None, ["ready"], 1])
def test_an_unknown_type_is_refused_with_the_known_ones(kind: object):
    with pytest.raises(ValueError, match="known here: checked, failed"):
        read_line((Checked, Failed), {"type": kind}, reader="orchestrator", writer="requester")
