"""Machines of one's own for tests: namespaces with an SSH server on a network, and an ordinary user to log in as."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

USER, UID = "bench", 20_001
_UP_S = 10.0
_SSHD = """\
HostKey /run/own/host_key
AuthorizedKeysFile /run/own/authorized_keys
Port 22
AuthenticationMethods publickey
UsePAM no
StrictModes no
UseDNS no
PidFile none
PrintMotd no
MaxSessions 64
MaxStartups 100
LogLevel ERROR
Subsystem sftp internal-sftp
"""
# In namespaces of its own: own /tmp and homes, an account, and a first process with which everything ends.
_FURNISH = """\
set -eu
mount --make-rslave /
mount -t tmpfs -o mode=755 none /run
mkdir /run/sshd /run/own
mount --bind {folder} /run/own
mount -t tmpfs -o mode=1777,size={tmp_mb}m none /tmp
mount -t tmpfs -o mode=755,size={home_mb}m none /home
install -d -m 0755 -o {uid} -g {uid} /home/{user}
for file in passwd group shadow; do mount --bind /run/own/$file /etc/$file; done
hostname {name}
exec /usr/sbin/sshd -D -e -f /run/own/sshd_config
"""


def run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)


def make_key(path: Path) -> str:
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path))
    return path.with_suffix(".pub").read_text().strip()


@dataclass
class Machine:
    """A host of `Network`: pid of what holds its namespaces, and its address."""

    name: str
    address: str
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def files(self) -> list[str]:
        """All that is in the account's home."""
        found = subprocess.run(
            [*self._enter(), "find", f"/home/{USER}", "-mindepth", "1"], capture_output=True, text=True, check=True
        )
        return found.stdout.splitlines()

    def shell(self, script: str) -> str:
        """As root, on the host."""
        done = subprocess.run([*self._enter(), "sh", "-c", script], capture_output=True, text=True, check=True)
        return done.stdout

    def _enter(self) -> list[str]:
        # unshare waits for the first process of the new namespaces, its only child.
        first = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[0]
        return ["nsenter", f"--target={first}", "--all", "--"]

    def cut(self) -> None:
        """No packet comes from it or gets there."""
        run("ip", "-n", self.process.args[3], "link", "set", "eth0", "down")  # type: ignore[index]

    def join(self) -> None:
        """It is back on the network."""
        run("ip", "-n", self.process.args[3], "link", "set", "eth0", "up")  # type: ignore[index]

    def vanish(self) -> None:
        """Everything on it ends at once, and nobody says goodbye."""
        self.cut()
        self.end()

    def end(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@dataclass
class Network:
    """A bridge on this machine with hosts on it, all within 198.19.0.0/16."""

    folder: Path
    id: str = field(default_factory=lambda: secrets.token_hex(2))
    machines: dict[str, Machine] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bridge = f"orchb{self.id}"
        self.network = f"198.19.{int(self.id[:2], 16)}"
        run("ip", "link", "add", self.bridge, "type", "bridge")
        run("ip", "address", "add", f"{self.network}.1/24", "dev", self.bridge)
        run("ip", "link", "set", self.bridge, "up")
        self.public = make_key(self.folder / "user")
        (self.folder / "known_hosts").touch()
        (self.folder / "config").write_text(
            f"Host *\n  IdentityFile {self.folder}/user\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {self.folder}/known_hosts\n"
        )

    def add(self, name: str, *, home_mb: int = 2_000, key: str | None = None, known: bool = True) -> Machine:
        """A host; `key` may be another than the one we have, and `known` false for a host key that nobody knows."""
        number = len(self.machines) + 2
        namespace, address = f"orcho{self.id}{number}", f"{self.network}.{number}"
        folder = self.folder / name
        folder.mkdir()
        host_key = make_key(folder / "host_key")
        (folder / "sshd_config").write_text(_SSHD)
        (folder / "authorized_keys").write_text(f"{key or self.public}\n")
        for file, line in (
            ("passwd", f"{USER}:x:{UID}:{UID}::/home/{USER}:/bin/bash"),
            ("group", f"{USER}:x:{UID}:"),
            ("shadow", f"{USER}:*:19000:0:99999:7:::"),
        ):
            (folder / file).write_text(f"{Path('/etc', file).read_text().rstrip()}\n{line}\n")
        if known:
            with (self.folder / "known_hosts").open("a") as lines:
                lines.write(f"{address} {' '.join(host_key.split()[:2])}\n")
        run("ip", "netns", "add", namespace)
        run("ip", "link", "add", f"{namespace}v", "type", "veth", "peer", "name", "eth0", "netns", namespace)
        run("ip", "link", "set", f"{namespace}v", "master", self.bridge, "up")
        for words in (("address", "add", f"{address}/24", "dev", "eth0"), ("link", "set", "eth0", "up")):
            run("ip", "-n", namespace, *words)
        run("ip", "-n", namespace, "link", "set", "lo", "up")
        script = _FURNISH.format(folder=folder, name=name, user=USER, uid=UID, tmp_mb=64, home_mb=home_mb)
        unshare = ["unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                ["ip", "netns", "exec", namespace, *unshare, "sh", "-c", script],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        machine = self.machines[name] = Machine(name, address, folder, process)
        self._await(machine)
        return machine

    def _await(self, machine: Machine) -> None:
        deadline = time.monotonic() + _UP_S
        command = ["ssh-keyscan", "-T", "2", "-t", "ed25519", machine.address]
        while not subprocess.run(command, capture_output=True, check=False).stdout:
            assert time.monotonic() < deadline, (machine.folder / "log").read_text()
            time.sleep(0.1)

    def join(self, pid: int) -> str:
        """Give a network namespace, which a process names, a place on the bridge; its address."""
        address, far = f"{self.network}.99", f"orchj{self.id}"
        run("ip", "link", "add", far, "type", "veth", "peer", "name", "eth0", "netns", str(pid))
        run("ip", "link", "set", far, "master", self.bridge, "up")
        for words in (("address", "add", f"{address}/24", "dev", "eth0"), ("link", "set", "eth0", "up")):
            run("nsenter", f"--target={pid}", "--net", "ip", *words)
        return address

    def ssh(self, name: str) -> str:
        """What an experiment says of a host."""
        return f"-F {shlex.quote(str(self.folder / 'config'))} {USER}@{self.machines[name].address}"

    def close(self) -> None:
        for machine in self.machines.values():
            machine.end()
        for number in range(2, len(self.machines) + 2):
            run("ip", "netns", "del", f"orcho{self.id}{number}")
        run("ip", "link", "del", self.bridge)
        shutil.rmtree(self.folder, ignore_errors=True)
