"""The conditions of a run: facts that change latencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orchestrator import quantities
from orchestrator.catalogue.builds import in_words
from orchestrator.evidence.run_evidence import RunEvidence
from orchestrator.experiment.model.factors import DRIVER, STORE
from orchestrator.experiment.plan.own import running
from orchestrator.experiment.plan.plan import External, Placement, Plan
from orchestrator.experiment.plan.topology import limit_of
from orchestrator.findings.condition import Condition, ConditionKind
from orchestrator.results.manifest import ProgramsRecord

# What of a host's description a reader needs to judge a latency.
_FACTS: tuple[tuple[str, ConditionKind], ...] = (
    ("cpu", "CPU"),
    ("cpus", "CPUs"),
    ("memory_bytes", "Memory"),
    ("governor", "CPU governor"),
    ("kernel", "Kernel"),
    ("os", "System"),
    ("virtualization", "Virtualisation"),
    ("machine_type", "Machine type"),
    ("zone", "Zone"),
    ("python", "Python"),
    ("clock_source", "Clock source"),
    ("services_sha256", "Services"),
)


def conditions(run: RunEvidence) -> tuple[Condition, ...]:
    """Return what both ends report, how they were pinned, and the network between them."""
    plan, manifest = run.plan, run.manifest
    repeats = quantities.count(plan.repeats, "block")
    if plan.until is not None:
        wanted = quantities.percent(plan.until.within)
        or_slower = " or a stack is slower beyond doubt" if plan.until.or_slower else ""
        repeats += f" of at most {plan.until.at_most}, until intervals reach no further than ± {wanted}{or_slower},"
    given = running.externals_by_label(plan.stacks)
    own = [f"{placement.name}: {_PINNING[placement.pin]}" for placement in plan.placements if placement.pin]
    pinning = "; ".join(own) or _PINNING[plan.pin]
    if given and plan.pin != "off":
        pinning = f"{pinning}, where orch starts both"
    lines = [Condition("Provider", plan.provider), Condition("CPU pinning", pinning)]
    lines += [Condition("Not started by orch:", _known_of(external), label) for label, external in given.items()]
    if plan.machine:
        limit = limit_of(plan.provider, plan.machine)
        machine = f"{limit.cores:g} CPUs: {plan.machine}" if limit else plan.machine
        lines.append(Condition("Machine", machine))
    for placement in plan.placements:
        ends = f"{placement.from_zone} to {placement.to_zone}" if placement.from_zone else _ends(plan, placement)
        distance = f", wanted RTT {placement.link.rtt_ms:g} ms" if placement.link.rtt_ms is not None else ""
        lines.append(Condition("Placement", f"{ends}{distance}", placement.name))
    for key, kind in _FACTS:
        values = {
            name: value for name, facts in manifest.hosts.items() if (value := getattr(facts, key)) not in (None, "")
        }
        if values:
            lines.append(Condition(kind, _each_once(key, values)))
    lines += [
        *_databases(run),
        *_programs(manifest.programs),
        *_turns(run),
        Condition("Repeats", f"{repeats} in balanced random order, seed {plan.seed}"),
        Condition("orch", manifest.orch_version),
    ]
    return tuple(lines)


def _turns(run: RunEvidence) -> Iterator[Condition]:
    in_turns = [(cell.cell, trial.record) for cell in run.cells for trial in cell.trials if trial.record.turns]
    records = [record for _, record in in_turns]
    taken = [turns for cell, record in in_turns if (turns := record.fitted_turns or cell.turns)]
    if not taken:
        return
    every = sum(len(record.turns) for record in records)
    lost = sum(sum(record.disturbed_turns) for record in records)
    spoilt = f"{quantities.percent(lost / every)} of them disturbed and left out" if lost else "none of them disturbed"
    alone = len(run.plan.cells) - len({cell.id for cell, _ in in_turns})
    reasons = f" ({'; '.join(run.plan.without_turns)})" if run.plan.without_turns else ""
    rest = f"; {quantities.count(alone, 'cell')} without{reasons}" if alone else ""
    each = quantities.each_turn((turns.length_s, turns.requests) for turns in taken)
    yield Condition("Turns", f"{each} each, {every:,} in all, {spoilt}{rest}")


def _programs(every: Mapping[str, ProgramsRecord]) -> Iterator[Condition]:
    for programs in every.values():
        facts = [in_words(programs.toolchain, programs.source)] if programs.source else []
        runtimes = {
            host: ", ".join(f"{program} {version}" for program, version in versions.items())
            for host, versions in programs.runtimes.items()
        }
        if runtimes:
            facts.append(f"run by {_each_once('runtimes', runtimes)}")
        yield Condition("Programs in", "; ".join(facts), programs.title)


_PINNING = {
    "apart": "responder and requester on different CPUs",
    "together": "responder and requester on the same CPU",
    "off": "none",
}


def _ends(plan: Plan, placement: Placement) -> str:
    if placement.kind == "external":
        return "this machine to an address given"
    behind = running.behind_loopback(plan.stacks)
    if behind and all(stack.running for stack in plan.stacks):
        return behind
    return f"one host; {behind}" if behind else "one host"


def _known_of(given: External) -> str:
    return f"{running.place_of(given)}; version, CPU and settings are not known"


def _each_once(key: str, values: Mapping[str, Any]) -> str:
    """One value where all hosts agree, else each host's."""
    texts = {name: _text(key, value) for name, value in values.items()}
    different = sorted(set(texts.values()))
    return different[0] if len(different) == 1 else "; ".join(f"{name}: {text}" for name, text in texts.items())


def _text(key: str, value: Any) -> str:
    if key == "memory_bytes":
        return f"{value / 2**30:.1f} GiB"
    if key == "services_sha256":
        return f"SHA-256 {str(value)[:12]}"
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {v}" for k, v in value.items())
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return str(value)


def settings(run: RunEvidence) -> dict[str, dict[str, Any]]:
    """Per stack label: what was resolved at plan time, and the versions that both ends reported while measuring."""
    by_label: dict[str, dict[str, Any]] = {}
    for stack in run.plan.stacks:
        trials = [t for cell in run.cells if cell.stack.id == stack.id for t in cell.trials]
        facts: dict[str, Any] = dict(run.plan.resolved.get(stack.id, {}))
        if trials:
            record = trials[-1].record
            facts["responder_versions"] = record.ready.versions if record.ready else {}
            if stack.running is not None:
                facts["answered_by"] = _known_of(stack.running)
            if record.requesters:
                facts["client_versions"] = record.requesters[0].done.versions
                facts["client_settings"] = record.requesters[0].done.settings
        by_label[stack.label] = facts
    return by_label


def _databases(run: RunEvidence) -> Iterator[Condition]:
    databases = [
        trial.record.ready.settings for cell in run.cells for trial in cell.trials if trial.record.ready is not None
    ]
    names = {" by ".join(each[name] for name in (STORE, DRIVER) if name in each) for each in databases if STORE in each}
    if names:
        yield Condition("Databases", "; ".join(sorted(names)))
