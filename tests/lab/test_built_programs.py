"""Programs that were built here, on hosts of the lab: shipped without source, held against their checksums, and started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.catalogue import building, builds, read
from orchestrator.clock import SYSTEM
from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.provision import wheelhouse
from orchestrator.hosts.provision.archives import Member, kept, write_tar
from orchestrator.hosts.provision.deployment import RemoteDeployment
from orchestrator.hosts.provision.deployments import Registry
from orchestrator.hosts.provision.takedown import take_down
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.target import Ask
from orchestrator.measure.trial import Bench
from orchestrator.workspace import Workspace
from services.python.contract.lines import Load
from tests.support.lab import CACHE, MACHINE, Diary, on_hosts
from tests.support.tiny_language import ROOT, STACK, TOOL, tiny, write_tiny

pytestmark = on_hosts(600)

EXPERIMENT = f"""\
name: built
question: Does it run?
provider: lab
machine: {MACHINE}
placements:
  - {{name: near, from: us-central1-a, to: us-west1-a, rtt: 4ms}}
stacks: [{STACK}]
operations: add
load: {{requests: 20}}
repeats: 1
limits: {{wall: 10m, ttl: 15m}}
"""
HIDDEN = [Path(name) for name in ("/tmp", "/var/tmp", "/root")]  # where hosts have a folder of their own
PROGRAM = "/opt/orch/programs/tiny/build/respond"


@pytest.fixture
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RemoteDeployment]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORCH_CACHE", str(CACHE))
    services = tmp_path / "services"
    write_tiny(services, needs=[{**TOOL, "version": ["sh", "-c", "echo 7.1; test ! -e /opt/no-shell || exit 1"]}])
    monkeypatch.setattr(read, "SERVICES", services)
    assert building.build(tiny(services), services, say=lambda said: None).kind == "built"
    (tmp_path / "x.yaml").write_text(EXPERIMENT)
    made = RemoteDeployment(make_plan(tmp_path / "x.yaml"), Diary(Path(f"results/built-{os.getpid()}")), Workspace())
    made.provision()
    yield made
    registry = Registry(Workspace().deployments)
    for intent in registry.standing():
        take_down(registry, intent)


def made_anew(path: Path, make: Callable[[Path], None]) -> Path:
    """Return a file of programs that no later deployment finds."""
    if not path.name.startswith("programs-"):
        return kept(path, make)
    spoilt = path.with_name(f"spoilt-{os.getpid()}.tar")
    make(spoilt)
    return spoilt


def write_spoilt(tar: Path, members: Iterable[Member]) -> None:
    """Write a bundle whose program is cut off on its way."""
    first, second, *rest = members
    if first.name == "SHA256SUMS":
        second = replace(second, content=second.content[:50])
    write_tar(tar, [first, second, *rest])


@pytest.mark.skipif(
    any(ROOT.is_relative_to(place) for place in HIDDEN),
    reason="the tests' own language starts what is in this checkout, which hosts of the lab do not see where it is",
)
def test_programs_reach_hosts_as_they_were_built_and_are_put_right_where_they_are_not(
    deployment: RemoteDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(wheelhouse, "write_tar", write_spoilt)
        patch.setattr(wheelhouse, "kept", made_anew)
        with pytest.raises(ProvisionError, match=r"tiny/build/respond: FAILED"):
            deployment.deploy()

    fleet = deployment.deploy()
    built = builds.artifact(read.SERVICES / "tiny" / "build" / "respond")
    requester, responder = (fleet.members[name] for name in ("requester-1", "responder-1"))
    for host in (requester, responder):
        assert host.run(["sha256sum", PROGRAM], timeout_s=30).stdout.split()[0] == built.sha256
        assert host.run(["ls", "/opt/orch/programs/tiny"], timeout_s=30).stdout.split() == ["build"], "no source"
        assert host.run(["test", "-e", "/opt/orch/code/services/tiny"], timeout_s=30).returncode == 1

    bench = Bench(clock=SYSTEM, interrupts=Interrupts(), on_progress=lambda line: None)
    ask = Ask(protocol="tcp", responder="reference", client="reference", operation="add", load=Load(requests=20))
    outcome = bench.make(ask, fleet.pair("near"), "built")
    assert outcome.failure is None, outcome.failure
    assert outcome.target.ready.implementation == "reference"

    again = deployment.deploy()
    assert again.describe()["tasks_changed"] == 0
    again.members["responder-1"].run(["sh", "-c", f"echo cut > {PROGRAM}"], timeout_s=30)
    mended = deployment.deploy()
    assert mended.describe()["tasks_changed"] > 0
    assert mended.members["requester-1"].run(["sha256sum", PROGRAM], timeout_s=30).stdout.split()[0] == built.sha256

    mended.members["responder-1"].run(["touch", "/opt/no-shell"], timeout_s=30)
    with pytest.raises(ProvisionError, match=r"(requester|responder)-1 cannot run the programs of Tiny: "):
        deployment.deploy()
