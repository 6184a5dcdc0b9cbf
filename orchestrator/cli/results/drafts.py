"""Experiments that a prediction asks for, as text: the one that measures what is missing, and the one that would refute it.

Both are made of a plan that was run, so that stacks, operations and the way to call stay what they were. It may have been
run elsewhere: each of its words stays one value, or in its comment, whatever it holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator import quantities
from orchestrator.cli.experiments.start import schema_from
from orchestrator.errors import UsageError, on_one_line
from orchestrator.experiment import make_plan
from orchestrator.experiment.model.factor import Factor, Value
from orchestrator.experiment.model.factors import OF_THE_CALL
from orchestrator.experiment.plan.estimate import usd_per_hour
from orchestrator.experiment.plan.plan import Cell, Operation, Plan, read_plan
from orchestrator.experiment.plan.schedule import series_id, size_of
from orchestrator.experiment.plan.topology import AWAY_ZONE, HOME_ZONE, profile, region_of
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.experiment.read.units import exact_duration, format_size
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction.answer import Answer, answer
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.refusals import Asked, rate_of
from services.python.contract.knobs import CONGESTION, TCP_WINDOW

_PAIRS = ((HOME_ZONE, HOME_ZONE[:-1] + "b"), (HOME_ZONE, AWAY_ZONE))
_PLAIN = re.compile("[A-Za-z][A-Za-z0-9_-]*")  # a word that YAML reads as it stands
_MOST_OF_A_LINE = 300  # of a comment
_TIMES = (0.25, 0.5, 1.0)  # of what was asked for, beside it: where too little was measured


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a draft is to measure: ms, bytes, Mbit/s; `factors` replace those of the call.

    `stacks` come beside those of the cells: protocols, as their defaults speak them.
    """

    rtt: float
    size: int
    rate_mbit: float | None
    in_flight: int
    machine: str | None = None
    factors: Mapping[str, Value] | None = None
    stacks: tuple[str, ...] = ()


def to_fill_a_gap(
    plan: Plan, cells: Sequence[Cell], wanted: Draft, from_run: str, *, is_predicted: bool = False
) -> str:
    """The experiment that measures a place which a run cannot predict: its range widened to hold the place, cells sealed.

    `is_predicted`: it predicts all of that place.
    """
    said = f"What run {from_run} cannot predict: measured, so that `orch predict` can."
    if is_predicted:
        said = f"What run {from_run} predicts already: measured, and a model of this place's own."
    operation = _operation(plan, cells)
    rtts, rates, sizes, flights = _places(plan, cells, wanted)
    emulates = PROVIDERS[plan.provider].distance == "emulated"
    if emulates:
        shown = [f"{value:g} Mbit/s" for value in rates]
        distance = [
            f"rtt: [{', '.join(map(_duration, rtts))}]",
            *([f"rate: [{', '.join(shown)}]"] if shown else []),
        ]
        where = [f"distance: {{{', '.join(distance)}}}"]
    else:
        pairs = [
            f"{{from: {_word(p.from_zone)}, to: {_word(p.to_zone)}}}"
            for p in plan.placements
            if p.from_zone and p.to_zone
        ]
        where = [f"distance: {{zones: [{', '.join(dict.fromkeys(pairs))}]}}"]
    machine = wanted.machine or plan.machine
    return "\n".join(
        [
            _comment(f"{said} Written by `orch predict --plan`."),
            "name: fill_the_gap",
            f"question: What do requests of {format_size(wanted.size)} take at a round trip of {wanted.rtt:g} ms?",
            f"provider: {plan.provider}",
            *([f"machine: {_word(machine)}"] if machine else []),
            *where,
            *_stacks(plan, cells),
            *(f"  - {stack}" for stack in wanted.stacks),
            *_call(cells, wanted.factors or {}),
            f"operations: {_payload(operation, sizes)}",
            f"load: {{concurrency: {json.dumps(flights)}, requests: 20, at_most: 20s}}",
            "warmup: {requests: 5, at_least: 0s, at_most: 10s}",
            "predict: {hold_out: 20%}",
            "repeats: 5",
            f"matters: {plan.matters * 100:g} %",
            "seed: 1",
            "limits: {wall: 4h, ttl: 5h" + (", cost: 5.00 USD}" if PROVIDERS[plan.provider].costs_money else "}"),
            "",
        ]
    )


