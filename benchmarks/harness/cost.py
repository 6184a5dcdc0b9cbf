"""`python -m benchmarks.harness.cost`: what the requester's loop adds to a round trip, and what one sample costs.

For each protocol, on one connection of one process, segments of 1,000 requests alternate between the requester's own
loop (making, verifying, recording) and a bare loop around the same client's `call`. Each pair of segments gives one
ratio of the median round trips. Beside it stands the ratio of the segments' whole durations: what the loop costs
between two requests, where no clock runs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness.conditions import conditions, keep, told
from benchmarks.harness.ends import IDENTITY, pin_requester, responder
from services.harness.attempt import load_parts
from services.harness.client_api import Connection, Request
from services.harness.clock import Clock
from services.harness.contract import Load, Target, Trial
from services.harness.ledger import Ledger
from services.harness.loops import Work
from services.harness.phases import MEASURED, Phase, measured
from services.harness.record import Record, read_record
from services.harness.spec import find_protocol

SEGMENT = 1000
MOST_RATIO = 1.05
MOST_SAMPLE_NS = 250


def harness_cost(protocol_name: str, pairs: int, folder: Path) -> dict[str, Any]:
    """Ratios of median round trip and of duration, one per pair of segments, with the harness over bare."""
    protocol = find_protocol(protocol_name)
    client = protocol.client(protocol.sequential)
    answering = protocol.responder()
    with responder(protocol_name, answering.name) as (_, ready):
        trial = Trial(
            target=Target(host="127.0.0.1", port=ready["port"], identity=IDENTITY),
            protocol=protocol_name,
            client=client.name,
            operation="timestamp",
            load=Load(requests=SEGMENT),
            record=str(folder / "record"),
        )
        parts = load_parts(trial)
        request = parts.make(1, time.time_ns)
        connection = parts.dialer("timestamp", request).dial()
        _bare(connection, request)  # warm-up of both ends
        segments = [_pair(parts, connection, request, Path(trial.record), bare_first=bool(n % 2)) for n in range(pairs)]
        connection.close()
    return {
        "protocol": protocol_name,
        "responder": answering.name,
        "client": client.name,
        "pairs": segments,
        "rtt_ratio": statistics.median(s["harness_rtt_ns"] / s["bare_rtt_ns"] for s in segments),
        "duration_ratio": statistics.median(s["harness_ns"] / s["bare_ns"] for s in segments),
        "bare_rtt_us": statistics.median(s["bare_rtt_ns"] for s in segments) / 1000,
    }


def _pair(parts: Any, connection: Connection, request: Request, record: Path, *, bare_first: bool) -> dict[str, float]:
    found: dict[str, float] = {}
    for bare in (bare_first, not bare_first):
        began_ns = time.monotonic_ns()
        if bare:
            found["bare_rtt_ns"] = statistics.median(_bare(connection, request))
            found["bare_ns"] = time.monotonic_ns() - began_ns
        else:
            found["harness_rtt_ns"], found["harness_ns"] = _harness(parts, connection, record)
    return found


def _bare(connection: Connection, request: Request) -> list[int]:
    call, clock, times = connection.call, time.monotonic_ns, [0] * SEGMENT
    for index in range(SEGMENT):
        began_ns = clock()
        call(request)
        times[index] = clock() - began_ns
    return times


class _OneConnection:
    """A dialer that gives out the connection there is."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def dial(self) -> Connection:
        return self._connection


def _harness(parts: Any, connection: Connection, path: Path) -> tuple[float, int]:
    clock = Clock()
    with Record(path, SEGMENT) as record:
        ledger = Ledger(record, parts.operation.verify, timeout_s=30, progress=lambda _line: None)
        work = Work(
            make=parts.make, ledger=ledger, clock=clock, policy="reuse", concurrency=1, before_close=lambda: None
        )
        loops = parts.loops(_OneConnection(connection), work)
        loops.open()
        phase = Phase(
            number=MEASURED,
            begin_ns=clock.monotonic_ns(),
            first_sequence=1,
            more=measured(Load(requests=SEGMENT)),
        )
        ledger.begin(phase)
        began_ns = clock.monotonic_ns()
        loops.closed_loop(phase)
        took_ns = clock.monotonic_ns() - began_ns
    assert not ledger.tally.errors
    return statistics.median(row.received_ns - row.sent_ns for row in read_record(path)), took_ns


def sample_cost(folder: Path, rounds: int = 20, rows: int = 50_000) -> dict[str, Any]:
    """Nanoseconds that `Record.append` takes, an empty loop subtracted.

    CPU time of this thread, as another process on the same CPU would otherwise be counted.
    """
    costs = list(_sample_costs(folder, rounds, rows))
    return {"rounds_ns": costs, "median_ns": statistics.median(costs)}


def _sample_costs(folder: Path, rounds: int, rows: int) -> Iterator[float]:
    clock = time.thread_time_ns
    for _ in range(rounds):
        with Record(folder / "samples", rows) as record:
            append = record.append
            began_ns = clock()
            for _sequence in range(1, rows + 1):
                pass
            empty_ns = clock() - began_ns
            began_ns = clock()
            for sequence in range(1, rows + 1):
                append(sequence, 1, 0, began_ns, began_ns, began_ns, -1, 32, 65, 0)
            yield (clock() - began_ns - empty_ns) / rows


def main() -> None:
    """Print the table and keep the raw numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.harness.cost", description=__doc__.split("\n")[0])
    parser.add_argument("protocols", nargs="*", default=["tcp", "rest", "grpc"])
    parser.add_argument("--pairs", type=int, default=30, help="pairs of segments per protocol")
    options = parser.parse_args()
    before, pinning = conditions(), pin_requester()
    with tempfile.TemporaryDirectory() as name:
        sample = sample_cost(Path(name))
        costs = [harness_cost(protocol, options.pairs, Path(name)) for protocol in options.protocols]
    after = conditions()
    print(f"before: {told(before)}\nafter:  {told(after)}\n{pinning}\n")
    print(f"recording one sample: {sample['median_ns']:.0f} ns (at most {MOST_SAMPLE_NS})\n")
    print(
        f"{'protocol':10}{'client':12}{'bare p50 us':>12}{'rtt ratio':>11}{'duration ratio':>16}   at most {MOST_RATIO}"
    )
    for cost in costs:
        verdict = "ok" if cost["rtt_ratio"] <= MOST_RATIO else "ABOVE"
        print(
            f"{cost['protocol']:10}{cost['client']:12}{cost['bare_rtt_us']:12.1f}{cost['rtt_ratio']:11.3f}"
            f"{cost['duration_ratio']:16.3f}   {verdict}"
        )
    content = {"before": before, "after": after, "pinning": pinning, "sample": sample, "costs": costs}
    print(f"\n{os.path.relpath(keep('harness_cost', content))}")


if __name__ == "__main__":
    main()
