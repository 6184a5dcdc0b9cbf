"""Containers of a real engine for tests: out of this machine's own programs, with an ordinary user in each."""

from __future__ import annotations

import io
import secrets
import shutil
import subprocess
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

USER, UID = "bench", 20_001
_FOLDERS = {"tmp": 0o1777, "var/tmp": 0o1777, "root": 0o700, "etc": 0o755, "usr": 0o755, f"home/{USER}": 0o755}
_SHARED = ("/usr", "/etc/alternatives", "/etc/ld.so.cache")


def engines() -> list[str]:
    """Return the engines that answer here."""
    there = [engine for engine in ("docker", "podman") if shutil.which(engine)]
    return [e for e in there if subprocess.run([e, "ps"], capture_output=True, check=False).returncode == 0]


ENGINES = engines()
needs_engine = pytest.mark.skipif(not ENGINES, reason="neither docker nor podman runs containers here")


def _image() -> bytes:
    """Return an image with no program: folders, links into /usr as this machine has them, and accounts."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as tar:
        for name, mode in _FOLDERS.items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.uid = tarfile.DIRTYPE, mode, UID if USER in name else 0
            tar.addfile(entry)
        for link in filter(Path.is_symlink, (Path("/bin"), Path("/sbin"), Path("/lib"), Path("/lib64"))):
            entry = tarfile.TarInfo(link.name)
            entry.type, entry.linkname = tarfile.SYMTYPE, str(link.readlink())
            tar.addfile(entry)
        for name, text in (
            ("etc/passwd", f"root:x:0:0::/root:/bin/sh\n{USER}:x:{UID}:{UID}::/home/{USER}:/bin/sh\n"),
            ("etc/group", f"root:x:0:\n{USER}:x:{UID}:\n"),
        ):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return output.getvalue()


@dataclass
class Containers:
    """Containers of an engine, by the names that a test gives them."""

    engine: str
    id: str = field(default_factory=lambda: f"orch-test-{secrets.token_hex(3)}")
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._call("import", "-", self.id, given=_image())

    def _call(self, *words: str, given: bytes | None = None) -> str:
        done = subprocess.run([self.engine, *words], input=given, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def add(self, name: str, *options: str, user: str = USER) -> str:
        """Start a container; its name for the engine."""
        mounts = [word for path in _SHARED if Path(path).exists() for word in ("-v", f"{path}:{path}:ro")]
        limits = ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"]
        called = f"{self.id}-{name}"
        self._call("run", "-d", "--name", called, "--user", user, *limits, *mounts, *options, self.id, "sleep", "3600")
        self.names.append(called)
        return called

    def shell(self, called: str, script: str) -> str:
        """As root, in the container."""
        return self._call("exec", "--user", "root", called, "sh", "-c", script)

    def files(self, called: str) -> list[str]:
        """All that is in the account's home."""
        return self.shell(called, f"find /home/{USER} -mindepth 1").splitlines()

    def pid(self, called: str) -> int:
        """The container's first process."""
        return int(self._call("inspect", "--format", "{{.State.Pid}}", called))

    def end(self, called: str, verb: str = "kill") -> None:
        """Kill, start or remove a container."""
        self._call(verb, *(["-f"] if verb == "rm" else []), called)

    def close(self) -> None:
        for called in self.names:
            subprocess.run([self.engine, "rm", "-f", called], capture_output=True, check=False)
        self._call("rmi", "-f", self.id)