def gap_in_words(plan: Plan, cells: Sequence[Cell], wanted: Draft) -> str:
    """What `to_fill_a_gap` would measure, as a clause; UsageError where it can write no experiment."""
    _operation(plan, cells)
    rtts, rates, sizes, flights = _places(plan, cells, wanted)
    labels = {stack.id: stack.label for stack in plan.stacks}
    stacks = [*dict.fromkeys(labels[cell.stack] for cell in cells), *wanted.stacks]
    if PROVIDERS[plan.provider].distance == "emulated":
        links = f" at {_listed([f'{rate:g}' for rate in rates])} Mbit/s" if rates else ""
        where = f"round trips of {_listed([_duration(rtt) for rtt in rtts])}{links}"
    else:
        where = "the zones of this run"
    under = [
        f"{name} {format_size(value) if isinstance(value, int) else value}"
        for name, value in (wanted.factors or {}).items()
    ]
    machine = [f"machine {wanted.machine}"] if wanted.machine else []
    return ", ".join(
        [
            f"{_listed(stacks)} with {_listed([format_size(int(size)) for size in sizes])} over {where}",
            f"{_listed([str(flight) for flight in flights])} in flight",
            *under,
            *machine,
        ]
    )


def nearest_pair(rtt: float) -> tuple[str, str, float]:
    """The two zones of a real network whose published round trip (ms) is nearest to one."""
    known = [(link.rtt_ms, pair) for pair in _PAIRS if (link := profile(*pair)) and link.rtt_ms is not None]
    found, pair = min(known, key=lambda each: abs(each[0] - rtt))
    return *pair, found


def to_refute(plan: Plan, cells: Sequence[Cell], wanted: Draft, said: Iterable[str]) -> str:
    """The cheapest run on real hosts that would refute a prediction: `said` tells what it predicts, a line each."""
    operation = _operation(plan, cells)
    cloud = next(provider for provider in PROVIDERS.values() if provider.costs_money)
    near, far, _ = nearest_pair(wanted.rtt)
    machine = plan.machine if plan.machine in cloud.machines else _cheapest(cloud.machines, near)
    return "\n".join(
        [
            "# What would refute a prediction, for as little as it costs. Written by `orch predict --confirm`.",
            *map(_comment, said),
            "name: confirm",
            f"question: Does what was predicted for {format_size(wanted.size)} hold between {near} and {far}?",
            f"provider: {cloud.name}",
            f"machine: {_word(machine)}",
            f"placements: {{name: {'same-zone' if near == far else 'apart'}, from: {near}, to: {far}}}",
            *_stacks(plan, cells),
            *_call(cells, wanted.factors or {}),
            f"operations: {_payload(operation, [wanted.size])}",
            f"load: {{concurrency: {wanted.in_flight}, requests: 50, at_most: 20s}}",
            "warmup: {requests: 10, at_least: 0s, at_most: 10s}",
            "repeats: 5",
            f"matters: {plan.matters * 100:g} %",
            "seed: 1",
            "limits: {wall: 30m, ttl: 1h, cost: 1.00 USD}",
            "",
        ]
    )


def _places(
    plan: Plan, cells: Sequence[Cell], wanted: Draft
) -> tuple[list[float], list[float], list[float], list[int]]:
    """Round trips, rates, payloads and requests in flight of the run that fills a gap, each in order."""
    of_cell = {o.id: size_of(o) for o in plan.operations}
    links = {p.id: p.link for p in plan.placements}
    rtts = {rtt for cell in cells if (rtt := links[cell.placement].rtt_ms) is not None}
    rates = {rate for cell in cells if (rate := links[cell.placement].rate_mbit) is not None}
    return (
        _few(rtts, wanted.rtt),
        sorted(rates) if wanted.rate_mbit is None else [wanted.rate_mbit],
        _few({of_cell[cell.operation] for cell in cells}, wanted.size),
        sorted({1, wanted.in_flight}),
    )


def _duration(rtt_ms: float) -> str:
    return exact_duration(float(f"{rtt_ms:.3g}") / 1000)


def _cheapest(machines: Iterable[str], zone: str) -> str:
    """Of the types with a whole core, which no quota stops: the model has no such waits."""
    prices = {name: usd_per_hour(name, region_of(zone)) for name in machines if name.startswith("e2-standard")}
    return min((price, name) for name, price in prices.items() if price is not None)[1]


