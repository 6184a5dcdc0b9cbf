"""Several distances in one run of the lab: made once, each with its floor, each as long as asked, and a line through all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.lab import MACHINE, on_hosts, run_in_lab

pytestmark = on_hosts(600)

EXPERIMENT = f"""\
name: distances
question: How many round trips does a request take?
provider: lab
machine: {MACHINE}
distance: {{rtt: [0ms, 15ms, 40ms]}}
stacks: [rest]
operations: add
connection: [reuse, per-request]
load: {{concurrency: 1, requests: 20, at_most: 20s}}
warmup: {{requests: 3, at_least: 0s}}
repeats: 3
seed: 1
limits: {{wall: 10m, ttl: 15m}}
"""
IMPLIED = {"reuse": 1, "per-request": 2}


def test_three_distances_are_measured_in_one_run_and_their_slope_is_round_trips(tmp_path: Path) -> None:
    (tmp_path / "distances.yaml").write_text(EXPERIMENT)
    with run_in_lab(tmp_path, "distances.yaml") as run:
        manifest = run.manifest()
        floors = {(reading.kind, reading.placement, reading.block) for reading in manifest.baselines}
        places = [f"distance-{rtt}ms" for rtt in (0, 15, 40)]
        assert floors == {(kind, place, block) for kind in ("ping", "tcp") for place in places for block in range(3)}
        summary = json.loads((run.path / "summary.json").read_text())
        links = {link["placement"]: link["measured"] for link in summary["findings"]["distance"]}
        assert [links[place] for place in places] == [
            pytest.approx(rtt, abs=max(1.0, 0.1 * rtt)) for rtt in (0, 15, 40)
        ]
        took = {
            (cell["factors"]["connection"], cell["placement"]): cell["distribution"]["median"]
            for cell in summary["cells"]
        }
        for connection, trips in IMPLIED.items():
            slope = (took[connection, places[2]] - took[connection, places[1]]) / (links[places[2]] - links[places[1]])
            assert slope == pytest.approx(trips, abs=0.2), connection
