"""What is sent to hosts: a wheelhouse for their Python and platform, the code of `services`, and what was built here.

Each is one tar, named by its content, made once on the controller and kept (`archives`). A host needs no network of its
own to install them. Sources and toolchains stay here; a host checks each built file against the list that came with it.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement

from orchestrator.catalogue.platforms import named
from orchestrator.catalogue.read import catalogue
from orchestrator.errors import ProvisionError, on_one_line
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import needed_languages, require_programs
from orchestrator.hosts.provision.archives import Member, kept, write_tar
from services.python.contract.source import digest as digest_of
from services.python.contract.source import source_digest, source_files

_DIGITS = 12  # of a digest, in a file's name
_SUMS = "SHA256SUMS"  # as `sha256sum --check` reads it

_HASH = re.compile(r"--hash=(\S+)")


@dataclass(frozen=True, kw_only=True)
class Target:
    """A host's Python as it says itself: version "3.11.2", machine "x86_64", glibc (2, 36)."""

    python: str
    machine: str
    glibc: tuple[int, int]

    @property
    def platform(self) -> str:
        return named("linux", self.machine)

    @property
    def short(self) -> str:
        return ".".join(self.python.split(".")[:2])

    @property
    def shares_bytecode(self) -> bool:
        """Whether what this Python compiles is what that one loads: the same CPython but for its patch level."""
        return sys.implementation.cache_tag == f"cpython-{self.short.replace('.', '')}"

    def platforms(self) -> list[str]:
        """The wheel platform tags that run there, newest first (PEP 600 and its predecessors)."""
        major, minor = self.glibc
        tags = [f"manylinux_{major}_{m}_{self.machine}" for m in range(minor, 4, -1)]
        legacy = {"manylinux2014": 17, "manylinux2010": 12, "manylinux1": 5}
        return [*tags, *(f"{name}_{self.machine}" for name, needs in legacy.items() if minor >= needs)]

    def marker_environment(self) -> dict[str, str]:
        """What the lock's environment markers are evaluated against (PEP 508)."""
        return {
            **{k: str(v) for k, v in default_environment().items()},
            "python_version": self.short,
            "python_full_version": self.python,
            "implementation_version": self.python,
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "platform_machine": self.machine,
            "platform_system": "Linux",
            "sys_platform": "linux",
            "os_name": "posix",
        }


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A tar to send, and the first 12 hex digits of the SHA-256 of what it was made from."""

    path: Path
    digest: str


def for_target(lock_text: str, target: Target) -> str:
    """The lock's requirements that apply on the target, without markers, hashes kept.

    pip evaluates markers for the Python that runs it, not for the one it downloads for; so they are evaluated here.
    """
    lines = []
    for requirement, hashes in _entries(lock_text):
        if requirement.marker is None or requirement.marker.evaluate(target.marker_environment()):
            options = " ".join(f"--hash={h}" for h in hashes)
            lines.append(f"{requirement.name}{requirement.specifier} {options}\n")
    return "".join(lines)


def _entries(lock_text: str) -> Iterator[tuple[Requirement, list[str]]]:
    for entry in re.sub(r"\\\n", " ", lock_text).splitlines():
        text = entry.split(" --hash=")[0].strip()
        if text and not text.startswith("#"):
            yield Requirement(text), _HASH.findall(entry)


def wheelhouse(lock: Path, target: Target, cache: Path) -> Bundle:
    """The tar with the lock and its wheels for the target, downloaded once; ProvisionError when pip cannot.

    The wheels' bytecode is in it where the target shares it: compiled once here instead of on every host.
    """
    requirements = for_target(lock.read_text(), target)
    compiled = b"compiled" if target.shares_bytecode else b""
    parts = (requirements.encode(), target.short.encode(), target.machine.encode(), compiled)
    digest = digest_of(parts)[:_DIGITS]

    def make(tar: Path) -> None:
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            folder = Path(scratch, "wheelhouse")
            folder.mkdir()
            (folder / "requirements.lock").write_text(requirements)
            _download(folder, target)
            if compiled:
                _add_bytecode(folder)
            write_tar(tar, _members(sorted(folder.iterdir()), folder.parent))

    return Bundle(path=kept(cache / f"wheelhouse-{digest}.tar", make), digest=digest)


def _download(folder: Path, target: Target) -> None:
    platforms = [word for tag in target.platforms() for word in ("--platform", tag)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--only-binary", ":all:", "--python-version", target.short, *platforms]
    command += ["--implementation", "cp", "--dest", str(folder), "-r", str(folder / "requirements.lock")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ProvisionError(
            f"no wheels for Python {target.short} on {target.machine}: pip says {on_one_line(done.stderr, 600)}",
            hint="the controller needs a package index that pip can reach; see `pip config list`",
        )


def _add_bytecode(folder: Path) -> None:
    """Put the bytecode of the folder's wheels beside them, as a tar to unpack where they are installed.

    By hash and unchecked: an installed file's time is that of its installation. No file of a venv named by its content
    changes. Paths are stripped; on import Python puts the source's own path in their place.
    """
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        sources = Path(scratch, "sources")
        for wheel in folder.glob("*.whl"):
            if not wheel.name.startswith("pip-"):  # which is not installed on a host
                shutil.unpack_archive(wheel, sources, "zip")
        # -I: no PYTHONPYCACHEPREFIX may put it elsewhere. A file that does not compile is not one that is imported.
        command = [sys.executable, "-I", "-W", "ignore", "-m", "compileall", "-q", "-j", "0", "-s", str(sources)]
        command += ["--invalidation-mode", "unchecked-hash", str(sources)]
        subprocess.run(command, capture_output=True, check=False)
        tar = Path(scratch, "bytecode.tar")
        write_tar(tar, _members(sorted(sources.rglob("*.pyc")), sources))
        (folder / "bytecode.tar.gz").write_bytes(gzip.compress(tar.read_bytes(), compresslevel=6, mtime=0))


def code(root: Path, cache: Path) -> Bundle:
    """The tar with the source of `services`, from the checkout at `root`."""
    files, digest = source_files(root), source_digest(root)[:_DIGITS]
    tar = kept(cache / f"services-{digest}.tar", lambda path: write_tar(path, _members(files, root)))
    return Bundle(path=tar, digest=digest)


def _members(files: Iterable[Path], root: Path) -> Iterator[Member]:
    return (Member(name=str(file.relative_to(root)), content=file.read_bytes()) for file in files)


def built_programs(plan: Plan, target: Target, cache: Path) -> Bundle | None:
    """What hosts of that kind need of the languages of a plan; None where none of them has files of its own.

    UsageError where something is not built as it should be, ProvisionError where it was built for other hosts.
    """
    built = require_programs(plan)
    files = []
    for language in needed_languages(plan):
        folder = catalogue().folder / language.name
        for name in language.artifacts:
            path = folder / name
            mode = 0o755 if os.access(path, os.X_OK) else 0o644
            file = Member(name=f"{language.name}/{name}", content=_content(path), mode=mode)
            recorded = built[language.name].artifacts[name] if language.name in built else None
            if recorded is not None and recorded.platform not in ("", target.platform):
                raise ProvisionError(
                    f"{path} is a program for {recorded.platform}; the hosts are {target.platform}",
                    hint=f"build it on {target.platform}, or choose another machine type",
                )
            files.append(file)
    if not files:
        return None
    parts = (part for file in files for part in (file.name.encode(), file.content, oct(file.mode).encode()))
    digest = digest_of(parts)[:_DIGITS]
    sums = "".join(f"{hashlib.sha256(file.content).hexdigest()}  {file.name}\n" for file in files)
    members = [Member(name=_SUMS, content=sums.encode()), *files]
    return Bundle(path=kept(cache / f"programs-{digest}.tar", lambda path: write_tar(path, members)), digest=digest)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ProvisionError(
            f"{path} cannot be read: {error.strerror}", hint="`orch services` shows what is built"
        ) from error
