"""A service of the person's own, started afresh on its host for each trial and ended with it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar

from orchestrator.catalogue.read import catalogue
from orchestrator.experiment.plan.plan import Start
from orchestrator.hosts.base import ContractBroken, Host, Process
from orchestrator.measure.target import STATS_S, Program, TrialFailed, of_contract
from services.python.contract.lines import Target as Address
from services.python.contract.responder_lines import Own, Ready, Stats
from services.python.contract.templates import render

_LAST_LINES = 3
_DIES_WITHIN_S = 0.5  # after a requester has seen that nobody answers any more


def held(host: Host, own: Own, cpus: str | None = None) -> Process:
    """Start the program that runs a person's own command on a host; BrokenPipeError where it does not."""
    process = host.start(catalogue().of_role("own").argv("own", host), cpus=cpus)
    process.send(own.to_json())
    return process


def environment_of(start: Start) -> dict[str, str]:
    """The environment of a service or of its build, with the values of secrets."""
    return {name: render(value, {}, os.environ) for name, value in start.env.items()}


def last_lines(process: Process) -> str:
    """What an ended process has said last, in a clause."""
    lines = process.last_words().strip().splitlines()[-_LAST_LINES:]
    return f", whose last words are: {' / '.join(lines)}" if lines else ", without a word"


@dataclass(kw_only=True)
class Started(Program):
    """A person's own service, started on the responder's CPUs for one trial and ended with its process tree.

    `folder` is on the responder's host. `answered` and `peers` of its stats are 0: it does not count for us.
    """

    start_as: Start
    folder: str
    connections: int = 0  # as many as requesters keep open at once
    called: ClassVar[str] = "the service's holder"

    def start(self) -> None:
        """Start it on a port that is free now."""
        start, host = self.start_as, self.pair.responder
        own = Own(
            argv=list(start.argv),
            folder=self.folder,
            address=host.address,
            output=str(PurePosixPath(host.workspace) / "service"),
            ready=start.ready,
            ready_at=start.ready_at,
            env=environment_of(start),
        )
        try:
            self._process = held(host, own, self.pair.responder_cpus)
        except BrokenPipeError:
            raise TrialFailed("start", "responder-died", "the program that holds the service died") from None

    def await_ready(self) -> Address:
        start = self.start_as
        hung = f"was not ready by {start.ready} within {start.within_s:g} s"
        line = self.line("start", start.within_s, hung, "ended before it was ready")
        ready = of_contract(Ready, line, "start")
        if ready.open_files is not None and ready.open_files <= self.connections:
            few = f"the service may have {ready.open_files} files open, too few for {self.connections} connections"
            raise TrialFailed("start", "exhausted", f"{few}: raise `ulimit -n` where it is started")
        return Address(host=self.pair.responder.address, port=ready.port, anonymous=True)

    def stats(self, stage: str) -> Stats:
        """CPU time and memory of its process tree."""
        self.send("stats", stage, "ended")
        return of_contract(Stats, self.line(stage, STATS_S, "cannot be counted", "ended"), stage)

    def cause(self, error: TrialFailed) -> TrialFailed:
        if error.kind in ("responder-died", "responder-hung") or self._process is None:
            return error
        try:
            if self._process.read(_DIES_WITHIN_S) is not None:
                return error
        except (TimeoutError, ContractBroken):
            return error
        return self.failed(error.stage, "responder-died", f"ended: {error.message}")

    def failed(self, stage: str, kind: str, what: str) -> TrialFailed:
        """The failure with the command and its last lines, which only the ended have said."""
        self.running.end()
        command = " ".join(self.start_as.argv)
        return TrialFailed(stage, kind, f"the service {what} (`{command}`){last_lines(self.running)}")
