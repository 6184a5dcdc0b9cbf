"""A container as a host, by an engine that runs commands in this machine's own processes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan.plan import OwnHost
from orchestrator.hosts.base import HostLost
from orchestrator.hosts.own.access import reached
from orchestrator.hosts.remote.container import Container
from orchestrator.hosts.remote.host import RemoteHost
from orchestrator.hosts.remote.ssh import NoAnswer

ENGINE = """\
#!/bin/sh
cd "$(dirname "$0")"
case $1 in
exec) test -e "$3.json" || { echo "No such container: $3" >&2; exit 1; }; shift 3; exec "$@" ;;
inspect) cat "$4.json" 2>/dev/null || { echo "no such object: $4" >&2; exit 1; } ;;
ps) test -e "${5#id=}.json" && echo 1 || true ;;
esac
"""
WAIT_S = 30.0
pytestmark = [pytest.mark.busy, pytest.mark.timeout(120)]


def facts(*, running: bool = True, **networks: str) -> list[dict[str, Any]]:
    """What an engine says of the container `web`."""
    addresses = {name: {"IPAddress": address} for name, address in networks.items()}
    return [{"Id": "web", "State": {"Running": running}, "NetworkSettings": {"Networks": addresses}}]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an engine called podman, which knows a container `web`."""
    folder = tmp_path / "engine"
    folder.mkdir()
    (folder / "podman").write_text(ENGINE)
    (folder / "podman").chmod(0o755)
    (folder / "web.json").write_text(json.dumps(facts(shop="198.18.0.2")))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


@pytest.fixture
def host(engine: Path, tmp_path: Path) -> Iterator[RemoteHost]:
    access = Container(name="responder", engine="podman", id="web")
    made = RemoteHost(name="responder", address="", access=access, workspace=PurePosixPath(tmp_path / "workspace"))
    (tmp_path / "workspace").mkdir()
    yield made
    made.close()


def test_commands_and_processes_run_there(host: RemoteHost) -> None:
    done = host.run(["sh", "-c", "echo out; echo err >&2; exit 7"], timeout_s=WAIT_S)
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err\n")
    process = host.start(["sh", "-c", "read -r line; echo got $line; cat; echo last >&2; exit 3"])
    process.send("a line")
    assert process.read(WAIT_S) == "got a line"
    with pytest.raises(TimeoutError):
        process.read(0.1)
    process.close_stdin()
    assert process.read(WAIT_S) is None
    assert (process.end(), process.last_words()) == (3, "last\n")


def test_a_process_that_does_not_end_is_killed(host: RemoteHost) -> None:
    process = host.start(["sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done"])
    assert process.read(WAIT_S) == "up"
    assert process.end(grace_s=0.5) == -1


def test_files_go_there_and_back_whole(host: RemoteHost, tmp_path: Path) -> None:
    local = tmp_path / "key"
    local.write_bytes(os.urandom(3 << 20))
    local.chmod(0o600)
    there = host.put(local, "key")
    assert Path(there).stat().st_mode & 0o777 == 0o600
    host.fetch(there, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == local.read_bytes()
    assert list((tmp_path / "workspace").iterdir()) == []
    with pytest.raises(FileNotFoundError):
        host.fetch(there, tmp_path / "again")


def test_a_folder_that_cannot_be_written_to_is_said(host: RemoteHost, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(os.urandom(1 << 20))
    with pytest.raises(ProvisionError, match=r"responder cannot store .*: .*nonexistent"):
        host.put(tmp_path / "key", "none/key")


def test_a_container_that_ends_is_lost_and_comes_back_with_its_name(host: RemoteHost, engine: Path) -> None:
    process = host.start(["sh", "-c", "echo $$; exec cat"])
    pid = int(process.read(WAIT_S) or 0)
    waiting = host.session._waiting._program  # type: ignore[union-attr]
    (engine / "web.json").rename(engine / "stopped")
    for each in (waiting.pid, pid):
        os.kill(each, signal.SIGKILL)
    with pytest.raises(HostLost, match="responder does not answer any more"):
        process.read(WAIT_S)
    with pytest.raises(HostLost, match="responder runs no command: No such container: web"):
        host.run(["true"], timeout_s=WAIT_S)
    assert isinstance(host.access, Container)
    assert host.access.is_gone()
    (engine / "stopped").rename(engine / "web.json")
    assert not host.access.is_gone()
    assert host.run(["true"], timeout_s=WAIT_S).returncode == 0


def test_a_container_that_runs_no_command_is_refused(host: RemoteHost, engine: Path) -> None:
    (engine / "web.json").unlink()
    with pytest.raises(NoAnswer, match="responder runs no command: No such container: web"):
        host.run(["true"], timeout_s=WAIT_S)


@pytest.mark.parametrize(
    ("networks", "address"), [({"shop": "198.18.0.2", "other": "198.18.9.2"}, "198.18.0.2"), ({"host": ""}, "")]
)
def test_its_address_is_the_first_that_its_networks_give_it(
    engine: Path, networks: dict[str, str], address: str
) -> None:
    (engine / "web.json").write_text(json.dumps(facts(**networks)))
    output = reached(OwnHost(name="responder", container="web"), "x")
    assert output == {"container": {"engine": "podman", "id": "web"}, "address": address}


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("no engine", "responder: no engine knows a container web: neither docker nor podman is installed here"),
        ("no container", "responder: no engine knows a container web: podman: no such object: web"),
        ("stopped", "responder: the container web is not running"),
    ],
)
def test_what_is_no_running_container_is_refused(
    engine: Path, monkeypatch: pytest.MonkeyPatch, case: str, words: str
) -> None:
    if case == "no engine":
        monkeypatch.setenv("PATH", "/nowhere")
    elif case == "no container":
        (engine / "web.json").unlink()
    else:
        (engine / "web.json").write_text(json.dumps(facts(running=False)))
    with pytest.raises(ProvisionError) as caught:
        reached(OwnHost(name="responder", container="web"), "x")
    assert words in caught.value.message
