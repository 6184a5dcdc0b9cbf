"""The verb `predict`: latencies at a distance, payload and link of your own."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged
from orchestrator.cli.shared_options import AsJson, Run, parsed
from orchestrator.errors import InvalidMeasurement, UsageError, did_you_mean
from orchestrator.experiment.read import units

if TYPE_CHECKING:
    from orchestrator.findings.summary import RunSummary
    from orchestrator.questions.prediction.refusals import Reader
    from orchestrator.questions.prediction.shapes import Modelled


def predict(
    run: Run = "latest",
    rtt: Annotated[str | None, typer.Option(metavar="TIME", help="Your round trip, such as 80ms.")] = None,
    size: Annotated[
        str | None, typer.Option("--bytes", metavar="SIZE", help="Your payload: the larger of request and reply.")
    ] = None,
    rate: Annotated[str | None, typer.Option(help="Your link, such as 100Mbit/s; the run's own unless given.")] = None,
    connection: Annotated[
        Literal["reuse", "per-request"] | None, typer.Option(help="Both, where both were measured, unless given.")
    ] = None,
    matters: Annotated[
        str | None, typer.Option(metavar="SHARE", help="What matters to you, such as 10%; the plan's unless given.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict the latency of every stack at your own distance, payload and link, from a run and its cost model.

    Printed are latencies with 90 % intervals, their causes, and the fastest; exit status 2 where nothing can be predicted.
    """
    from orchestrator.cli.results.predict_text import lines, refusals
    from orchestrator.questions.prediction.answer import answer
    from orchestrator.questions.prediction.refusals import Reader
    from orchestrator.questions.prediction.words import trust, why
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    if rtt is None or size is None:
        raise UsageError("give your round trip and your payload", hint="orch predict RUN --rtt 80ms --bytes 20kB")
    share = None if matters is None else parsed("--matters", units.parse_margin, matters)
    place = Reader(
        rtt=parsed("--rtt", units.DURATION.number, rtt) * 1000,
        size=parsed("--bytes", units.parse_size, size),
        rate_mbit=None if rate is None else parsed("--rate", units.BIT_RATE.number, rate),
        connection=connection,
    )
    folder = RunFolder.open(run, root=WORKSPACE.results)
    summary = judged(folder, is_modelled=True)
    model = _required_model(summary, place)
    predicted = answer(model, place, summary.matters if share is None else share)
    console.lines(lines(summary, predicted))
    document = {"run": summary.run.id, **asdict(predicted), "trust": trust(model.judged)}
    document["refused"] = [{**asdict(each), "why": list(map(why, each.why))} for each in predicted.refused]
    console.emit(document)
    if not predicted.settings:
        raise UsageError(
            f"nothing is predicted there: {'; '.join(refusals(predicted))}",
            hint="measure that place: widen `distance`, the payload or `load` of the run's experiment",
        )


def _required_model(summary: RunSummary, place: Reader) -> Modelled:
    """InvalidMeasurement where the run has no model at all; UsageError where it did not measure what is place."""
    from orchestrator.questions.prediction.find import QUESTION
    from orchestrator.questions.prediction.words import refusals

    modelled = QUESTION.of(summary)
    if modelled is None:
        raise UsageError(
            f"run {summary.run.id} searched for rates: it has no latencies to fit",
            hint="measure a distance: orch plan experiments/decision_map.yaml",
        )
    if texts := refusals(summary):
        raise InvalidMeasurement(
            f"run {summary.run.id} has no cost model: {' '.join(texts)}",
            hint="experiments/decision_map.yaml measures what a model needs",
            shown=(f"run {summary.run.id} has no cost model:", *texts),
        )
    known = sorted({series.connection for series in modelled.series})
    if place.connection not in (None, *known):
        raise UsageError(
            f"connection {place.connection!a} was not measured in run {summary.run.id}",
            hint=did_you_mean(str(place.connection), known),
        )
    return modelled
