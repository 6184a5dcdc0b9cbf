# ruff: noqa: E501 - messages are compared whole, as a user reads them
"""What bad input gets: a place, what is wrong, and a way out. Nothing is started."""

import os
from pathlib import Path

import pytest

from tests.support.experiments import MINIMAL, Known, Write, problems


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
        ("{responder: flask}", "3:9: 'stacks': 'protocol' is missing; or name a `service` of your own with its `call`."),
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


def test_a_payload_file_must_be_there(write: Write, known: Known, tmp_path: Path) -> None:
    path = write(MINIMAL.replace("timestamp", "{echo: {json: body.json}}"))
    assert problems(path, known) == [
        f"4:27: there is no file {tmp_path / 'body.json'}; paths are relative to the experiment file."
    ]


def test_a_pipe_is_no_payload_file_and_is_not_waited_for(write: Write, known: Known, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "body.json")
    path = write(MINIMAL.replace("timestamp", "{echo: {json: body.json}}"))
    assert "is a pipe, not a file." in problems(path, known)[0]
