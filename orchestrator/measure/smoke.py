"""Before anything is measured: every stack is tried with every operation, and a resumed run meets what it met before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from orchestrator import quantities
from orchestrator.catalogue.builds import Built
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.estimate import own_s
from orchestrator.experiment.plan.plan import Cell, Plan
from orchestrator.experiment.plan.topology import needed_languages
from orchestrator.experiment.plan.turn_lengths import as_measured, stretched
from orchestrator.hosts.base import Fleet, runtimes
from orchestrator.measure.run_context import RunContext
from orchestrator.measure.trial import TrialRun, body_bytes
from orchestrator.measure.turns import Member, take_turns
from orchestrator.results.documents import Damaged
from orchestrator.results.manifest import Failure, ProgramsRecord

_CLOSES = "the responder closes its connection after each reply"
_KEEPS = (
    'let it keep connections (HTTP/1.1; in Python\'s http.server: protocol_version = "HTTP/1.1"),\n'
    "or measure `connection: per-request`"
)
_DELAYED_S = (0.038, 0.055)
_DELAYED = "40 ms on one machine are often a reply in two packets: write it at once, or set TCP_NODELAY"


def smoke(context: RunContext) -> None:
    """Try each exchange once (stack, operation, and what decides how its bodies look), where the plan first has it.

    What works tells its body sizes, which choose the floors, and how long a request takes, which decides the length of
    turns; what does not work is reported, its cells count as failed, and the others continue.
    """
    exchanges: dict[tuple[str, ...], Cell] = {}
    for cell in context.plan.cells:
        first = exchanges.setdefault(cell.exchange, cell)
        if first.turns is None and cell.turns is not None:
            exchanges[cell.exchange] = cell
    done = 0
    for cells in _together(exchanges.values()):
        context.interrupts.checkpoint()
        context.listener.live(f"trying {done + 1}/{len(exchanges)}: {context.label(cells[0])}")
        for cell, outcome in zip(cells, _tried(context, cells), strict=True):
            _take(context, cell, outcome)
        done += len(cells)
    _fit_turns(context)


def _fit_turns(context: RunContext) -> None:
    """Make turns as long as the smoke test's requests need, and leave out the cells for which they would be too long."""
    plan = context.plan
    for cell in plan.cells:
        work_s = context.own_s.get(cell.exchange)
        if cell.turns is None or work_s is None:
            continue
        context.turns[cell.id] = turns = as_measured(plan, cell, work_s)
        if turns is None:
            hint = f"; {_DELAYED}" if _DELAYED_S[0] < work_s < _DELAYED_S[1] else ""
            context.warn(f"{context.label(cell)} takes no turns: a request takes {quantities.ms(1e3 * work_s)}{hint}")
    context.turns |= stretched(plan.cells, {name: turns for name, turns in context.turns.items() if turns is not None})


def _together(cells: Iterable[Cell]) -> Iterable[list[Cell]]:
    """Those that take turns with each other, whose ends may all run side by side; every other one alone."""
    groups: dict[object, list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.placement, cell.turns.group) if cell.turns else cell.id, []).append(cell)
    return groups.values()


def _tried(context: RunContext, cells: Sequence[Cell]) -> list[TrialRun]:
    """A trial of each: several begin together and have one turn each."""
    trials = []
    for cell in cells:
        ask = replace(context.ask(cell, context.plan.seed, smoke=True), turn_warm_up=0 if len(cells) > 1 else None)
        trials.append(context.bench().prepare(ask, context.hosts.pair(cell.placement), _name(cell)))
    if len(trials) == 1:
        return [trials[0].run()]
    members = [Member(trial=trial, turns_in_block=1) for trial in trials]
    return take_turns(members, [range(len(members))], lambda _: context.interrupts.checkpoint())


def _name(cell: Cell) -> str:
    return "-".join(("smoke", *cell.exchange))


