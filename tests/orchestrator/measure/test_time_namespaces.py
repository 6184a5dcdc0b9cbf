"""A real trial of two requesters, of which one lives in a time namespace: its monotonic clock is two hours ahead."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from orchestrator.hosts.local.host import LocalHost
from orchestrator.measure import run as measure
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.workspace import Workspace
from tests.support.hosts import Told
from tests.support.plans import plan

AHEAD_S = 7200
ELSEWHERE = ["unshare", "--time", "--fork", "--kill-child", "--monotonic", str(AHEAD_S)]


def why_not() -> str | None:
    """What keeps this machine from having a clock of another time, or None."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return "it takes root and unshare"
    done = subprocess.run([*ELSEWHERE, "true"], capture_output=True, check=False)
    return None if done.returncode == 0 else "this kernel has no time namespaces"


pytestmark = [pytest.mark.slow, pytest.mark.busy, pytest.mark.skipif(bool(why := why_not()), reason=why or "")]


def test_two_hosts_whose_clocks_are_hours_apart_are_measured_together(tmp_path: Path, monkeypatch) -> None:
    started = LocalHost.start

    def start(self, argv, *, cpus=None):
        return started(self, [*ELSEWHERE, *argv] if self.name == "local-2" else argv, cpus=cpus)

    monkeypatch.setattr(LocalHost, "start", start)
    monkeypatch.chdir(tmp_path)
    planned = plan("tcp", repeats=3, requests=2000, requesters=2)
    result = measure.start(planned, Workspace(), command=["orch", "run"], listener=Told())
    assert result.failed_trials == 0
    table = pd.read_parquet(result.folder / "samples")
    measured = table[table["phase"] == 1]
    begins = measured.groupby(["block", "requester"], observed=True)["sent_ns"].min().unstack()
    apart_s = (begins["local-2"] - begins["local"]) / 1e9
    assert all(abs(apart_s - AHEAD_S) < 60)

    run = RunFolder(result.folder)
    summary = summarise(run)
    (cell,) = summary.cells
    for trial, of in zip(cell.trials, run.manifest().trials, strict=True):
        rows = measured[measured["block"] == of.block]
        latency = (rows["received_ns"] - rows["sent_ns"]).to_numpy()
        assert trial.median * 1e6 == pytest.approx(np.quantile(latency, 0.5), abs=1e-3)
        rates = []
        for requester in of.requesters:
            own = rows[rows["requester"] == requester.host]
            window_s = (own["received_ns"].max() - own["sent_ns"].min()) / 1e9
            rates.append(len(own) / (window_s - (requester.done.paused_s or 0.0)))
        assert trial.throughput_per_s == pytest.approx(sum(rates), rel=1e-9)
    (together,) = [check for check in summary.checks if check.name == "requesters together"]
    assert together.evidence["requesters"] == 2
    assert together.evidence["begins_apart_s"] < 60  # of hosts two hours apart
    assert [host.host for host in cell.requester_hosts] == ["local", "local-2"]
