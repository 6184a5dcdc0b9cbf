"""Questions that are not who is quicker: up to which rate goals hold, whose the spread is, who is most predictable."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.analysis.conclusion.arena import differences
from orchestrator.analysis.conclusion.plain import MOST_LETTERS, capital, fitting, named, scale_for, some
from orchestrator.analysis.conclusion.shapes import Figure
from orchestrator.analysis.summary import CellSummary, RunSummary
from orchestrator.questions.capacity.find import FoundRate, RateComparison
from orchestrator.questions.evolution import find as evolution
from orchestrator.questions.shares import words as share_words
from orchestrator.questions.shares.find import QUESTION as SHARES
from orchestrator.questions.stability import words as spread_words
from orchestrator.questions.stability.find import QUESTION as STABILITY

_PLAIN = (
    ("is not resolved", "cannot be told by this run"),
    ("not resolved", "not told"),
    ("p99 over the median", "the slowest hundredth over the middle"),
    ("p99", "the slowest hundredth"),
    ("median latencies", "latencies"),
)


def told(summary: RunSummary, rules: Sequence[str]) -> str:
    """The sentence of a question that has its own, in plain words; empty where who is quicker is what is asked.

    `rules`: what is said of timing rules that mislead.
    """
    own = [
        *rules,
        *(share_words.sentence(share) for share in SHARES.of(summary) if share.is_told),
        *spread_words.sentences(STABILITY.of(summary), summary.cells),
        *([text] if (text := evolution.sentence(summary.cells)) else []),
    ]
    if not own:
        return ""
    text = own[0]
    for group in sorted({c.group for c in (*summary.comparisons, *STABILITY.of(summary))}, key=len, reverse=True):
        text = text.removeprefix(f"{group}: ")
    for of in SHARES.of(summary):
        text = text.removeprefix(f"{of.setting}: ")
    for jargon, plain in _PLAIN:
        text = text.replace(jargon, plain)
    labels = tuple(cell.stack_label for cell in summary.cells)
    return _short(text if text.startswith(labels) else capital(text))


def _short(text: str) -> str:
    """As many of its clauses as a first sentence has room for."""
    for mark in (". ", ": of the", "; ", ": "):
        if len(text) <= MOST_LETTERS:
            break
        head, found, _ = text.partition(mark)
        while found and len(head) < MOST_LETTERS and mark == "; ":
            following, found, _ = text[len(head) + 2 :].partition(mark)
            if len(head) + len(following) + 2 > MOST_LETTERS:
                break
            head = f"{head}; {following}"
        text = head if head.endswith(".") else f"{head}."
    return fitting(text)


# ---- found rates


def of_rates(found: Sequence[FoundRate]) -> str:
    """Who kept its goals up to which rate, highest first; of several settings the one that is best in the most."""
    known = [of for of in found if of.rate_per_s is not None and not of.invalid and not of.is_control]
    if not known:
        return "This run cannot tell up to which rate anybody kept the goals."
    settings = list(dict.fromkeys((of.setting, of.goals) for of in known))
    if len(settings) > 1:
        return _of_settings(known, settings)
    ordered = sorted(known, key=lambda of: -(of.rate_per_s or 0.0))
    goals = "its goal" if "," not in ordered[0].goals else "its goals"
    ways = []
    for most in (len(ordered), 4, 2, 1):
        shown = [f"{named(of.stack_label)} {_rate(of)}" for of in ordered[:most]]
        rest = f", {len(ordered) - most} others less" if len(ordered) > most else ""
        ways.append(f"The highest rate at which each kept {goals}: {', '.join(shown)}{rest}.")
    return fitting(*ways)


def _of_settings(known: Sequence[FoundRate], settings: Sequence[tuple[str, str]]) -> str:
    best: dict[str, int] = {}
    for setting in settings:
        of = max((f for f in known if (f.setting, f.goals) == setting), key=lambda f: f.rate_per_s or 0.0)
        best[of.stack_label] = best.get(of.stack_label, 0) + 1
    clauses = [f"{named(label)} in {count}" for label, count in sorted(best.items(), key=lambda pair: -pair[1])]
    return fitting(
        f"Of {len(settings)} settings the highest rate was kept by {some(clauses)}.", f"See {len(settings)} settings."
    )


def _rate(of: FoundRate) -> str:
    side = {"at least": "at least ", "below": "less than "}.get(str(of.side), "")
    return f"{side}{words.rate(of.rate_per_s or 0.0)} a second"


def figures_of_rates(found: Sequence[FoundRate], compared: Sequence[RateComparison]) -> tuple[Figure, ...]:
    """Each rate beside the reference's, a second."""
    rates = {of.cell: of.rate_per_s for of in found}
    return tuple(
        Figure(
            setting=c.setting,
            name=c.label,
            cell=c.cell,
            median=rates.get(c.cell),
            reference=c.reference_label,
            reference_cell=c.reference_cell,
            reference_median=(base := rates.get(c.reference_cell)),
            difference=None if base is None or c.ratio is None else base * (c.ratio - 1),
            interval=differences(base, c.interval),
            standing=str(c.standing),
            unit="per second",
        )
        for c in compared
        if not c.is_control
    )


