"""Why a comparison says what it says, as a clause: its interval, and the reason where nothing is decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestrator import quantities
from orchestrator.between_runs.across import Row, RunComparison
from orchestrator.between_runs.run_statistics import ASSUMED_SD, EXCESS, FEWEST_RUNS
from orchestrator.findings.summary import Comparison
from orchestrator.statistics.terms import Reason, ReasonKind
from orchestrator.wording.phrasing import ratio_span

_TEXTS: Mapping[ReasonKind, str] = {
    ReasonKind.FEW_BLOCKS: "{blocks}, and an interval needs {needed:.0f}",
    ReasonKind.CENSORED: "too many requests failed{who}: {blocks_of} have no value",
    ReasonKind.MISSING: "{blocks_of} have no value{who}, as it is not counted, or for too few requests",
    ReasonKind.UNSENT: "{share} of the requests that were due were not sent{who}, which may move the value in {blocks_of}",
    ReasonKind.NO_TRIAL: "every trial failed{who}",
    ReasonKind.UNDECODABLE: "the reader fails{who}",
    ReasonKind.SURVIVORS: "{failed:.0f} of {trials} failed entirely{who}, which may be the slow ones",
    ReasonKind.SCHEDULE: "the schedule of the events sets this value, whatever the stack",
    ReasonKind.INVALID: "{names} failed{who}",
    ReasonKind.NOISY: "the blocks differ too much",
    ReasonKind.CORRECTED: "the blocks agree, and the correction for {compared:.0f} comparisons widens the interval",
    ReasonKind.CONTROL: "the reference differs from itself by {difference}",
    ReasonKind.DISTURBED: "others held up the two sides unequally, for {cell} and {reference} of their time",
    ReasonKind.FLOOR_MOVED: "the floor's movement may account for it",
    ReasonKind.DOUBTED: "{names} by the numbers alone",
    ReasonKind.FAILED_TRIALS: "{trials} failed",
    ReasonKind.NOT_MEASURED: "no trial",
    ReasonKind.NO_REPLY: "a trial without a right reply",
}
_UNITS: Mapping[str, Callable[[float], str]] = {
    "blocks": lambda blocks: quantities.count(round(blocks), "block"),
    "cell": quantities.percent,
    "difference": quantities.difference,
    "p90": quantities.off,
    "reference": quantities.percent,
    "share": quantities.percent,
    "size": quantities.size,
    "trials": lambda trials: quantities.count(round(trials), "trial"),
}


def spread_source(comparison: RunComparison) -> str:
    """Return where the spread between two runs is taken from; empty of a comparison within a run."""
    spread = comparison.spread
    if spread is None:
        return ""
    if not spread.assumed:
        return f"the spread between runs is estimated from {spread.runs} other runs equal to the reference"
    share = "" if spread.assumed == spread.cells else f" for {spread.assumed} of {spread.cells} cells"
    more = quantities.count(max(1, FEWEST_RUNS - spread.runs), "more run")
    return (
        f"the spread between runs is not known, and assumed to be large{share}: {EXCESS:g} times what trials imply, plus "
        f"{quantities.percent(ASSUMED_SD[comparison.statistic])} of what lies above the ping; {more} of the reference's "
        "plan would show it; one run with both versions as stacks avoids it"
    )


def why(row: Comparison | Row) -> str:
    """Return the interval and the reason: `−3.0 to +45 %; the blocks differ too much`."""
    labels = {row.cell: row.stack_label, row.reference_cell: row.reference_label} if isinstance(row, Comparison) else {}
    interval = ratio_span(row.interval, "")
    reason = clause(row.reason, labels) if row.reason else ""
    return "; ".join(filter(None, (interval, reason)))


def clause(reason: Reason, labels: Mapping[str, str] = {}) -> str:
    """Return the reason in words; empty of an interval that is merely open. `labels` name cells, by id."""
    stacks = list(dict.fromkeys(labels[cell] for cell in reason.cells if cell in labels))
    numbers = reason.numbers
    who = f" with {quantities.listed(stacks)}" if stacks else ""
    texts = {**formatted(numbers), "who": who, "names": quantities.listed(reason.names)}
    if "of" in numbers:
        texts["blocks_of"] = f"{numbers.get('blocks', 0):.0f} of {quantities.count(round(numbers['of']), 'block')}"
        texts["trials"] = quantities.count(round(numbers["of"]), "trial")
    return _TEXTS.get(reason.kind, "").format(**texts)


def formatted(numbers: Mapping[str, float]) -> dict[str, str | float]:
    """Return the numbers of a reason by their names, those as text whose name says their unit."""
    return {name: _UNITS[name](number) if name in _UNITS else number for name, number in numbers.items()}
