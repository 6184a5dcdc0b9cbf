"""Where results lie, and what of them may leave this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement
from orchestrator.experiment.plan.plan import External, OwnHost
from orchestrator.results import shareable
from orchestrator.results.documents import inside
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import TurnRecord
from tests.support.folders import add_trial, begun
from tests.support.plans import plan


@pytest.mark.parametrize("relative", ["../escape", "/tmp/escape", "samples/../../escape", "link/escape"])
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path: Path, relative: str) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(InvalidMeasurement):
        inside(folder, relative)


def test_a_path_inside_is_given_also_where_the_folder_itself_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "run")
    assert inside(tmp_path / "link", "samples/a") == tmp_path / "link" / "samples" / "a"


def test_samples_that_the_journal_puts_outside_are_not_written(tmp_path: Path) -> None:
    folder = begun(tmp_path / "results")
    add_trial(folder, 0, block=0, path="../../escape.parquet")
    folder.release()
    with pytest.raises(InvalidMeasurement):
        RunFolder.open(folder.path).manifest()
    assert not (tmp_path / "escape.parquet").exists()


CALL = {"kind": "http", "path": "/ann", "headers": {"authorization": "Bearer ${ANN}"}, "expect": {"status": [200]}}
SERVICE = External(given="anns-laptop", host="198.18.0.9", port=8001, authority="/home/ann.pem", call=CALL)


def test_overrides_of_stacks_that_may_hold_an_address_have_no_value():
    overrides = ("repeats=1", "stacks.0.service=ann", "stacks=[{service: ann}]")
    planned = plan("rest", "grpc", overrides=overrides, experiment_path="/home/ada/x.yaml")
    stacks = (planned.stacks[0], replace(planned.stacks[1], external=SERVICE))
    kept = shareable.plan(replace(planned, stacks=stacks))
    assert kept.overrides == ("repeats=1", "stacks.0.service=...", "stacks=...")
    assert "ann" not in str(kept.stacks)
    assert kept.stacks[1].external.call == {"kind": "http", "expect": True, "events": False}
    assert kept.experiment_path == "x.yaml"
    assert shareable.plan(planned).overrides == overrides


def test_machines_of_ones_own_keep_name_and_role():
    host = OwnHost(name="requester", given="ada", ssh=("me@a.example",), role="requester", address="10.0.0.1")
    kept = shareable.plan(plan(hosts=(host,), overrides=("hosts.requester=me@a.example", "repeats=3")))
    assert kept.hosts == (OwnHost(name="requester", role="requester"),)
    assert kept.overrides == ("hosts=...", "repeats=3")


def test_a_fleet_keeps_roles_zones_and_pinning():
    document = {
        "provider": "gcp",
        "deployment": "orch-1234",
        "requester_cpus": "1",
        "hosts": {"requester-1": {"role": "requester", "zone": "a", "machine": "n2", "address": "10.1.2.3"}},
        "link": {"kind": "netem", "paths": ["10.1.2.3"]},
    }
    assert shareable.fleet(document) == {
        "provider": "gcp",
        "requester_cpus": "1",
        "hosts": {"requester-1": {"role": "requester", "zone": "a", "machine": "n2"}},
        "link": {"kind": "netem"},
    }


def test_a_turn_without_figures_keeps_that_it_has_none():
    record = TurnRecord(
        index=0, block=0, cell="c", attempt=0, tool="wrk", came_first=True, started_wall_ns=1, failure="/home/ada/wrk"
    )
    assert shareable.turn(record).failure == shareable.NO_FIGURES
    assert shareable.turn(replace(record, failure="")).failure == ""
