"""A responder of its own for each benchmark, pinned away from the requester where there are CPUs to choose from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from services.python.contract.responder_lines import Serve

IDENTITY = "benchmark"


@contextmanager
def responder(
    protocol: str,
    implementation: str,
    *,
    operations: Sequence[str] = (),
    program: str = "services.python.programs.respond",
) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """The process and its ready line; it is gone when the block ends."""
    serve = Serve(protocol=protocol, implementation=implementation, identity=IDENTITY, operations=list(operations))
    process = subprocess.Popen(
        [sys.executable, "-m", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=pin_to_responder,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(serve.to_json() + "\n")
        process.stdin.flush()
        yield process, json.loads(process.stdout.readline() or "{}")
    finally:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()


def pin_requester() -> str:
    """Pin this process to the first CPU it may use, away from the responder; how that went."""
    if not _can_pin():
        return "not pinned (needs two CPUs and an operating system that can)"
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    return "responder and requester pinned to different CPUs"


_USABLE = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def _can_pin() -> bool:
    return len(_USABLE) > 1


def pin_to_responder() -> None:
    """Pin this process to the responder's CPU, where there are several."""
    if _can_pin():
        os.sched_setaffinity(0, {max(_USABLE)})


def cpus() -> list[int]:
    """The CPUs that may be used, the requester's first and the responder's last; empty where this system cannot say."""
    return sorted(_USABLE)
