"""A real run of codecs alone: no responder, no floor, and each message's parts in the samples."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise

pytestmark = [pytest.mark.alone, pytest.mark.busy]

COMPLETED = (0, 5)  # on a busy machine a check of the numbers may fail; what is tested here is the way to them
EXPERIMENT = """\
name: tiny
question: Does it run?
stacks: [{protocol: http+json, client: [stdlib, orjson]}]
operations: [add, {echo: {records: 3}}]
load: {requests: 300}
warmup: {requests: 20, at_least: 0s}
repeats: 3
"""


def test_a_run_of_codecs_alone(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(EXPERIMENT)
    orch = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
    ended = subprocess.run(
        [*orch, "run", "tiny.yaml", "--share-machine", "--json"], cwd=tmp_path, text=True, capture_output=True
    )
    assert ended.returncode in COMPLETED, ended.stderr
    assert json.loads(ended.stdout)["answer"]["lines"]
    run = RunFolder.open("latest", root=tmp_path / "results")
    assert {tuple(part.name for part in cell.details.parts) for cell in summarise(run).cells} == {("encode", "decode")}
    manifest = run.manifest()
    assert manifest.baselines == ()
    assert all(trial.ready is trial.stats is None for trial in manifest.trials)
    samples = pd.read_parquet(run.path / "samples")
    assert dict(samples["kind"].value_counts()) == {2: 2 * 4 * 3 * 320, 4: 4 * 3 * 320}
    assert set(samples["policy"]) == set(samples["compression"]) == {"n/a"}
    of_records = [cell for cell in summarise(run).cells if cell.operation == "echo 3 records"]
    assert len({cell.sizes.body for cell in of_records}) == 1, "both libraries wrote the same messages"
