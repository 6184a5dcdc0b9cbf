# ruff: noqa: E501 - messages are compared whole, as a user reads them
"""What bad input gets: a place, what is wrong, and a way out. Nothing is started."""

import os
from pathlib import Path

import pytest

from tests.support.experiments import MINIMAL, Known, Write, problems

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
    ("load: {rate: 1/h, duration: 10s}\n", "5:14: at 0.0002777777777777778/s no request is sent in 10 s."),
    ("load: {rate: [60/min, 1/s], duration: 10s}\n", "5:14: 'rate': item 2 of the list is given twice; every value of a list is its own cell."),
    ("load: {arrivals: uniform}\n", "5:18: `arrivals` spaces the requests of an open loop: it needs a `rate`."),
    ("load: {arrivals: [poisson, uniform]}\n", "5:18: `arrivals` spaces the requests of an open loop: it needs a `rate`."),
    ("load: {rate: 9/s, arrivals: even}\n", "5:29: 'arrivals': 'even' is not one of poisson, uniform."),
    ("load: {rate: 9/s, arrivals: [poisson, poisson]}\n", "5:29: 'arrivals': item 2 of the list is given twice; every value of a list is its own cell."),
    (
        "load: {rate: 9/s, think: 1ms}\n",
        "5:26: an open loop sends by its schedule, whatever was answered: think time is a closed loop's. Give `rate` or `think`.",
    ),
    ("load: {think: -1ms}\n", "5:15: 'think': '-1ms' is negative."),
    ("load: {think: 10}\n", "5:15: 'think': '10' is not a duration: write it with its unit, like 60s, 45m, 2h or 500ms."),
    ("load: {think: 5s, duration: 5s}\n", "5:15: with a think time of 5 s nobody sends a second request in 5 s."),
    ("load: {thinking: exponential}\n", "5:18: `thinking` says how think times are spread: it needs a `think` above 0ms."),
    ("load: {rate: 9/s, steps: [{rate: 1/s}]}\n", "5:14: `steps` have a `rate` each: give it to them, or leave them out."),
    (
        "load: {steps: [{rate: 1/s}, {rate: 9/s}, {rate: 1/s, duration: 9s}]}\n",
        "5:42: step 3 offers what step 1 does: each level has trials of its own, whatever stands before it, so give it once.",
    ),
    (
        "load: {steps: [{concurrency: 2}, {rate: 9/s, think: 1ms}]}\n",
        "5:53: an open loop sends by its schedule, whatever was answered: think time is a closed loop's. Give `rate` or `think`.",
    ),
    ("load: {steps: [{concurrency: 2, arrivals: uniform}]}\n", "5:43: `arrivals` spaces the requests of an open loop: it needs a `rate`."),
    ("load: {concurrency: 50, requests: 10}\n", "5:21: 50 requests in flight, but a trial has only 10 requests."),
    (
        "load: {requests: 10, duration: 5s}\n",
        "5:32: `requests` and `duration` both end a trial; to stop at whichever comes first, write `requests` and `at_most`.",
    ),
    ("load: {duration: 5s, at_most: 6s}\n", "5:31: `duration` is exact; `at_most` goes with `requests`. Leave one out."),
    ("load:\n", "5:1: 'load' has no value: give one, or leave the key out."),
    ("load: [1]\n", "5:7: 'load': must be a mapping of keys; it is a list."),
    ("warmup: {at_least: 5s, at_most: 2s}\n", "5:33: the warm-up ends after 2 s, before it has lasted 5 s."),
    ("matters: 5\n", "5:10: 'matters': '5' is over 100 %: write 5 % with its sign, or a share like 0.05."),
    ("matters: 0%\n", "5:10: 'matters': '0%' is not a margin that a measurement can resolve: write 0.1 % to 100 %, like 5 %."),
    ("repeats: 0\n", "5:10: 'repeats': must be at least 1; it is '0'."),
    ("tls: on\n", "5:6: 'on' reads as true or false to some YAML readers, and `tls` has neither: write none or tls1.3."),
    ("nodelay: [immediate, off]\n", "5:22: 'off' reads as true or false to some YAML readers, and `nodelay` has neither: write immediate or nagle."),
    ("keepalive: off\n", "5:12: 'off' reads as true or false to some YAML readers, and `keepalive` has neither: write none or a duration."),
    ("control: on\n", "5:10: 'on' reads as true or false to some YAML readers: write true, false, or 'on'."),
    ("load: {steps: [{rate: [1/s, 2/s]}]}\n", "5:23: 'rate': a step has one value: write a step for each."),
    ("load: {steps: [100]}\n", "5:16: 'steps': must be a mapping of keys, like {rate: 100/s, duration: 10s}; it is '100'."),
    ("load: {rate: 2000000/s}\n", "5:14: 'rate': must be at most 1000000/s; it is '2000000/s'."),
    ("think: 10ms\n", "5:1: unknown key 'think'. It stands below `load`."),
    ("predict: {holdout: 20%}\n", "5:11: unknown key 'holdout' in predict. Did you mean hold_out?"),
    ("predict: {share: 20%}\n", "5:11: unknown key 'share' in predict. Known: hold_out."),
    ("predict: {seed: 3}\n", "5:11: unknown key 'seed'. It stands at the top of the file, below nothing."),
    ("hold_out: 20%\n", "5:1: unknown key 'hold_out'. It stands below `predict`."),
    ("repeats: {until: 3%, atmost: 9}\n", "5:22: unknown key 'atmost' in repeats. Did you mean at_most?"),
    ("at_most: 9\n", "5:1: unknown key 'at_most'. It stands below `load` or `warmup` or `repeats`."),
    ("load: {repeats: 3}\n", "5:8: unknown key 'repeats'. It stands at the top of the file, below nothing."),
    ("load: {steps: [{rates: 1/s}]}\n", "5:17: unknown key 'rates' in steps. Did you mean rate?"),
    ("load: {think: 200h}\n", "5:15: 'think': must be at most 168 h; it is '200h'."),
    ("tls: true\n", "5:6: 'tls': 'true' is not one of none, tls1.3."),
    ("control: maybe\n", "5:10: 'control': must be true or false; it is 'maybe'."),
    ("provider: cloud\n", "5:11: 'provider': 'cloud' is not one of local, lab, gcp."),
    ("connection: reused\n", "5:13: 'connection': 'reused' is not one of reuse, per-request. Did you mean reuse?"),
    ("pin: [apart, both]\n", "5:14: 'pin': 'both' is not one of apart, together, off."),
    ("pin: off\n", "5:6: 'off' reads as true or false to some YAML readers, and `pin` has neither: write apart, together or 'off'."),
    ("machine: f1-micro\n", "5:10: provider local measures on this very machine; `machine` is for lab and gcp."),
    ("requesters: 2\n", "5:13: provider local has one host; several requesters need `provider: lab` or `provider: gcp`."),
    (
        "placements: cross-region\n",
        "5:13: provider local has one machine, so 'cross-region' is not available there: its only placement is local."
        " `provider: lab` emulates distance on one Linux machine, `provider: gcp` has the real one.",
    ),
    (
        "placements: [{name: local, rtt: 5ms}]\n",
        "5:33: 'rtt' needs two hosts: both ends of a local placement share one.",
    ),
    ("reference: rset\n", "5:12: no stack is called 'rset'. The stacks are 'rest', 'grpc'."),
    ("exclude: {protocol: graphql}\n", "5:10: this excludes nothing: no cell has `protocol: graphql`."),
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
        (
            "{echo: {records: 1000000}}",
            "4:30: 'records': must be at most 700,000: in JSON they are as large as the largest payload that every protocol carries; it is '1000000'.",
        ),
        ("{echo: {bytes: 0 B}}", "4:28: 'bytes': must be at least 1; it is '0 B'."),
        ("{echo: {bytes: 3}}", "4:28: 'bytes': '3' is not a size: write it with its unit, like 1.58 MB, 117 B or 64 KiB."),
        ("{echo: {bytes: 1 B, records: 2}}", "4:20: 'echo': an echo carries one of bytes, records, json; list echo once per kind."),
        ("{echo: {size: 1 B}}", "4:21: unknown key 'size' in echo. Known: bytes, calls, json, load, records, warmup."),
        ("{events: {rate: 100/s}}", "4:23: unknown key 'rate' in events. Known: bytes, load, per_second, warmup."),
        ("{echo: {}, add: {}}", "4:13: 'operations': name one operation per list item; its load and warm-up belong below its name."),
        ("{image: {decode: all}}", "4:30: 'decode': 'all' is not one of header, full."),
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
            " Give the stack `connection: per-request` or `responder: fastapi`, or leave this part out with `exclude`.",
        ),
    ],
)  # fmt: skip
def test_stacks_that_do_not_exist_or_do_not_fit_are_refused(
    write: Write, known: Known, stacks: str, problem: str
) -> None:
    assert problems(write(MINIMAL.replace("[rest, grpc]", stacks)), known) == [problem]


