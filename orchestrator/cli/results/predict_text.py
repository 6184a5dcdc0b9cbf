"""A prediction as a terminal shows it: for each way to call a table of stacks with their milliseconds by cause."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from orchestrator import quantities
from orchestrator.cli.tables import table
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction.answer import Answer, Setting
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.predict import CAUSES
from orchestrator.questions.prediction.refusals import rate_of
from orchestrator.questions.prediction.words import outcome, trust, why
from orchestrator.wording.answer import answer

_WIDTH = 100


def lines(summary: RunSummary, forecast: Answer) -> Iterator[str]:
    """Yield where, what is fastest, the tables, what is not predicted, and how far all of it may be trusted."""
    yield f"{summary.run.name}, run {summary.run.id}: {_where(summary, forecast)}"
    if invalid := answer(summary).invalid_because:
        doubt = f"It rests on measurements to doubt: {invalid}."
        yield from textwrap.wrap(doubt, _WIDTH)
    several = len({setting.operation for setting in forecast.settings}) > 1
    for setting in forecast.settings:
        yield ""
        yield f"{setting.setting}{f', {setting.operation}' if several else ''}: {outcome(setting, forecast.matters)}"
        yield from (f"  {line}" for line in _table(setting))
    if forecast.refused:
        yield ""
    for refusal in refusals(forecast):
        yield from textwrap.wrap(f"not predicted: {refusal}", _WIDTH, subsequent_indent="  ")
    yield ""
    yield from textwrap.wrap(trust(model.judged if (model := PREDICTION.of(summary)) else None), _WIDTH)
    yield from textwrap.wrap(_conditions(summary), _WIDTH)


def refusals(predicted: Answer) -> list[str]:
    """Why latencies are not predicted, with the series of each reason; a reason of all of them alone."""
    series: dict[tuple[str, ...], list[str]] = {}
    for refused in predicted.refused:
        name = f"{refused.label}, {refused.setting}" if refused.setting else refused.label
        series.setdefault(tuple(map(why, refused.why)), []).append(name)
    return [
        "; ".join(reasons) if len(names) == len(predicted.refused) > 1 else f"{'; '.join(names)}: {'; '.join(reasons)}"
        for reasons, names in series.items()
    ]


def _where(summary: RunSummary, predicted: Answer) -> str:
    wanted = predicted.place
    model = PREDICTION.of(summary)
    rates = {rate_of(fit, wanted) for fit in (model.fits if model else ())}
    rate = [f"{value:g} Mbit/s" for value in rates if value is not None] if len(rates) == 1 else []
    place = [f"a round trip of {quantities.ms(wanted.rtt)}", quantities.size(wanted.size), *rate]
    return ", ".join([*place, "1 in flight"])


def _table(setting: Setting) -> Iterator[str]:
    shown = [cause for cause in CAUSES if any(row.causes.get(cause, 0.0) > 0 for row in setting.rows)]
    rows = []
    for row in setting.rows:
        low, high = row.interval
        rows.append(
            (
                row.label,
                quantities.ms(row.latency),
                f"{quantities.ms(low)} to {quantities.ms(high)}",
                *(_cause(row.causes.get(cause)) for cause in shown),
            )
        )
    yield from table(("stack", "latency", "90 % interval", *shown), rows)


def _cause(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if abs(value) >= 0.01 else "0"


def _conditions(summary: RunSummary) -> str:
    on = f" on {summary.plan.machine}" if summary.plan.machine else ""
    return f"Measured{on}; it holds for no other machine, window or congestion control. Causes are in ms."
