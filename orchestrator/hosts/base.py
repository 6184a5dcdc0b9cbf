"""What the run loop knows of a host, and short questions to one. `hosts.local` and `hosts.remote` implement it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, TypeVar

from orchestrator.catalogue.offers import Language
from orchestrator.catalogue.read import catalogue
from orchestrator.catalogue.toolchains import judged
from orchestrator.contract_lines import any_of, heard
from orchestrator.errors import ProvisionError, on_one_line
from services.python.contract.description import Description
from services.python.contract.ping_lines import Ping, PingDone
from services.python.contract.requester_lines import Failed

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Completed:
    """How a short command ended."""

    returncode: int
    stdout: str
    stderr: str


class HostLost(Exception):
    """The host, or the way to it, is gone; what it still runs is unknown."""


class ContractBroken(ValueError):
    """A process printed what none of the contract prints (a line without end, say); it was ended, or will be at once."""


class Process(Protocol):
    """A process of the contract: lines in, lines out, its last words kept."""

    def send(self, line: str) -> None:
        """One line to its stdin; BrokenPipeError when it is gone, or does not read."""

    def read(self, timeout_s: float) -> str | None:
        """The next line of its stdout without the line end; None at end of output.

        TimeoutError after `timeout_s`, also while data arrives; ContractBroken when it prints more than it may. HostLost
        when the output ended because the host is gone.
        """

    def close_stdin(self) -> None:
        """End of input: a responder ends, a requester starts none."""

    def end(self, grace_s: float = 5.0) -> int:
        """End it if it still runs (closed stdin, SIGTERM, SIGKILL after `grace_s`); the exit status. Idempotent."""

    def last_words(self) -> str:
        """The tail of its stderr, at most 4,000 characters."""


class Host(Protocol):
    """A machine that can be reached, with an address on the measured network."""

    name: str
    address: str
    workspace: PurePosixPath
    services: PurePosixPath  # the folder with one for each language that has files of its own, as it lies there

    def python(self) -> Sequence[str]:
        """How to start this host's Python with `services` importable: an argv prefix."""

    def start(self, argv: Sequence[str], *, cpus: str | None = None) -> Process:
        """Start a process of the contract, on those CPUs only (a list as taskset takes it) where the host can pin."""

    def run(self, argv: Sequence[str], *, timeout_s: float) -> Completed:
        """Run a short command to its end."""

    def put(self, local: Path, name: str) -> PurePosixPath:
        """Copy a file and who may read it into the workspace (unless it is there with its SHA-256); its path on the host."""

    def fetch(self, remote: PurePosixPath, local: Path) -> None:
        """Move a file here from the host; whole or not at all, verified by SHA-256 where it crosses a network.

        FileNotFoundError when the host has no such file.
        """

    def facts(self) -> Description:
        """The host's environment for the manifest, as the program of that role prints it."""


@dataclass(frozen=True)
class Pair:
    """The two ends of a placement: N requesters against one responder, and the CPUs each is pinned to.

    `more_cpus`: those of a host's second requester process, of its third, and so on, as far as there are any. `database`:
    the DSN of the server of PostgreSQL in the responder's zone, where a host was made for it.
    """

    requesters: tuple[Host, ...]
    responder: Host
    requester_cpus: str | None = None
    responder_cpus: str | None = None
    more_cpus: tuple[str, ...] = ()
    database: str = field(default="", repr=False)

    def asked_from(self, hosts: int) -> Pair:
        """The same ends with so many of its requesters, the first ones."""
        return replace(self, requesters=self.requesters[:hosts])

    def cpus_of(self, process: int) -> str | None:
        """What requester process `process` (from 0) of a host is pinned to; where there are fewer CPUs, they take turns."""
        if self.requester_cpus is None:
            return None
        cpus = (self.requester_cpus, *self.more_cpus)
        return cpus[process % len(cpus)]


class Fleet(Protocol):
    """All hosts of a run."""

    def pair(self, placement_id: str) -> Pair:
        """The hosts of a placement."""

    def hosts(self) -> Sequence[Host]:
        """Every host once."""

    def describe(self) -> dict[str, Any]:
        """Provider, link, deployment id and expiry for the manifest."""

    def beside_cpu_s(self) -> float | None:
        """CPU seconds that the measurement has used beside its hosts on their machine: orch, a link's program.

        None where orch does not run on their machine.
        """

    def fault(self) -> str | None:
        """What of the hosts or of the way between them is gone, asked anew; None when all is there."""


def described(host: Host, who: str, hint: str, *options: str, timeout_s: float) -> Description:
    """What a host says of itself; ProvisionError with the hint where its program does not, or not as the contract has it."""
    argv = [*catalogue().of_role("describe").argv("describe", host), *options]
    try:
        done = host.run(argv, timeout_s=timeout_s)
        if done.returncode:
            why = f"`{shlex.join(argv)}` ended with {done.returncode}: {on_one_line(done.stderr, 500)}"
            raise ProvisionError(f"{who} cannot describe itself: {why}", hint=hint)
        return heard(Description, done.stdout, "host")
    except TimeoutError as error:
        raise ProvisionError(f"{who} cannot describe itself: {error}", hint=hint) from error
    except ValueError as error:
        raise ProvisionError(f"cannot read the description of {who}: {error}") from error


def at_once(do: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
    """Do it with all hosts at the same time; what came of it in the hosts' order."""
    with ThreadPoolExecutor(max_workers=16) as pool:
        return list(pool.map(do, *arguments))


_ANSWER_S = 30.0


def ping(host: Host, request: Ping, *, cpus: str | None = None, patience_s: float | None = None) -> PingDone:
    """The program's `done` line (protos/process.md), of a process pinned to `cpus`.

    Without `patience_s` it may take as long as all time-outs together, and 30 s more. ValueError says why there is no
    such line, TimeoutError that none came in time.
    """
    process = host.start(catalogue().of_role("ping").argv("ping", host), cpus=cpus)
    try:
        process.send(request.to_json())
        text = process.read(_ANSWER_S + request.count * request.timeout_s if patience_s is None else patience_s)
    finally:
        process.end()
    if text is None:
        words = process.last_words().strip().splitlines()
        raise ValueError(words[-1] if words else "it ended without an answer")
    answer: PingDone | Failed = any_of((PingDone, Failed), text, "ping")
    if isinstance(answer, Failed):
        raise ValueError(answer.message)
    return answer


_PATIENCE_S = 60.0


def runtimes(language: Language, host: Host) -> dict[str, str]:
    """The versions of what the language needs, by program; ProvisionError where the host has not got it, or an older one."""
    versions = {}
    for tool in language.needs:
        try:
            done = host.run(tool.version, timeout_s=_PATIENCE_S)
            looked = judged(tool, done.returncode, f"{done.stdout}\n{done.stderr}")
        except FileNotFoundError:  # a host that is this machine starts it without a shell
            looked = judged(tool, 127, "")
        if looked.why:
            raise ProvisionError(
                f"{host.name} cannot run the programs of {language.title}: {looked.why}"
                f" (asked by `{shlex.join(tool.version)}`)",
                hint=tool.install,
            )
        versions[tool.program] = looked.version or ""
    return versions
