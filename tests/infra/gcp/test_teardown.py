"""Faults of the cloud: `orch teardown` against a fake Compute API that fails, lies, or belongs to others as well.

The truth is known here: what the fake still holds. A receipt is honest when it claims that nothing is left only where
that is so, when the exit code is 6 otherwise, and when nothing of a stranger's was touched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fake_compute import environment_of, serving

from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.provision.deployments import deployment_id
from orchestrator.workspace import Workspace
from tests.infra.cloud_faults import (
    Fault,
    FaultyCompute,
    build,
    build_network,
    build_strangers,
    done_but_lost,
    failed_operation,
    lost,
    never_done,
    ours,
    post,
    refused,
    unreached,
)
from tests.support.called import Called, orch

FOLDER = Workspace().deployments
RUN = "the-run"
ID = deployment_id(RUN)
OTHER = "o9another"
HOSTS = {"requester-1": "us-west1-a", "responder-1": "us-central1-a"}
INSTANCE = rf"instances/orch-{ID}-responder-1"
_COMPLETE, _INCOMPLETE = 0, 6


@dataclass
class Scene:
    """A project with the run's things in it, a place to call orch from, and what may be changed before it is called."""

    fake: FaultyCompute
    place: Path
    environment: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=lambda: ["teardown", RUN])
    state: str = "up"  # of the written intent; "" is none


@dataclass(frozen=True)
class Case:
    """One fault: what it changes, the exit code that is honest, and what the output must name."""

    name: str
    change: Callable[[Scene], None]
    code: int
    names: str = ""


def _with(*faults: Fault) -> Callable[[Scene], None]:
    """Each case has faults of its own: their counts change."""
    return lambda scene: scene.fake.faults.extend(Fault(f.pattern, f.effect, f.times) for f in faults)


def _another_project(scene: Scene) -> None:
    scene.fake.empty.add("other")
    scene.environment["GOOGLE_PROJECT"] = "other"


def _no_project(scene: Scene) -> None:
    scene.environment |= {"GOOGLE_PROJECT": "", "PATH": "/nowhere"}


def _no_credentials(scene: Scene) -> None:
    scene.environment |= {"GOOGLE_OAUTH_ACCESS_TOKEN": "", "PATH": "/nowhere"}


def _project_out_of_sight(scene: Scene) -> None:
    scene.fake.visible.clear()


def _half_made(scene: Scene) -> None:
    scene.fake.things.clear()
    scene.state = "intended"
    network = build_network(scene.fake, ID)
    rule = {"name": f"orch-{ID}-ssh", "network": network, "description": f"app=orch orch-run={ID}: ssh"}
    post(scene.fake, "global", "firewalls", rule)


def _nothing_made(scene: Scene) -> None:
    scene.fake.things.clear()
    scene.state = "intended"


def _reappears(scene: Scene) -> None:
    """Something makes the instance again as soon as it is deleted."""

    def effect(proceed: Callable[[], tuple[int, dict[str, Any]]]) -> tuple[int, dict[str, Any]]:
        kept = dict(scene.fake.things)
        answer = proceed()
        scene.fake.things.update({path: thing for path, thing in kept.items() if path not in scene.fake.things})
        return answer

    scene.fake.faults.append(Fault(rf"DELETE .*{INSTANCE}", effect))


def _hidden_zone(scene: Scene) -> None:
    """A zone is not reached: what stands in it is missing from the list."""
    scene.fake.faults.append(Fault("GET .*aggregated/instances", unreached("zones/us-central1-a")))


def _second_page_fails(scene: Scene) -> None:
    scene.fake.page_size = 1
    scene.fake.faults.append(Fault("GET .*instances pageToken", refused(500, "no second page")))


def _strangers_vm_in_our_network(scene: Scene) -> None:
    network = f"projects/demo/global/networks/orch-{ID}"
    post(scene.fake, "zones/us-west1-a", "instances", {"name": "theirs", "networkInterfaces": [{"network": network}]})


def _detached_disk(scene: Scene) -> None:
    labels = {"app": "orch", "orch-run": ID}
    post(scene.fake, "zones/us-west1-a", "disks", {"name": f"orch-{ID}-left", "labels": labels})


def _labels_lost(scene: Scene) -> None:
    """Somebody has removed the labels of an instance, and Terraform, which still knows it, cannot destroy."""
    scene.fake.things[f"zones/us-central1-a/instances/orch-{ID}-responder-1"]["labels"] = {}
    _failing_terraform(scene)


def _failing_terraform(scene: Scene) -> None:
    programs = scene.place / "bin"
    programs.mkdir()
    (programs / "terraform").write_text("#!/bin/sh\necho 'Error: 503 from the backend' >&2\nexit 1\n")
    (programs / "terraform").chmod(0o755)
    (scene.place / FOLDER / ID / "variables.tfvars.json").write_text("{}")
    scene.environment["PATH"] = f"{programs}:{os.environ['PATH']}"


def _everything_of_everybody(scene: Scene) -> None:
    scene.words = ["teardown", "--all"]


def _all_but_lists_fail(scene: Scene) -> None:
    """Nothing is written down here, and the project cannot be listed: that is not an empty project."""
    scene.state = ""
    scene.fake.faults.append(Fault("GET", refused(403, "no permission to list")))
    scene.words = ["teardown", "--all"]


