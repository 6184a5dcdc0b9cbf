"""A plan in words: what `orch plan` prints, as lines of text and as one document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from orchestrator.between_runs.measured_runs import read_summaries
from orchestrator.cli.tables import table
from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.factors import OF_THE_CALL, said
from orchestrator.experiment.plan import contrasts, parts
from orchestrator.experiment.plan.estimate import cost_of, estimate
from orchestrator.experiment.plan.loads import describe_search
from orchestrator.experiment.plan.own import json_documents, running
from orchestrator.experiment.plan.plan import Cell, Placement, Plan
from orchestrator.experiment.plan.topology import with_too_few_cpus
from orchestrator.experiment.plan.turn_lengths import END_BYTES
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.experiment.read.units import format_duration, format_size
from orchestrator.findings.power import describe
from orchestrator.quantities import count, each_turn, listed, margin, of_load, percent, sample
from orchestrator.questions.axes.axis import link_parts
from orchestrator.questions.until.find import expected_blocks
from orchestrator.results.documents import name_in_id
from orchestrator.results.folder import runs
from orchestrator.wording.grounds import power_sentence, spread_text

_CELLS_SHOWN = 40
_STACKS_SHOWN = 12  # of a row; the lines above name them all
_RUNS_READ = 5


def earlier_summaries(results: Path, name: str) -> list[dict[str, Any]]:
    """The summaries of the newest runs of the experiment `name`, and of the newest of all, newest first.

    They say how much trials vary here.
    """
    every = runs(results)
    of_name = re.compile(rf"\d+-\d+-{re.escape(name_in_id(name))}-[0-9a-f]+")
    same = [run for run in every if of_name.fullmatch(run.id)]
    newest = {run.id: run for run in (*same[-_RUNS_READ:], *every[-_RUNS_READ:])}
    return read_summaries(newest[run_id] for run_id in sorted(newest, reverse=True))


def plan_document(plan: Plan, path: Path, history: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Everything that `orch plan` knows of a plan, for `--json`; `history` as `earlier_summaries` gives it."""
    at_most = estimate(plan)
    until = _until(plan, history)
    usual = plan if until is None else replace(plan, repeats=until["expected_blocks"], until=None)
    expected = at_most if until is None else replace(estimate(usual), traffic_usd=at_most.traffic_usd)
    hours = plan.limits.ttl_s / 3600
    hosts, hosts_at_most = cost_of(plan, expected.duration_s / 3600), cost_of(plan, hours)
    prices = PROVIDERS[plan.provider].prices
    cost = {
        "usd_expected": hosts,
        "usd_at_most": None if hosts_at_most is None else hosts_at_most + at_most.traffic_usd,
        "prices_as_of": prices and prices.as_of,
    }
    return {
        "id": plan.id,
        "path": str(path),
        "name": plan.name,
        "question": plan.question,
        "cells": len(plan.cells),
        "trials": len(plan.trials),
        "blocks": plan.blocks,
        "searches": plan.repeats * sum(cell.find is not None for cell in plan.cells),
        "until": None if until is None else {**until, "duration_at_most_s": at_most.duration_s},
        "estimate": asdict(expected),
        "cost": cost,
        "reference": plan.reference,
        "compared": contrasts.compared(plan),
        "documents": json_documents.sentence(plan),
        "matters": plan.matters,
        "power": None if _is_search(plan) else _power(usual, history),
        "external": running.announcements(plan),
        "warnings": _warnings(plan, expected.duration_s),
        "plan": plan.to_dict(),
    }


def _warnings(plan: Plan, expected_s: float) -> list[str]:
    """Sentences about a plan whose run is expected to take so many seconds; none where nothing is to be said."""
    sentences = []
    if expected_s > plan.limits.wall_s:
        sentences.append(
            f"the run is expected to take {format_duration(expected_s)}, longer than limits.wall"
            f" ({format_duration(plan.limits.wall_s)}), which will end it early"
        )
    if len(plan.stacks) > 1 and next(contrasts.pairs(plan), None) is None:
        sentences.append("nothing is compared: no other stack has a cell that matches one of the reference")
    for stack, facts in plan.resolved.items():
        missing = [package for package, version in facts["versions"].items() if version == "not installed here"]
        if missing and not PROVIDERS[plan.provider].makes_hosts:
            sentences.append(f"{stack} needs {', '.join(missing)}, not installed here: make setup")
    return [*sentences, *with_too_few_cpus(plan)]


def stack_lines(plan: Plan) -> Iterator[str]:
    """The stacks, with the language of each end where they are in several."""
    ends = parts.languages_of_stacks(plan)
    are_several = parts.are_several_languages(ends)
    yield from table(
        ("stack", "protocol", "responder", "client", *(["languages"] if are_several else []), "why this client"),
        [
            (
                stack.label,
                stack.protocol,
                stack.responder,
                stack.client,
                *([parts.languages_in_words(ends[stack.id]) if stack.id in ends else "-"] if are_several else []),
                plan.resolved[stack.id]["client_reason"],
            )
            for stack in plan.stacks
        ],
    )