def test_missing_keys_say_what_they_are_for(write: Write, known: Known) -> None:
    assert problems(write("name: x\n"), known) == [
        "1:1: 'operations' is missing. What is asked.",
        "1:1: 'question' is missing. The question that the report answers.",
        "1:1: 'stacks' is missing. What is compared; `all` is every protocol that carries one of the operations.",
    ]


def test_a_misspelt_key_is_not_called_missing_as_well(write: Write, known: Known) -> None:
    text = MINIMAL.replace("stacks:", "stack:")
    assert problems(write(text), known) == [
        f"{text.splitlines().index('stack: [rest, grpc]') + 1}:1: unknown key 'stack'. Did you mean stacks or distance?"
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
    (tmp_path / "body.json").write_text('{"a": NaN}')
    assert "body.json is not JSON: it holds NaN, which JSON cannot express" in problems(path, known)[0]
    (tmp_path / "body.json").write_text("[" * 100_000 + "]" * 100_000)
    assert "body.json is nested too deep to be read." in problems(path, known)[0]


def test_a_pipe_is_no_payload_file_and_is_not_waited_for(write: Write, known: Known, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "body.json")
    path = write(MINIMAL.replace("timestamp", "{echo: {json: body.json}}"))
    assert "is a pipe, not a file." in problems(path, known)[0]
