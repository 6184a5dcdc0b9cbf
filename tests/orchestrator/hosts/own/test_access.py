"""How a machine of one's own is reached: what ssh makes of its configuration, and which host keys are known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan.plan import OwnHost
from orchestrator.hosts.own.access import ssh_of

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
OLD = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJhJkfNDp5n6XvJ4Y8q5iBBjLyVvWmFHmVRJj1hFt0gM"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "id_own").touch()
    path = tmp_path / "config"
    path.write_text(
        f"Host rack\n  HostName 10.0.0.5\n  Port 2222\n  User bench\n  ProxyJump first,me@gate:2022\n"
        f"Host carried\n  HostName 10.0.0.6\n  ProxyCommand relay %h %p 100%%\n"
        f"Host named\n  HostName 10.0.0.7\n  HostKeyAlias db\n"
        f"Host *\n  UserKnownHostsFile {tmp_path}/known_hosts\n  GlobalKnownHostsFile {tmp_path}/known_by_all\n"
        f"  IdentityFile {tmp_path}/id_own\n  IdentityFile {tmp_path}/id_none\n"
    )
    return path


def host(config: Path, *words: str) -> OwnHost:
    return OwnHost(name="a", ssh=("-F", str(config), *words))


def test_ssh_itself_resolves_a_name_and_jump_hosts_are_passed_by_ssh(config: Path, tmp_path: Path) -> None:
    (tmp_path / "known_hosts").write_text(f"[10.0.0.5]:2222 {KEY}\n10.0.0.5 {OLD}\n")
    ssh = ssh_of(host(config, "rack"), "orch-o1-a")
    assert (ssh["user"], ssh["host_name"], ssh["port"], ssh["alias"]) == ("bench", "10.0.0.5", 2222, "orch-o1-a")
    assert ssh["known_hosts"] == f"orch-o1-a {KEY}"
    assert ssh["identities"] == [str(tmp_path / "id_own")]
    assert ssh["proxy_command"] == (
        f"ssh -F {config} -o BatchMode=yes -o StrictHostKeyChecking=yes -J first -W '[10.0.0.5]:2222' ssh://me@gate:2022"
    )


def test_a_proxy_command_of_ones_own_is_run_by_a_shell(config: Path, tmp_path: Path) -> None:
    (tmp_path / "known_hosts").write_text(f"10.0.0.6 {KEY}\n")
    assert ssh_of(host(config, "carried"), "x")["proxy_command"] == "sh -c 'exec relay 10.0.0.6 22 100%'"


def test_hashed_names_aliases_and_the_machines_own_file_count(config: Path, tmp_path: Path) -> None:
    known = tmp_path / "known_by_all"
    known.write_text(f"db {KEY}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(known)], check=True, capture_output=True)
    assert "db " not in known.read_text()
    assert ssh_of(host(config, "named"), "x")["known_hosts"] == f"x {KEY}"


@pytest.mark.parametrize(
    "known", ["", f"10.0.0.6 {KEY}\n", f"@cert-authority * {KEY}\n", f"db {KEY}\n@revoked * {KEY}\n"]
)
def test_a_host_key_that_nobody_accepted_is_refused(config: Path, tmp_path: Path, known: str) -> None:
    (tmp_path / "known_hosts").write_text(known)
    with pytest.raises(ProvisionError, match=r"the SSH host key of 10\.0\.0\.7 is not known") as caught:
        ssh_of(host(config, "named"), "x")
    assert "named` shows its fingerprint" in (caught.value.hint or "")


def test_what_ssh_does_not_understand_is_said(config: Path) -> None:
    with pytest.raises(ProvisionError, match="ssh does not understand"):
        ssh_of(host(config, "-p", "no-number", "rack"), "x")
