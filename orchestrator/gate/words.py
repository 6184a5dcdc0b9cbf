"""What a gate found, in words: its sentence, its forecast, its noise, and the Markdown of a comment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import exp

from orchestrator import quantities
from orchestrator.between_runs.across import RunComparison
from orchestrator.errors import OrchError, Regression, Undecided
from orchestrator.experiment.read.units import format_duration
from orchestrator.findings.trial_values import COSTS, PER
from orchestrator.gate.arms import BASE, HEAD, Arms
from orchestrator.gate.forecast import Forecast
from orchestrator.gate.verdict import GateResult, Verdict
from orchestrator.report import comparison as documents
from orchestrator.report.markdown import escaped
from orchestrator.report.page import one_line
from orchestrator.wording.gate import Judgement, Outcome, why_undetermined

_OUTCOMES: Mapping[Verdict, Outcome] = {"slower": "slower", "not slower": "not slower", "undecided": "cannot tell"}

_SHOWN = ("responder_cpu", "responder_memory", "wire_bytes")  # of the costs: what a change of the service moves


def marker(name: str) -> str:
    """The first line of a comment, by which a later one finds it."""
    return f"<!-- orch gate {name} -->"


def sentence(result: GateResult) -> str:
    """Return the verdict in a sentence without its full stop."""
    return ": ".join(_verdict_and_figures(result))


def _verdict_and_figures(result: GateResult) -> tuple[str, str]:
    unmeasured = [call.call for call in result.calls if not call.rows]
    if unmeasured and result.verdict == "undecided":
        return "undecided", f"there was no time for a block of {quantities.listed(unmeasured)}"
    worst = result.decisive[0]
    limit = quantities.margin(worst.limit)
    figures = f"{worst.call}, {worst.row.statistic}, {documents.sentence(worst.row, worst.limit)}"
    if result.verdict == "slower":
        return "slower in two of two runs", figures
    if result.verdict == "undecided":
        return f"undecided at a limit of {limit}", figures
    return f"not slower by more than {limit}", figures


def forecast_line(forecast: Forecast, limit: float) -> str:
    """Return whether the time can decide a call."""
    gates = quantities.count(forecast.gates, "earlier gate")
    source = f"as in {gates}" if forecast.gates else "assumed: no gate is recorded"
    needs = f"{quantities.count(forecast.blocks, 'block')} of {format_duration(round(forecast.block_s, 1))}"
    line = (
        f"{forecast.call}: a limit of {quantities.margin(limit)} takes {needs}, and there is time for {forecast.room}"
    )
    spread = f"the blocks spread by {quantities.difference(exp(forecast.spread) - 1)}, {source}"
    doubt = "" if forecast.can_decide else "; undecided is likely, unless --budget or --limit is larger"
    return f"{line} ({spread}){doubt}"


def noise_line(result: GateResult) -> str:
    """Return how far base differs from itself."""
    if result.noise is None:
        return "Base was not compared with itself"
    return f"Base against itself (A/A): {' to '.join(quantities.bounds(result.noise, result.limit))}"


def judgement(result: GateResult) -> Judgement:
    """Return what the exit code and the files say."""
    words = sentence(result)
    error: Regression | Undecided | None = None
    report = f"; report: {result.runs[-1].report}" if result.runs[-1].report else ""
    if result.verdict == "slower":
        error = Regression(words, hint=f"each alarm was measured again in a run of its own{report}")
    elif result.verdict == "undecided":
        error = Undecided(
            words, hint=f"a larger --budget narrows the interval, a larger --limit is decided sooner{report}"
        )
    outcomes = tuple(_OUTCOMES[row.verdict] for row in result.decisive)
    limits = tuple(row.limit for row in result.decisive)
    return Judgement(limit=result.limit, outcomes=outcomes, sentence=words, error=error, limits=limits)


def comparison(result: GateResult) -> RunComparison:
    """Return the rows that the verdict rests on, as the documents of `orch compare` have them."""
    rows = tuple(replace(row.row, label=f"{row.call}, {row.row.statistic}") for row in result.decisive)
    return RunComparison(
        of=result.head.label, reference=result.base.label, statistic=result.metric, margin=result.limit, rows=rows
    )


def without_verdict(arms: Arms, limit: float, error: OrchError) -> tuple[RunComparison, Judgement]:
    """Return what the documents have where nothing was measured."""
    head, base = (arms.sides[name].label for name in (HEAD, BASE))
    empty = RunComparison(of=head, reference=base, statistic=arms.metric, margin=limit, rows=())
    return empty, Judgement(limit=limit, outcomes=(), sentence=error.message, error=Undecided(error.message), limits=())


def markdown_without_verdict(name: str, error: OrchError) -> str:
    """Return the comment that takes the place of an earlier one."""
    return f"{marker(name)}\n**No verdict:** {escaped(error.message)}.\n"


def markdown(result: GateResult, command: str) -> str:
    """Return the text of a comment, which begins with its marker."""
    lead, rest = _verdict_and_figures(result)
    limits = quantities.listed(
        documents.limits(row.limit for row in result.decisive) or [quantities.margin(result.limit)]
    )
    labels = (escaped(side.label) for side in (result.head, result.base))
    changed = result.head.changed
    open_rows = [row for row in result.decisive if row.verdict == "undecided"]
    lines = [
        marker(result.name),
        f"**{lead.capitalize()}:** {escaped(rest)}.",
        "",
        f"{' against '.join(labels)}, at a limit of {limits}. A ratio above 1 is slower. Ratios are paired by turns and"
        " blocks: they are not those of the two values shown.",
        "",
        "| | call | | base | head | ratio | 95 % interval |",
        "| --- | --- | --- | ---: | ---: | ---: | --- |",
        *(f"| {' | '.join(escaped(cell) for cell in cells)} |" for cells in figures(result)),
        "",
        *(
            f"- {escaped(f'{row.call}, {row.row.statistic}: {why_undetermined(row.row, row.limit)}')}"
            for row in open_rows
        ),
        *("" for _ in open_rows[:1]),
        f"{escaped(noise_line(result))}; {effort(result)}.",
        *(f"Head has changes that are not committed: {escaped(', '.join(changed))}." for _ in changed[:1]),
        "",
        f"To repeat it: `{one_line(command)}`",
        "",
    ]
    return "\n".join(lines)


def effort(result: GateResult) -> str:
    """Return what was measured, and how long it took."""
    runs = quantities.count(len(result.runs), "run")
    blocks = quantities.count(sum(run.blocks for run in result.runs), "block")
    once = [f"{row.call}, {row.row.statistic}" for row in result.rows if row.again not in (None, "slower")]
    alarms = f"; slower in the first run alone: {quantities.listed(once)}" if once else ""
    return f"{blocks} in {runs}, {format_duration(round(result.seconds))}{alarms}"


def figures(result: GateResult) -> Iterator[tuple[str, ...]]:
    """Yield verdict, call, what is compared, base, head, ratio and interval of each row, costs and errors as well."""
    for each in result.rows:
        before, after = documents.values(each.row) or ("-", "-")
        ratio, interval = documents.ratio(each.row), documents.interval(each.row, each.limit)
        verdict = each.verdict if each.is_decisive or each.is_alarm else ""  # others raise alarms alone
        yield verdict, each.call, each.row.statistic, before, after, ratio, interval
    for call in result.calls:
        for name, cost in call.costs:
            if cost.statistic not in _SHOWN:
                continue
            ratio, interval = documents.ratio(cost), documents.interval(cost, result.limit)
            of_requests = "" if cost.statistic.endswith("_memory") else f", {PER:,} requests"
            what = f"{COSTS[cost.statistic]}{of_requests}"
            yield "", name, what, *documents.cost_values(cost), ratio, interval
        if any(call.errors):
            yield "", call.call, "failed requests", *(quantities.share(share) for share in call.errors), "-", "-"