CASES = (
    Case("no fault", _with(), _COMPLETE),
    Case("strangers' things with our names, teardown --all", _everything_of_everybody, _COMPLETE),
    Case("the list of instances fails", _with(Fault("GET .*instances", refused(500))), _INCOMPLETE, "instances"),
    Case("403 on everything", _with(Fault("", refused(403, "forbidden"))), _INCOMPLETE, "forbidden"),
    Case("401 on everything", _with(Fault("", refused(401, "expired"))), _INCOMPLETE, "expired"),
    Case("the project is not visible any more", _project_out_of_sight, _INCOMPLETE, "not visible"),
    Case("another project is set", _another_project, _INCOMPLETE, "project demo"),
    Case("no project is set", _no_project, _INCOMPLETE, "project demo"),
    Case("no credentials", _no_credentials, _INCOMPLETE, "credentials"),
    Case("429 on every list", _with(Fault("GET", refused(429, "rate limit"))), _INCOMPLETE, "rate limit"),
    Case("503 on every deletion", _with(Fault("DELETE", refused(503, "unavailable"))), _INCOMPLETE, "unavailable"),
    Case(
        "an operation ends with an error", _with(Fault(f"DELETE .*{INSTANCE}", failed_operation("locked"))), 6, "locked"
    ),
    Case(
        "an operation never ends",
        _with(Fault(f"DELETE .*{INSTANCE}", never_done), Fault("POST .*operation-slow/wait", never_done)),
        _INCOMPLETE,
        "still being deleted",
    ),
    Case("connections drop before a deletion", _with(Fault("DELETE", lost)), _INCOMPLETE, "cannot reach"),
    Case("connections drop after a deletion", _with(Fault(f"DELETE .*{INSTANCE}", done_but_lost)), _COMPLETE),
    Case("the second page of a list fails", _second_page_fails, _INCOMPLETE, "second page"),
    Case("a zone is not reached", _hidden_zone, _INCOMPLETE, "us-central1-a is not reachable"),
    Case("an instance reappears", _reappears, _INCOMPLETE, "still make hosts"),
    Case("a half-made network", _half_made, _COMPLETE),
    Case("nothing was made", _nothing_made, _COMPLETE),
    Case("a stranger's machine in our network", _strangers_vm_in_our_network, _INCOMPLETE, "used by 'theirs'"),
    Case("a disk without its instance", _detached_disk, _COMPLETE),
    Case("Terraform cannot destroy", _failing_terraform, _INCOMPLETE, "terraform could not destroy"),
    Case("an instance without labels that Terraform cannot destroy", _labels_lost, _INCOMPLETE, "terraform could not"),
    Case("teardown --all where no list can be had", _all_but_lists_fail, _INCOMPLETE, "could not be asked"),
)


@pytest.mark.busy
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_receipt_claims_only_what_is_so(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # `teardown --all` would take down what other checkouts have in the lab of this machine.
    monkeypatch.delitem(PROVIDERS, "lab")
    fake = FaultyCompute()
    with serving(fake):
        build(fake, ID, HOSTS)
        scene = Scene(fake=fake, place=tmp_path, environment={"COLUMNS": "10000", **environment_of(fake)})
        (tmp_path / FOLDER / ID).mkdir(parents=True, mode=0o700)
        case.change(scene)
        write_intent(scene)
        strangers = build_strangers(fake, ID) | {path for path in fake.things if path.endswith("/theirs")}
        if "--all" not in scene.words:
            build(fake, OTHER, HOSTS)
            strangers |= {path for path in fake.things if OTHER in path}
        done = orch(*scene.words, cwd=tmp_path, **scene.environment)
    judge(case, scene, strangers, done)


def judge(case: Case, scene: Scene, strangers: set[str], done: Called) -> None:
    text = " ".join(f"{done.stdout} {done.stderr}".split())
    left = ours(scene.fake, ID, strangers)
    gone = strangers - set(scene.fake.things)
    assert not gone, f"a stranger's things were deleted: {sorted(gone)}"
    touched = [path for method, path in scene.fake.requests if method != "GET" and "projects/other/" in path]
    assert not touched, f"another project was touched: {touched}"
    assert "Traceback" not in text, text[-800:]
    assert done.returncode == case.code, f"exit {done.returncode}, not {case.code}: {text[-800:]}"
    assert done.returncode or not left, f"exit 0 with {left}"
    assert not left or "nothing left" not in text, f"nothing left, it says, with {left}: {text[-800:]}"
    assert case.names in text, f"{case.names!r} is not named: {text[-800:]}"
    path = scene.place / FOLDER / ID / "deployment.json"
    if path.exists():
        state = json.loads(path.read_text())["state"]
        assert (state == "down") == (done.returncode == _COMPLETE), f"exit {done.returncode}, and written down: {state}"


def write_intent(scene: Scene) -> None:
    if not scene.state:
        return
    folder = scene.place / FOLDER / ID
    document = {
        "id": ID,
        "run_id": RUN,
        "provider": "gcp",
        "hosts": list(HOSTS),
        "created_at": 1.0,
        "expires_at": 3601.0,
        "cost_usd_per_h": None,
        "state": scene.state,
        "target": {"project": "demo", "endpoint": scene.fake.url},
    }
    (folder / "deployment.json").write_text(json.dumps(document))
