"""What every step of a run works with, and how the plan's ids become a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from orchestrator.clock import Clock
from orchestrator.experiment.model.factors import OF_THE_CALL, knobs, of_load, requesters_of, resources
from orchestrator.experiment.plan.cells import connections_of, processes_of
from orchestrator.experiment.plan.own.json_documents import DOCUMENT, TYPED, plan_way
from orchestrator.experiment.plan.plan import Cell, Operation, Plan, Stack, Turns
from orchestrator.experiment.read.units import format_rate
from orchestrator.hosts.base import Fleet, Host, HostLost
from orchestrator.hosts.certificates import Certificates
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.target import Ask
from orchestrator.measure.trial import Bench, OnProgress
from orchestrator.quantities import count
from orchestrator.results.documents import Damaged
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import Failure, RefereeRecord
from orchestrator.results.records import written
from services.python.contract.lines import Load, Mixed, Payload, Schema, Warmup

_SMOKE_REQUESTS, _SMOKE_S = 20, 1.0
_SMOKE_WARMUP = Warmup(requests=_SMOKE_REQUESTS, at_least_s=0.0, at_most_s=_SMOKE_S)


class Listener(Protocol):
    """Who tells the user; the console is one."""

    def progress(self, text: str) -> None:
        """A line that stays."""

    def live(self, text: str) -> None:
        """A line that the next one replaces."""

    def warning(self, text: str) -> None:
        """Something to know that does not stop the work."""


@dataclass(kw_only=True)
class RunContext:
    """A run's plan, its folder, its hosts once they are there, and the effects it may have."""

    plan: Plan
    folder: RunFolder
    clock: Clock
    interrupts: Interrupts
    listener: Listener
    fleet: Fleet | None = None
    payload_paths: dict[str, str] = field(default_factory=dict)  # on the requesters' hosts, by operation id
    schemas: dict[str, dict[str, Schema]] = field(default_factory=dict)  # by operation id, and the host they lie on
    certificates: Certificates = field(default_factory=Certificates)  # where cells need them
    calls: dict[str, Payload] = field(default_factory=dict)  # of stacks that call an own service, by stack id
    folders: dict[str, str] = field(default_factory=dict)  # of own services, on their hosts, by `Start.folder`
    postgresql: str = ""  # the DSN of the server that this session's responders ask, where cells need one
    sizes: dict[tuple[str, ...], tuple[tuple[int, int], ...]] = field(default_factory=dict)  # as `Sizes` of `baselines`
    broken: dict[tuple[str, ...], Failure] = field(default_factory=dict)  # smoke failures by `Cell.exchange`
    own_s: dict[tuple[str, ...], float] = field(default_factory=dict)  # of a request, beside the network, by exchange
    turns: dict[str, Turns | None] = field(default_factory=dict)  # of cells that were tried, by id
    pings: dict[str, int] = field(default_factory=dict)  # how many a reading takes, by placement
    without_ping: set[str] = field(default_factory=set)  # placements whose ends cannot ping each other
    referee: RefereeRecord | None = None  # whose turns stand beside the trials

    @cached_property
    def stacks(self) -> Mapping[str, Stack]:
        return {s.id: s for s in self.plan.stacks}

    @cached_property
    def operations(self) -> Mapping[str, Operation]:
        return {o.id: o for o in self.plan.operations}

    @cached_property
    def cells(self) -> Mapping[str, Cell]:
        return {c.id: c for c in self.plan.cells}

    @property
    def hosts(self) -> Fleet:
        """The fleet, which is there from the stage deploy on."""
        assert self.fleet is not None, "no stage before `deploy` asks for hosts"  # noqa: S101 - the stage table's promise
        return self.fleet

    def bench(self, on_progress: OnProgress | None = None) -> Bench:
        """What trials are made with."""
        return Bench(
            clock=self.clock, interrupts=self.interrupts, on_progress=on_progress, beside_cpu_s=self.hosts.beside_cpu_s
        )

    def ask(self, cell: Cell, seed: int, *, smoke: bool = False) -> Ask:
        """The trial of a cell; with `smoke` no request is measured, only checked, and a few where turns depend on them."""
        stack, operation = self.stacks[cell.stack], self.operations[cell.operation]
        mix = tuple(Mixed(operation=m.name, weight=m.weight, payload=Payload(**m.payload)) for m in operation.mix)
        is_typed = plan_way(self.plan, stack.id, operation.id, cell.factors.get(DOCUMENT)) == TYPED
        return Ask(
            protocol=stack.protocol,
            responder=stack.responder,
            client=stack.client,
            operation=mix[0].operation if mix else operation.name,
            payload=self._payload(stack, operation, mix),
            mix=mix,
            connection=cell.connection,
            load=_smoke_load(cell) if smoke else cell.load,
            warmup=_SMOKE_WARMUP if smoke and cell.turns else cell.warmup,
            timeout_s=cell.timeout_s,
            seed=seed,
            calls=cell.calls,
            knobs=knobs(cell.factors),
            schemas=self.schemas[operation.id] if is_typed else None,
            kind=cell.kind,
            external=stack.external,
            beside=Path(self.plan.experiment_path).parent,
            folder=self._folder_of(stack),
            certificates=self.certificates if cell.is_secured else None,
            processes=1 if smoke else processes_of(cell.factors),
            requesters=1 if smoke else requesters_of(cell.factors),
            store=resources(cell.factors),
            postgresql=self.postgresql,
        )

    def _folder_of(self, stack: Stack) -> str:
        start = None if stack.external is None else stack.external.start
        return "" if start is None else self.folders[start.folder]

    def _payload(self, stack: Stack, operation: Operation, mix: tuple[Mixed, ...]) -> Payload:
        if stack.id in self.calls:
            return self.calls[stack.id]
        if mix:
            return mix[0].payload
        return Payload(**{**operation.payload, "path": self.payload_paths.get(operation.id)})

    def label(self, cell: Cell) -> str:
        return label(self.plan, cell)

    def bring(self, host: Host, remote: PurePosixPath, samples: str, cell: Cell | None = None) -> None:
        """Bring the raw record of these samples from its host; a signal and the end of the wall time raise meanwhile.

        FileNotFoundError when the host has none. ValueError when it holds no row, or is no record of what `cell` times (of
        calls where None).
        """
        local = self.folder.raw_path(samples)
        local.parent.mkdir(parents=True, exist_ok=True)
        rows: dict[str, Any] = {}
        if cell is not None:
            rows = {"kind": cell.recorded, "parts": cell.parts, "at_once": cell.is_at_once}
        with self.interrupts.waiting():
            host.fetch(remote, local)
            try:
                reason = "" if sum(map(len, written(local, **rows))) else "nothing was recorded"
            except Damaged as error:
                reason = error.reason
            if reason:
                local.unlink()
                raise ValueError(f"{remote.name} on {host.name}: {reason}")

    def refuse_to_go_on_without_hosts(self) -> None:
        """After a failure: HostLost when hosts or the way between them are gone, for then all that follows would fail."""
        fault = self.hosts.fault()
        if fault is not None:
            raise HostLost(fault)

    def warn(self, text: str, detail: str = "") -> None:
        """Show a condition that a reader of the results must know, and keep its text in the manifest.

        `detail` is shown alone: what a library, a process or another run wrote may name hosts, people and folders.
        """
        if text not in self.folder.journal_state().warnings:
            self.folder.append({"event": "warning", "text": text})
            self.listener.warning(f"{text}: {detail}" if detail else text)


