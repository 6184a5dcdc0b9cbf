"""The experiments that `orch predict` writes: what a run cannot predict, and what would refute what it does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orchestrator import quantities
from orchestrator.cli.experiments import schema_from
from orchestrator.cli.predict_drafts import Draft, gap_in_words, nearest_pair, to_fill_a_gap, to_refute
from orchestrator.errors import UsageError
from orchestrator.experiment import make_plan
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.plan.plan import Cell, Plan, read_plan
from orchestrator.experiment.plan.schedule import series_id
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction.answer import Answer, Asked, answer, rate_of
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from services.python.contract.knobs import CONGESTION, TCP_WINDOW


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
    """A new file that `orch validate` finds valid; never over one that is there. UsageError says why not.

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
