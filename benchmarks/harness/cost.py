"""`python -m benchmarks.harness.cost`: what the requester's loop adds to its requests, and what one sample costs.

For each client of the protocols named, with 1, 16 and 50 requests in flight, segments alternate between the requester's
own loop (recording and keeping; with one in flight also verifying) and a bare loop of as many threads or tasks
around the same connections' `call`. Each pair of segments gives one ratio of the median round trips, one of the means,
one of the durations, and one of this process's CPU time. The medians over all pairs are shown, with their 95 %
intervals: many short segments, since what else a machine does comes and goes within seconds. With one in flight the
duration holds what stands between two requests, where no clock runs; with several, mean and duration must be near 1, since
what stands between the requests of one worker stands in the latencies of the others.

The whole of it (all protocols, all clients, three payloads) takes more than an hour:
`python -m benchmarks.harness.cost --records 0 20 200`. It may be measured in parts: what a run measures takes the place of
the same lines of earlier runs in the file, and leaves the others.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness.conditions import RESULTS, conditions, keep, told
from benchmarks.harness.ends import pin_requester, responder
from benchmarks.harness.pairs import Stack, pairs_of
from services.python.contract.offers import find_protocol, protocols
from services.python.load.record import Record
from services.python.load.unverified import LEAST_BYTES

_NAME = "harness_cost"
MOST_RATIO = 1.05
MOST_SAMPLE_NS = 250


def costs_of(name: str, options: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """Of every client of a protocol (`rest`) or of those named behind it (`rest/pycurl,raw`); see `pairs.pairs_of`."""
    name, _, chosen = name.partition("/")
    protocol = find_protocol(name)
    answering = protocol.responder()
    names = [protocol.client(c).name for c in chosen.split(",")] if chosen else []
    names = names or [c.name for c in protocol.clients if c.kind == "call"]
    with responder(name, answering.name) as (_, ready):
        for client in names:
            for records in options.records:
                for in_flight in options.in_flight:
                    stack = Stack(protocol=name, client=client, records=records, in_flight=in_flight)
                    found = pairs_of(
                        stack,
                        ready["port"],
                        folder,
                        pairs=options.pairs,
                        segment_s=options.segment_s,
                        most_kept_bytes=options.keep_bytes,
                    )
                    yield {**found, "responder": answering.name}


def verdict(cost: dict[str, Any]) -> str:
    """Against `MOST_RATIO`: the median latency of one request in flight; of several the mean and the duration.

    Which of several requests is quick is decided by the order in which their replies are taken: their median differs by a
    quarter between two loops that take equally long.
    `ok` where the medians hold it, `ABOVE` where the interval of one lies above, `unclear` between.
    """
    held = [cost["p50_ratio"]] if cost["in_flight"] == 1 else [cost["mean_ratio"], cost["duration_ratio"]]
    if any(lowest > MOST_RATIO for _, lowest, _ in held):
        return "ABOVE"
    return "ok" if all(median <= MOST_RATIO for median, _, _ in held) else "unclear"


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


def _told(ratio: tuple[float, float, float]) -> str:
    median, lowest, highest = ratio
    return f"{median:8.3f} {f'({lowest:.3f}-{highest:.3f})':>13}"


class _Earlier:
    """The runs that the file holds, each with its conditions."""

    def __init__(self) -> None:
        path = RESULTS / f"{_NAME}.json"
        self._runs = json.loads(path.read_text()).get("runs", []) if path.exists() else []

    def without(self, costs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """What they measured and this run did not."""
        anew = set(map(_line_of, costs))
        for run in self._runs:
            if left := [cost for cost in run["costs"] if _line_of(cost) not in anew]:
                yield {**run, "costs": left}


def _line_of(cost: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(cost[key] for key in ("protocol", "client", "records", "in_flight"))


_COLUMNS = (
    f"{'protocol':11}{'client':18}{'asks for':13}{'in flight':>9}{'bare per s':>12}{'bare p50 us':>13}"
    f"{'p50 ratio':>22}{'mean ratio':>22}{'duration ratio':>22}{'CPU ratio':>22}   at most {MOST_RATIO}"
)


def _line(cost: dict[str, Any]) -> str:
    asks = f"{cost['records']} records" if cost["records"] else "timestamp"
    early = cost["verified_in_flight"]
    return (
        f"{cost['protocol']:11}{cost['client']:18}{asks:13}{cost['in_flight']:9}{cost['bare_per_s']:12.0f}"
        f"{cost['bare_p50_us']:13.1f}{_told(cost['p50_ratio'])}{_told(cost['mean_ratio'])}{_told(cost['duration_ratio'])}"
        f"{_told(cost['cpu_ratio'])}   {verdict(cost)}"
        f"{f', {early:.0%} verified in flight' if early > 0.01 else ''}"
    )


def main() -> None:
    """Print the table and keep the raw numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.harness.cost", description=__doc__.split("\n")[0])
    parser.add_argument(
        "protocols", nargs="*", default=list(protocols()), help="default: all; `rest/pycurl,raw`: these clients only"
    )
    parser.add_argument("--in-flight", nargs="*", type=int, default=[1, 16, 50])
    parser.add_argument(
        "--records", nargs="*", type=int, default=[0, 200], help="0: `timestamp`; else `echo` of so many"
    )
    parser.add_argument("--pairs", type=int, default=40, help="pairs of segments of each")
    parser.add_argument("--segment-s", type=float, default=0.1, help="about how long a segment lasts")
    parser.add_argument("--keep-bytes", type=int, default=LEAST_BYTES, help="memory for replies kept unverified")
    options = parser.parse_args()
    before, pinning = conditions(), pin_requester()
    print(f"before: {told(before)}\n{pinning}\n\n{_COLUMNS}", flush=True)
    costs: list[dict[str, Any]] = []
    earlier = _Earlier()
    with tempfile.TemporaryDirectory() as name:
        sample = sample_cost(Path(name))
        for protocol in options.protocols:
            for cost in costs_of(protocol, options, Path(name)):
                costs.append(cost)
                print(_line(cost), flush=True)
            after = conditions()
            run = {"before": before, "after": after, "pinning": pinning, "sample": sample, "costs": costs}
            path = keep(_NAME, {"runs": [*earlier.without(costs), run]})  # now: one that is cut has measured something
    print(f"\nrecording one sample: {sample['median_ns']:.0f} ns (at most {MOST_SAMPLE_NS})\nafter:  {told(after)}")
    print(f"\n{os.path.relpath(path)}")


if __name__ == "__main__":
    main()