def _smoke_load(cell: Cell) -> Load:
    if cell.turns is None:
        return Load(concurrency=cell.load.concurrency, requests=0)
    return Load(concurrency=connections_of(cell.factors, 1), requests=_SMOKE_REQUESTS, duration_s=_SMOKE_S)


def label(plan: Plan, cell: Cell) -> str:
    """Return a cell in words: only what differs between the cells of its plan."""
    stack = next(stack for stack in plan.stacks if stack.id == cell.stack)
    operation = next(operation for operation in plan.operations if operation.id == cell.operation)
    placement = next(placement for placement in plan.placements if placement.id == cell.placement)
    words = [stack.label, operation.label]
    if len(plan.placements) > 1:
        words.append(placement.name)
    varied = (f for f in OF_THE_CALL if len({cell.factors[f.name] for cell in plan.cells}) > 1)
    words += [factor.tag(value) for factor in varied if (value := cell.factors[factor.name]) is not None]
    if len({c.load.concurrency for c in plan.cells}) > 1:
        is_stream = cell.kind == "stream"
        words.append(count(cell.load.concurrency, "client") if is_stream else f"{cell.load.concurrency} in flight")
    if len({c.load.rate_per_s for c in plan.cells} | {cell.load.rate_per_s}) > 1:
        words.append("closed loop" if cell.load.rate_per_s is None else format_rate(cell.load.rate_per_s))
    words += of_load(cell.factors)
    return " · ".join(words)