def plan_lines(plan: Plan, document: dict[str, Any]) -> Iterator[str]:
    """The plan for a person: question, stacks, matrix, schedule, and what the run will take."""
    yield f"{plan.name}: {plan.question}"
    yield ""
    yield from stack_lines(plan)
    yield from filter(None, (document["documents"],))
    yield f"versions here: {_versions(plan) or 'the standard library alone'}"
    yield ""
    yield from table(("placement", "requester", "responder", "distance"), [_placement_row(p) for p in plan.placements])
    yield ""
    yield from _matrix_lines(plan)
    yield ""
    yield from table(("", ""), [(f"{label:<9}", text) for label, text in _facts(plan, document)])
    yield ""
    for warning in document["warnings"]:
        yield f"warning: {warning}"
    if document.get("machine_now") and document["machine_now"]["warning"]:
        yield f"warning: {document['machine_now']['warning']}"
    missing = document.get("missing", ())
    yield from (f"missing: {reason}" for reason in missing)
    yield f"plan {document['id']} is current: {document['path']}"
    yield "next: get what is missing, then orch run" if missing else "next: orch run"


def _facts(plan: Plan, document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    expected = document["estimate"]
    yield "schedule", f"{_schedule(plan)}, in balanced random order (seed {plan.seed})"
    yield from _turns(plan)
    if document["until"]:
        yield "until", _until_words(document["until"])
    yield "compared", contrasts.compared(plan)
    yield "matters", f"a difference of {margin(plan.matters)}: stacks whose whole interval is below it are equal"
    if plan.sealed:
        yield (
            "held out",
            f"{count(len(plan.sealed), 'cell')} of {len(plan.cells)}, by seed {plan.seed}; --json names them",
        )
    yield "hosts", _hosts(plan, expected["hosts"])
    yield from (("external", text) for text in document["external"])
    yield from ((each["name"], each["sentence"]) for each in document.get("machines", ()))
    yield (
        "duration",
        f"{'at most ' * _is_search(plan)}about {format_duration(expected['duration_s'])} on a machine with 2 idle cores:"
        f" trials {format_duration(expected['trials_s'])}, baselines {format_duration(expected['baselines_s'])}"
        + _around(expected)
        + f" (at most {format_duration(plan.limits.wall_s)})",
    )
    samples = sample((cell.kind for cell in plan.cells), "s")
    yield "disk", f"about {format_size(_rounded(expected['disk_bytes']))} for {expected['requests']:,} {samples}"
    yield "cost", _cost(plan, document["cost"])
    if document["power"] is not None:
        yield "power", document["power"]["sentence"]


def _turns(plan: Plan) -> Iterator[tuple[str, str]]:
    taken = [cell.turns for cell in plan.cells if cell.turns is not None]
    if taken:
        lengths = each_turn((turns.length_s, turns.requests) for turns in taken)
        rounds = listed([f"{number:,}" for number in sorted({turns.rounds for turns in taken})])
        most = max(Counter(turns.group for turns in taken).values())
        size = format_size(2 * most * END_BYTES)
        yield "turns", f"{lengths} each, {rounds} rounds a block; {2 * most} processes at once, about {size} of memory"
    if plan.without_turns:
        alone = count(len(plan.cells) - len(taken), "cell")
        yield "turns", f"{alone} without turns: {'; '.join(plan.without_turns)}"


def _is_search(plan: Plan) -> bool:
    return any(cell.find is not None for cell in plan.cells)


def _schedule(plan: Plan) -> str:
    """How many blocks of trials; of searches how many they are, and how many trials at most."""
    if not _is_search(plan):
        most = "at most " if plan.until else ""
        return f"{most}{count(plan.repeats, 'block')} of {count(len(plan.cells), 'trial')}"
    searches = count(plan.repeats, "search", "searches")
    return (
        f"{searches} of {count(len(plan.cells), 'cell')}, at most {plan.rounds} probes each: at most"
        f" {count(len(plan.trials), 'trial')} in {count(plan.blocks, 'block')}"
    )


def _power(plan: Plan, history: Sequence[dict[str, Any]]) -> dict[str, Any]:
    statement = describe(plan, history)
    return {**asdict(statement), "sentence": power_sentence(statement)}


def _until(plan: Plan, history: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """What to expect of a run that may end before its last block; None of a fixed number."""
    if plan.until is None:
        return None
    power = describe(plan, history)
    return {
        **asdict(plan.until),
        "expected_blocks": expected_blocks(plan, power.sd),
        "sd": power.sd,
        "sd_of_run": power.sd_of_run,
    }


def _until_words(until: dict[str, Any]) -> str:
    spread = spread_text(until["sd"], until["sd_of_run"])
    expected, most = until["expected_blocks"], until["at_most"]
    usual = f"about {expected} blocks expected" if expected < most else f"all {most} blocks expected"
    longest = format_duration(until["duration_at_most_s"])
    return (
        f"each interval reaches no further than ± {percent(until['within'])}, looked at after each block from"
        f" {until['at_least']} on: {usual} ({spread}); at most {most}, about {longest}"
    )


def _shown(plan: Plan, cell: Cell, factor: Factor) -> str:
    value = cell.factors[factor.name]
    is_none = value is None or (factor.name == parts.HTTP and not parts.has_version(plan, cell.stack))
    return "-" if is_none else factor.written(value)


def _matrix_lines(plan: Plan) -> Iterator[str]:
    """The cells, one row for those that differ in the stack alone."""
    rows: dict[tuple[str, ...], list[str]] = {}
    labels = {stack.id: stack.label for stack in plan.stacks}
    operations = {operation.id: operation.label for operation in plan.operations}
    named = {factor.name for cell in plan.cells for factor, _ in said(cell.factors)}
    shown_factors = [factor for factor in OF_THE_CALL if factor.name in named]
    for cell in plan.cells:
        key = (
            operations[cell.operation],
            cell.placement,
            *(_shown(plan, cell, factor) for factor in shown_factors),
            of_load(cell.load, cell.kind, cell.calls, at_once=cell.is_at_once)
            if cell.find is None
            else describe_search(cell.find, cell.load),
            _warmup(cell),
        )
        rows.setdefault(key, []).append(labels[cell.stack])
    every = len(plan.stacks)
    shown = [
        (*key, f"all {every}" if len(stacks) == every > _STACKS_SHOWN else ", ".join(stacks))
        for key, stacks in list(rows.items())[:_CELLS_SHOWN]
    ]
    yield from table(("operation", "placement", *(f.title for f in shown_factors), "load", "warm-up", "stacks"), shown)
    if len(rows) > _CELLS_SHOWN:
        more = count(len(rows) - _CELLS_SHOWN, "more row")
        yield f"... and {more}; --json has all {len(plan.cells):,} cells"


def _warmup(cell: Cell) -> str:
    if cell.kind == "stream":
        return format_duration(cell.warmup.at_least_s)
    return f"{cell.warmup.requests:,} and {format_duration(cell.warmup.at_least_s)}"


def _placement_row(placement: Placement) -> tuple[str, str, str, str]:
    here = there = "this machine"
    near = "none: one host"
    if placement.kind == "external":
        there, near = "an address given", "the network's own"
    distance = ", ".join(link_parts(placement.link)) or (
        near if placement.kind in ("local", "external") else "the network's own"
    )
    return placement.name, placement.from_zone or here, placement.to_zone or there, distance


def _versions(plan: Plan) -> str:
    every = {name: version for facts in plan.resolved.values() for name, version in facts["versions"].items()}
    return ", ".join(f"{name} {every[name]}" for name in sorted(every))


def _hosts(plan: Plan, zones: Sequence[str]) -> str:
    if not zones:
        return f"this machine, pin: {', '.join(plan.pins)}"
    if PROVIDERS[plan.provider].hosts_are_given:
        given = {host.name: host.given for host in plan.hosts}
        return f"{len(zones)} of your own: {', '.join(f'{zone} ({given[zone]})' for zone in zones)}"
    counted = ", ".join(f"{zones.count(zone)} in {zone}" for zone in sorted(set(zones)))
    limits = ", no limit on CPU and memory" if plan.machine == PROVIDERS[plan.provider].unlimited_machine else ""
    return f"{len(zones)} on {plan.provider} ({plan.machine}{limits}): {counted}"


def _cost(plan: Plan, cost: dict[str, Any]) -> str:
    if not PROVIDERS[plan.provider].costs_money:
        return "none"
    if cost["usd_at_most"] is None:
        return (
            f"unknown: there are no prices of {plan.provider}; hosts may be up for {format_duration(plan.limits.ttl_s)}"
        )
    return (
        f"about {cost['usd_expected']:.3f} USD for hosts, at most {cost['usd_at_most']:.2f} USD until the hosts shut down"
        f" after {format_duration(plan.limits.ttl_s)} (list prices of {cost['prices_as_of']}, with traffic, without disks)"
    )


def _around(expected: dict[str, Any]) -> str:
    """What is done before and after measuring, where hosts are made."""
    if not expected["hosts_s"]:
        return ""
    made, down = format_duration(expected["hosts_s"]), format_duration(expected["teardown_s"])
    return f", making hosts {made}, taking them down {down}"


def _rounded(size: int) -> int:
    """Two digits that count: an estimate claims no more."""
    scale: int = 10 ** max(0, len(str(size)) - 2)
    return round(size / scale) * scale
