"""The experiment that measures what a prediction lacks, written from the plan of the run that lacks it.

Stacks, operations and the way to call stay what they were in that plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from orchestrator.cli.experiments.start import schema_from
from orchestrator.errors import UsageError, on_one_line
from orchestrator.experiment import make_plan
from orchestrator.experiment.model.factor import Factor, Value
from orchestrator.experiment.model.factors import OF_THE_CALL
from orchestrator.experiment.plan.plan import Cell, Operation, Plan, read_plan
from orchestrator.experiment.plan.schedule import series_id, size_of
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.experiment.read.units import exact_duration, format_size
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction.answer import Answer, Asked
from orchestrator.questions.prediction.find import QUESTION as PREDICTION

_MOST_OF_A_LINE = 300  # of a comment
_TIMES = (0.25, 0.5, 1.0)  # of what was asked for, beside it: where too little was measured
_UNITS = {"size": " B", "time": "ms", "rate": "/s", "count": ""}


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a draft is to measure: ms, bytes, Mbit/s.

    `stacks` come beside those of the cells: protocols, as their defaults speak them.
    """

    rtt: float
    size: int
    rate_mbit: float | None
    in_flight: int
    stacks: tuple[str, ...] = ()


def to_fill_a_gap(
    plan: Plan, cells: Sequence[Cell], wanted: Draft, from_run: str, *, is_predicted: bool = False
) -> str:
    """The experiment that measures a place which a run cannot predict: its range widened to hold the place, cells sealed.

    `is_predicted`: it predicts all of that place.
    """
    purpose = f"What run {from_run} cannot predict: measured, so that `orch predict` can."
    if is_predicted:
        purpose = f"What run {from_run} predicts already: measured, and a model of this place's own."
    operation = _operation(plan, cells)
    rtts, rates, sizes, flights = _places(plan, cells, wanted)
    distance: dict[str, Any] = {"rtt": [_duration(rtt) for rtt in rtts]}
    if rates:
        distance["rate"] = [f"{rate:g} Mbit/s" for rate in rates]
    if PROVIDERS[plan.provider].distance != "emulated":
        pairs = dict.fromkeys((p.from_zone, p.to_zone) for p in plan.placements if p.from_zone and p.to_zone)
        distance = {"zones": [{"from": near, "to": far} for near, far in pairs]}
    limits = {"wall": "4h", "ttl": "5h"} | ({"cost": "5.00 USD"} if PROVIDERS[plan.provider].costs_money else {})
    experiment = {
        "name": "fill_the_gap",
        "question": f"What do requests of {format_size(wanted.size)} take at a round trip of {wanted.rtt:g} ms?",
        "provider": plan.provider,
        **({"machine": plan.machine} if plan.machine else {}),
        "distance": distance,
        "stacks": [*_stacks(plan, cells), *wanted.stacks],
        **_call(cells),
        "operations": {operation.name: _payload(operation, sizes)},
        "load": {"concurrency": flights, "requests": 20, "at_most": "20s"},
        "warmup": {"requests": 5, "at_least": "0s", "at_most": "10s"},
        "predict": {"hold_out": "20%"},
        "repeats": 5,
        "matters": f"{plan.matters * 100:g} %",
        "seed": 1,
        "limits": limits,
    }
    comment = on_one_line(f"{purpose} Written by `orch predict --plan`.", _MOST_OF_A_LINE)
    return f"# {comment}\n{yaml.safe_dump(experiment, sort_keys=False, default_flow_style=None, width=120)}"


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
    return ", ".join(
        [
            f"{_listed(stacks)} with {_listed([format_size(int(size)) for size in sizes])} over {where}",
            f"{_listed([str(flight) for flight in flights])} in flight",
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


def _few(measured: Iterable[float], asked: float) -> list[float]:
    """Return the smallest, middle and largest measured values and the requested one, with more near it where too few."""
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


def _payload(operation: Operation, sizes: Iterable[float]) -> dict[str, Any]:
    shown = [f"{int(size)} B" for size in sizes]
    if operation.payload["kind"] == "bytes":
        return {"bytes": shown}
    other = min(operation.request_bytes, operation.reply_bytes)
    large, small = ("request", "reply") if operation.request_bytes >= operation.reply_bytes else ("reply", "request")
    return {large: shown, small: f"{other} B"}


def _stacks(plan: Plan, cells: Sequence[Cell]) -> list[dict[str, str]]:
    used = {cell.stack for cell in cells}
    return [
        {"protocol": stack.protocol, "responder": stack.responder, "client": stack.client}
        for stack in plan.stacks
        if stack.id in used
    ]


def _call(cells: Sequence[Cell]) -> dict[str, Any]:
    """The factors of the call in which these cells differ, or that have no default, as keys of an experiment."""
    keys: dict[str, Any] = {}
    for factor in OF_THE_CALL:
        values = list(dict.fromkeys(cell.factors.get(factor.name, factor.default) for cell in cells))
        if values != [factor.default] and None not in values:
            keys[factor.name] = [_value(factor, value) for value in values]
    return keys


def _value(factor: Factor, value: Value) -> Value:
    """A value as an experiment file has it, numbers with their unit."""
    if isinstance(value, str) or factor.numbers is None:
        return value
    return f"{value}{_UNITS[factor.numbers.measure]}"


def _listed(items: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(items[:-1]), *items[-1:]) if part)


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
    cells = _cells(plan, summary, found.asked)
    return plan, cells, _wanted(found.asked, _not_measured(plan, found.asked))


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


def _wanted(asked: Asked, stacks: tuple[str, ...]) -> Draft:
    return Draft(rtt=asked.rtt, size=asked.size, rate_mbit=asked.rate_mbit, in_flight=asked.in_flight, stacks=stacks)


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
