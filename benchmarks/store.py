"""`python -m benchmarks.store`: what the store `none` costs over the bare operation, and how fast databases are seeded.

The same responder answers `balance` from its store and `bare_balance` from a plain function with the same reply. One client
with a connection to each asks them in turns, some hundred requests at a time, in an order that changes; each pair gives the
ratio of its two medians. The median over the pairs is shown with its 95 % interval. Seeding is timed from nothing to the
verified database, SQLite in a folder for temporary files, PostgreSQL on a server that is started for it, where one is
installed.
"""

from __future__ import annotations

import argparse
import importlib
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.harness.conditions import conditions, keep
from benchmarks.harness.ends import pin_requester, responder
from benchmarks.harness.pairs import interval_of_median
from benchmarks.store_program import BARE, enter
from orchestrator.errors import MissingError
from orchestrator.hosts.local import postgresql
from services.python.contract.lines import Payload
from services.python.contract.offers import find_protocol
from services.python.load.client import CallSpec
from services.python.operations import OPERATIONS
from services.python.stores import seed

STORED = "balance"
MOST_RATIO = 1.05
LEAST_ROWS_PER_S = 50_000
_ROWS = seed.ACCOUNTS + seed.TRANSACTIONS


def ratios(protocol: str, implementation: str, client: str, *, pairs: int, requests: int) -> dict[str, Any]:
    """The store's median over the bare one's, pair by pair; medians in microseconds."""
    enter()
    both = (STORED, BARE)
    with responder(protocol, implementation, operations=both, program="benchmarks.store_program") as (_, ready):
        port = ready["port"]
        make = OPERATIONS[STORED].requests(Payload(), 1)
        declared = find_protocol(protocol).client(client)
        connections = {}
        for name in (STORED, BARE):
            call = CallSpec(host="127.0.0.1", port=port, operation=name, timeout_s=30, example=make(1, time.time_ns))
            connections[name] = importlib.import_module(declared.module).dialer(call, declared).dial()
        medians: dict[str, list[float]] = {STORED: [], BARE: []}
        for _ in range(pairs):
            for name in random.sample([STORED, BARE], 2):
                ask, took = connections[name].call, []
                for sequence in range(requests):
                    request = make(sequence, time.time_ns)
                    sent = time.perf_counter_ns()
                    ask(request)
                    took.append(time.perf_counter_ns() - sent)
                medians[name].append(statistics.median(took) / 1e3)
    pairs_of = [stored / bare for stored, bare in zip(medians[STORED], medians[BARE], strict=True)]
    return {
        "stack": f"{protocol}/{implementation}, {client}",
        "ratio": statistics.median(pairs_of),
        "interval": interval_of_median(pairs_of),
        "median_us": {name: statistics.median(of) for name, of in medians.items()},
        "pairs": pairs_of,
    }


def seeding(times: int) -> dict[str, Any]:
    """Rows a second of each database, from nothing to verified; None where there is none."""
    from services.python.stores import sqlite

    found: dict[str, Any] = {"sqlite": []}
    for number in range(times):
        with tempfile.TemporaryDirectory() as folder:
            began_s = time.monotonic()
            sqlite.seeded(Path(folder) / f"{number}.sqlite3")
            found["sqlite"].append(_ROWS / (time.monotonic() - began_s))
    try:
        with postgresql.running(5) as (dsn, version):
            import psycopg

            from services.python.stores import postgresql as seeding_it

            found["postgresql"], found["version"] = [], version
            for number in range(times):
                with psycopg.connect(dsn, autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE seeded{number}".encode())
                began_s = time.monotonic()
                seeding_it.seeded(dsn.replace("dbname=postgres", f"dbname=seeded{number}"))
                found["postgresql"].append(_ROWS / (time.monotonic() - began_s))
    except MissingError as error:
        found["postgresql"], found["missing"] = None, error.message
    return found


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--requests", type=int, default=500, help="of each half of a pair")
    parser.add_argument("--seedings", type=int, default=5)
    given = parser.parse_args()
    print(pin_requester())
    stacks = [
        ratios(*stack, pairs=given.pairs, requests=given.requests)
        for stack in (("rest", "fastapi", "raw"), ("http+json", "asgi", "raw"), ("grpc", "grpcio", "grpcio"))
    ]
    for of in stacks:
        _, low, high = of["interval"]
        us = of["median_us"]
        print(
            f"{of['stack']}: {us[BARE]:.1f} us bare, {us[STORED]:.1f} us with the store `none`:"
            f" {of['ratio']:.3f} ({low:.3f} to {high:.3f}), at most {MOST_RATIO}"
        )
    seeded = seeding(given.seedings)
    for name in ("sqlite", "postgresql"):
        if seeded[name]:
            print(f"{name}: {statistics.median(seeded[name]):,.0f} rows/s seeded, at least {LEAST_ROWS_PER_S:,}")
    keep("store", {"conditions": conditions(), "stacks": stacks, "seeding": seeded})


if __name__ == "__main__":
    main()
