"""The `tcp` floor of large bodies on kept connections, over a distance that is really there: a call is above it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.lab import MACHINE, on_hosts, run_in_lab

pytestmark = on_hosts(400)

EXPERIMENT = f"""\
name: far
question: Where is the floor of a large body?
provider: lab
machine: {MACHINE}
placements:
  - {{name: far, from: us-central1-a, to: us-west1-a, rtt: 80ms}}
stacks: [grpc]
operations: [{{echo: {{bytes: 300 kB}}}}]
load: {{concurrency: 1, requests: 20, at_most: 20s}}
warmup: {{requests: 5, at_least: 0s}}
repeats: 1
seed: 1
limits: {{wall: 10m, ttl: 15m}}
"""


def test_a_large_call_over_a_distance_is_above_an_exchange_with_its_window_open(tmp_path: Path) -> None:
    """Before its window was opened, the exchange took 42 ms longer than the call on a kernel that uses BBR."""
    (tmp_path / "far.yaml").write_text(EXPERIMENT)
    with run_in_lab(tmp_path, "far.yaml") as run:
        floors = [reading for reading in run.manifest().baselines if reading.kind == "tcp"]
        assert floors
        assert all(reading.opened and reading.send_bytes >= 300_000 for reading in floors)
        [floor] = [c for c in json.loads((run.path / "checks.json").read_text())["checks"] if c["name"] == "floor"]
        assert floor["verdict"] == "pass", floor
        assert floor["evidence"]["bound"] == "tcp exchange"
        assert floor["explanation"].startswith("Above the floor")
