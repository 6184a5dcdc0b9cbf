"""Hosts get the files that were built, and the list of their checksums; what they need besides is asked of them."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.catalogue import building, read
from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.base import Completed, runtimes
from orchestrator.hosts.provision import ansible
from orchestrator.hosts.provision.wheelhouse import Bundle, Target, built_programs
from tests.support.inventories import installed
from tests.support.tiny_language import MAKE, STACK, TOOL, tiny, write_tiny

TARGET = Target(python="3.11.2", machine="x86_64", glibc=(2, 36))
SSH = {"user": "root", "sudo": False}
HOSTS = {"one": {"role": "both", "disk": "one", "address": "198.18.0.10", "ssh": SSH}}


def plan_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stack: str = STACK, **changes: Any) -> Plan:
    services = tmp_path / "services"
    write_tiny(services, **changes)
    monkeypatch.setattr(read, "SERVICES", services)
    assert building.build(tiny(services), services, say=lambda said: None).kind == "built"
    (tmp_path / "x.yaml").write_text(f"name: x\nquestion: Which?\nstacks: [{stack}]\noperations: add\n")
    return make_plan(tmp_path / "x.yaml")


def test_the_tar_has_what_was_built_and_a_list_that_a_host_can_check_it_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(tmp_path, monkeypatch, artifacts=["build/words"], make=f"{MAKE}echo words > build/words\n")
    bundle = built_programs(plan, TARGET, tmp_path / "cache")
    unpacked = tmp_path / "host"
    unpacked.mkdir()
    with tarfile.open(bundle.path) as tar:
        names = tar.getnames()
        tar.extractall(unpacked, filter="tar")
    assert names == ["SHA256SUMS", "tiny/build/respond", "tiny/build/request", "tiny/build/words"]
    assert (unpacked / "tiny/build/respond").stat().st_mode & 0o111
    assert not (unpacked / "tiny/build/words").stat().st_mode & 0o111
    check = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
    assert subprocess.run(check, cwd=unpacked, check=False).returncode == 0
    (unpacked / "tiny/build/respond").write_text("cut")
    done = subprocess.run(check, cwd=unpacked, capture_output=True, text=True, check=False)
    assert (done.returncode, "tiny/build/respond: FAILED" in done.stdout) == (1, True)


def test_equal_programs_are_an_equal_tar_and_others_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(tmp_path, monkeypatch)
    first, again = (built_programs(plan, TARGET, tmp_path / name) for name in ("one", "two"))
    assert first.path.read_bytes() == again.path.read_bytes()
    (tmp_path / "services" / "tiny" / "source" / "respond").write_text("#!/bin/sh\nexit 7\n")
    assert building.build(tiny(tmp_path / "services"), tmp_path / "services", say=lambda said: None).kind == "built"
    other = built_programs(plan, TARGET, tmp_path / "one")
    assert other.digest != first.digest


def test_a_program_for_other_hosts_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(tmp_path, monkeypatch)
    machines = {"linux-x86_64": b"\x3e\x00", "linux-aarch64": b"\xb7\x00"}
    from orchestrator.catalogue.platforms import here
    from tests.support.tiny_language import ELF

    services = tmp_path / "services"
    (services / "tiny" / "source" / "respond").write_bytes(ELF.replace(b"%b", machines[here()]))
    assert building.build(tiny(services), services, say=lambda said: None).kind == "built"
    other = "aarch64" if here() == "linux-x86_64" else "x86_64"
    with pytest.raises(ProvisionError, match=f"respond is a program for {here()}; the hosts are linux-{other}"):
        built_programs(plan, Target(python="3.11.2", machine=other, glibc=(2, 36)), tmp_path / "cache")


def test_hosts_are_told_where_the_programs_are_or_that_there_are_none(tmp_path: Path) -> None:
    bundle = Bundle(path=tmp_path / "x.tar", digest="0123456789ab")
    for programs, path, digest in ((bundle, str(bundle.path), bundle.digest), (None, "", "")):
        of_all = ansible.inventory(HOSTS, tmp_path / "ssh", bundle, installed(HOSTS, bundle, programs))["all"]
        for host_vars in of_all["hosts"].values():
            assert (host_vars["orch_programs"], host_vars["orch_programs_digest"]) == (path, digest)


def host(status: int, said: str) -> Any:
    return SimpleNamespace(
        name="responder-1", run=lambda argv, timeout_s: Completed(returncode=status, stdout=said, stderr="")
    )


def test_a_host_without_what_programs_need_is_named_with_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan_of(tmp_path, monkeypatch, needs=[TOOL])
    language = tiny(tmp_path / "services")
    assert runtimes(language, host(0, "shell 7.3")) == {"sh": "7.3"}
    with pytest.raises(ProvisionError, match="responder-1 cannot run the programs of Tiny: there is no sh on the PATH"):
        runtimes(language, host(127, ""))
    with pytest.raises(ProvisionError, match=r"responder-1 cannot run the programs of Tiny: sh is 6\.9, older than 7"):
        runtimes(language, host(0, "6.9"))