def _take(context: RunContext, cell: Cell, outcome: TrialRun) -> None:
    failure, sizes = outcome.failure, body_bytes(outcome.parts)
    if failure is None and not sizes:
        failure = Failure(stage="smoke", kind="protocol", message="the requester checked no reply")
    if failure is None and cell.connection != "per-request" and _closes(outcome):
        failure = Failure(stage="smoke", kind="connections", message=_CLOSES, last_words=_KEEPS)
    if failure is None:
        context.sizes[cell.exchange] = sizes
        if cell.turns is not None and (latency_s := _latency_s(context, cell, outcome)):
            context.own_s[cell.exchange] = own_s(context.plan, cell, latency_s)
        return
    failure = replace(failure, stage="smoke")
    context.broken[cell.exchange] = failure
    context.folder.log(f"{_name(cell)}.txt", f"{failure.message}\n\n{failure.last_words}")
    context.warn(f"{context.label(cell)} does not work and is left out ({failure.kind})", failure.message)
    for line in failure.last_words.splitlines()[-8:]:
        context.listener.progress(f"    {line}")


def _closes(outcome: TrialRun) -> bool:
    """Whether every request took a connection of its own, or nearly."""
    done = outcome.parts[0].done
    return done is not None and done.requests > 2 and (done.connections_opened or 0) >= done.requests - 1


def _latency_s(context: RunContext, cell: Cell, outcome: TrialRun) -> float | None:
    """The median of the timed requests; None where it is not known."""
    from orchestrator.evidence.trial_median import trial_median

    part = outcome.parts[0]
    with TemporaryDirectory() as folder, context.interrupts.waiting():
        record = Path(folder) / part.record.name
        try:
            part.host.fetch(part.record, record)
            median = trial_median(cell, [record])
        except (FileNotFoundError, Damaged):
            return None
    return None if median is None else median.median / 1e9


# What may differ between two looks at a host under the same conditions: the time, which instance of the cloud it is, and
# what the kernel works out at boot from the memory that is free then.
VOLATILE = frozenset({"uptime_s", "clock", "id", "memory_bytes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"})


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two descriptions, as `what: before, now after`; empty when nothing does.

    >>> differences({"kernel": "6.1", "uptime_s": 1}, {"kernel": "6.2", "uptime_s": 2})
    ['kernel: 6.1, now 6.2']
    """
    old, new = dict(_flat(before)), dict(_flat(after))
    return [
        f"{key}: {old.get(key, 'not there')}, now {new.get(key, 'not there')}"
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]


def refuse_changes(run: str, before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]) -> None:
    """UsageError where something, by its name in words, is not as an earlier session of the run measured it."""
    for name in before.keys() & now.keys():
        if changed := differences(before[name], now[name]):
            raise UsageError(
                f"run {run} cannot be resumed: {name} changed: {'; '.join(changed[:6])}",
                hint="trials made under different conditions must not be mixed: start a new run",
            )


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in facts.items():
        if key in VOLATILE:
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def programs_record(plan: Plan, built: Mapping[str, Built], fleet: Fleet) -> dict[str, ProgramsRecord]:
    """What the manifest says of each language that was built, or that hosts need something for.

    ProvisionError names a host that has not what the programs need there.
    """
    pairs, records = [fleet.pair(placement.id) for placement in plan.placements], {}
    ends = {host.name: host for pair in pairs for host in (*pair.requesters, pair.responder)}
    for language in needed_languages(plan):
        if language.name not in built and not language.needs:
            continue
        build = built.get(language.name)
        records[language.name] = ProgramsRecord(
            title=language.title,
            source="" if build is None else build.source,
            toolchain={} if build is None else dict(build.toolchain),
            platform="" if build is None else build.platform,
            contract=None if build is None else build.contract,
            artifacts={} if build is None else {name: artifact.sha256 for name, artifact in build.artifacts.items()},
            runtimes={host.name: runtimes(language, host) for host in ends.values()} if language.needs else {},
        )
    return records