def _few(measured: Iterable[float], asked: float) -> list[float]:
    """The least, the middle and the most of what was measured, and what is asked; more near it where that is too little."""
    known = sorted(measured) or [asked]
    found = {known[0], known[len(known) // 2], known[-1], asked}
    for times in _TIMES:
        if len(found) < 4:
            found.add(max(1.0, round(asked * times)))
    return sorted(found)


def _operation(plan: Plan, cells: Sequence[Cell]) -> Operation:
    operations = {operation.id: operation for operation in plan.operations}
    found = operations[cells[0].operation]
    if found.payload.get("kind") not in ("bytes", "transfer"):
        raise UsageError(
            f"an experiment for {found.name} cannot be written for a payload of another size",
            hint="copy the experiment of the run, and change its payload, `distance` or `load`",
        )
    return found


def _payload(operation: Operation, sizes: Iterable[float]) -> str:
    shown = ", ".join(f"{int(size)} B" for size in sizes)
    if operation.payload["kind"] == "bytes":
        return f"{{{_word(operation.name)}: {{bytes: [{shown}]}}}}"
    other = min(operation.request_bytes, operation.reply_bytes)
    large = "request" if operation.request_bytes >= operation.reply_bytes else "reply"
    small = "reply" if large == "request" else "request"
    return f"{{{_word(operation.name)}: {{{large}: [{shown}], {small}: {other} B}}}}"


def _stacks(plan: Plan, cells: Sequence[Cell]) -> list[str]:
    used = {cell.stack for cell in cells}
    return [
        "stacks:",
        *(
            f"  - {{protocol: {_word(stack.protocol)}, responder: {_word(stack.responder)}, client: {_word(stack.client)}}}"
            for stack in plan.stacks
            if stack.id in used
        ),
    ]


def _call(cells: Sequence[Cell], instead: Mapping[str, Value]) -> list[str]:
    """The factors of the call in which these cells differ, or that have no default, as keys of an experiment."""
    lines = []
    for factor in OF_THE_CALL:
        values = list(dict.fromkeys(cell.factors.get(factor.name, factor.default) for cell in cells))
        if factor.name in instead:
            values = [instead[factor.name]]
        if values != [factor.default] and None not in values:
            lines.append(f"{factor.name}: [{', '.join(_value(factor, value) for value in values)}]")
    return lines


def _listed(items: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(items[:-1]), *items[-1:]) if part)


def _word(text: str) -> str:
    """A text as a value of YAML, quoted unless it is a plain word."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def _comment(text: str) -> str:
    indented = " " * (len(text) - len(text.lstrip(" ")))
    return f"# {indented}{on_one_line(text, _MOST_OF_A_LINE)}"


def _value(factor: Factor, value: Value) -> str:
    """A value as an experiment file has it, numbers with their unit."""
    if isinstance(value, str) or factor.numbers is None:
        return json.dumps(value)
    units = {"size": " B", "time": "ms", "rate": "/s", "count": ""}
    return f"{value}{units[factor.numbers.measure]}"


# ---- of a prediction


def draft_of_gap(summary: RunSummary, found: Answer) -> str:
    """What measures the place that was asked for, with all stacks that were asked about."""
    return to_fill_a_gap(*_gap(summary, found), summary.run_id, is_predicted=not found.refused)


def would_fill(summary: RunSummary, found: Answer) -> str:
    """Which experiment `draft_of_gap` is, as a sentence; what to do instead where it can be none."""
    try:
        return f"measure {gap_in_words(*_gap(summary, found))}: `--plan FILE` writes that experiment"
    except UsageError as error:
        return error.hint or error.message


def _gap(summary: RunSummary, found: Answer) -> tuple[Plan, list[Cell], Draft]:
    plan = read_plan(summary.plan)
    factors: dict[str, Value] = {}
    if found.asked.window is not None:
        factors[TCP_WINDOW] = found.asked.window
    if found.asked.congestion is not None:
        factors[CONGESTION] = found.asked.congestion
    cells = _cells(plan, summary, found.asked)
    return plan, cells, replace(_wanted(found.asked, factors), stacks=_not_measured(plan, found.asked))


def draft_of_confirmation(summary: RunSummary, found: Answer) -> str:
    """The two stacks that the prediction tells apart, or that it says are alike, at the pair of zones that is nearest."""
    compared = sorted((each for each in found.settings if len(each.rows) > 1), key=lambda each: each.outcome != "ahead")
    setting = next(iter(compared), None)
    model = PREDICTION.of(summary)
    if setting is None or model is None:
        raise UsageError("--confirm needs two stacks that are predicted: there is nothing to refute")
    plan = read_plan(summary.plan)
    chosen = {setting.rows[0].predicted.series, setting.rows[1].predicted.series}
    near, far, rtt = nearest_pair(found.asked.rtt)
    asked = Asked(rtt=rtt, size=found.asked.size, rate_mbit=found.asked.rate_mbit, in_flight=found.asked.in_flight)
    there = answer(model, asked, summary.matters)
    rows = [row for each in there.settings for row in each.rows if row.predicted.series in chosen]
    if len(rows) < len(chosen):
        raise UsageError(
            f"nothing is predicted for the {quantities.ms(rtt)} between {near} and {far}, the nearest pair of zones",
            hint="`--plan FILE` writes the experiment that measures nearer to it",
        )
    fitted = next((fit for fit in model.fits if fit.series.id in chosen), None)
    rate = None if fitted is None else rate_of(fitted, asked)
    over = "" if rate is None else f" over a link of {rate:g} Mbit/s"
    said = [
        f"Run {summary.run_id} predicts, for the {quantities.ms(rtt)} between {near} and {far}{over}, {setting.setting}:"
    ]
    for row in rows:
        low, high = row.predicted.interval
        latency = quantities.ms(row.predicted.latency)
        said.append(
            f"  {row.predicted.label}: {latency}, between {quantities.ms(low)} and {quantities.ms(high)} in 90 of 100 cases"
        )
    said.append(
        "It is refuted where a median lies outside, at the round trip that was measured; hosts of another type take"
    )
    said.append("another time of their own.")
    under = sorted({fit.series.congestion for fit in model.fits if fit.series.id in chosen} - {""})
    if under:
        said.append(
            f"It was measured with congestion control by {quantities.listed(under)}: hosts with another one refute nothing."
        )
    cells = [cell for cell in _cells(plan, summary, found.asked) if _series(plan, cell) in chosen]
    return to_refute(plan, cells, _wanted(found.asked, {}), said)


def write(path: Path, text: str) -> Path:
    """A new file that `orch plan --check` finds valid; never over one that is there. UsageError says why not.

    It names the schema for editors where one is found from there.
    """
    schema = schema_from(path)
    if schema is not None:
        text = f"# yaml-language-server: $schema={schema}\n#\n{text}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} already exists", hint="give another name") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    try:
        make_plan(path, needs_programs=False)
    except BaseException as error:
        path.unlink()
        if not isinstance(error, ExperimentError):
            raise
        raise UsageError(
            f"no valid experiment measures this: {error.problems[0].message}",
            hint="copy the experiment of the run, and change its payload, `distance` or `load`",
        ) from error
    return path


def _wanted(asked: Asked, factors: dict[str, Value]) -> Draft:
    return Draft(
        rtt=asked.rtt,
        size=asked.size,
        rate_mbit=asked.rate_mbit,
        in_flight=asked.in_flight,
        machine=asked.machine,
        factors=factors,
    )


def _cells(plan: Plan, summary: RunSummary, asked: Asked) -> list[Cell]:
    model = PREDICTION.of(summary)
    if _not_measured(plan, asked):
        asked = replace(asked, stacks=())  # beside those that were
    wanted = {series.id for series in (model.series if model else ()) if asked.is_of(series)}
    return [cell for cell in plan.cells if _series(plan, cell) in wanted]


def _not_measured(plan: Plan, asked: Asked) -> tuple[str, ...]:
    """Stacks that are asked for and that the run does not have, as an experiment names them."""
    return tuple(stack for stack in asked.stacks if stack not in {each.id for each in plan.stacks})


def _series(plan: Plan, cell: Cell) -> str | None:
    operation, placement, stack = (
        next(part for part in parts if part.id == name)
        for parts, name in (
            (plan.operations, cell.operation),
            (plan.placements, cell.placement),
            (plan.stacks, cell.stack),
        )
    )
    return series_id(cell, operation, placement, stack)  # type: ignore[arg-type]