def goals(found: Sequence[FoundRate]) -> str:
    """What the goals were, and what limits those that were limited by who asked."""
    goals_ = list(dict.fromkeys(of.goals for of in found))
    text = f"The goal: {some(goals_, 2)}"
    if asked := list(dict.fromkeys(of.stack_label for of in found if of.is_requesters)):
        text += f"; the requester's side limits {some(asked, 3)}, whose responder may do more"
    return f"{text}."


def sure(found: Sequence[FoundRate], compared: Sequence[RateComparison]) -> str:
    """From how many searches, and how far the first two lie apart."""
    searches = [len(of.ended) for of in found]
    if not searches:
        return ""
    low, high = min(searches), max(searches)
    text = f"This rests on {low if low == high else f'{low} to {high}'} searches of each, 95 % intervals"
    told = [c for c in compared if not c.is_control and c.ratio is not None and not c.bound]
    if len(told) == 1 and (c := told[0]) and c.interval:
        low_, high_ = map(words.factor, c.interval)
        text += (
            f": {named(c.label)} answered {words.factor(c.ratio or 0.0)} times as many as {named(c.reference_label)} "
        )
        text += f"({low_} to {high_})"
    return f"{text}."


def advice(found: Sequence[FoundRate], compared: Sequence[RateComparison]) -> str:
    """Which to choose where the rate is what counts; nothing where rates tie or their order is open."""
    standings = {c.cell: c.standing for c in compared if not c.is_control}
    known = sorted((of for of in found if of.rate_per_s and not of.is_control), key=lambda of: -(of.rate_per_s or 0.0))
    if len(known) < 2 or len({(of.setting, of.goals) for of in known}) > 1:
        return ""
    best = known[0]
    is_told = standings.get(best.cell) == "more" or all(s == "less" for s in standings.values())
    if not is_told or len(known) > 2:
        return (
            ""
            if is_told or len(known) > 2
            else "Choose by other grounds, or measure more repeats to tell the rates apart."
        )
    return f"Where the rate is what limits you, choose {named(best.stack_label)}."


# ---- nothing to compare


def alone(cells: Sequence[CellSummary]) -> str:
    """Of cells that nothing is compared with: what the quickest and the slowest take."""
    known = sorted(
        ((of.median, cell) for cell in cells if (of := cell.distribution) and of.median is not None),
        key=lambda pair: pair[0],
    )
    if not known:
        return "This run has nothing to say: no request got a right reply often enough."
    low, cell = known[0]
    took = f"{named(cell.stack_label)} took at most {words.ms(low)} for half of its {words.sample([cell.kind], 's')}"
    if len(known) == 1:
        surely = cell.median_interval
        between = f" ({scale_for(surely).span(surely)})" if surely and not words.is_vague(surely) else ""
        return fitting(f"{took}{between}; nothing was measured beside it.")
    high, last = known[-1]
    ends = f"from {words.ms(low)} ({named(cell.setting)}) to {words.ms(high)} ({named(last.setting)})"
    stacks = list(dict.fromkeys(cell.stack_label for _, cell in known))
    return fitting(
        f"Nothing is compared here; {some(stacks, 3)} took {ends}.",
        f"Nothing is compared here: {some(stacks, 2)} took {words.ms(low)} to {words.ms(high)}.",
    )
