"""The answer of a run: one sentence, and at most four more on what it is worth, how sure it is and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.findings import validity
from orchestrator.findings.check_result import Overloaded
from orchestrator.findings.effects import effects
from orchestrator.findings.grid import Distances, Sweep, sweep
from orchestrator.findings.leads import Lead, leads
from orchestrator.findings.ranking import Figure, Ranking, by_factor, rankings
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.wording import along_axis, grounds, left_out, one_setting, other_questions, several_settings
from orchestrator.wording.phrasing import MOST_LETTERS, capital, fitting, some
from orchestrator.wording.reasons import clause
from orchestrator.wording.where import axes, where

_BUSY = "On a busy machine: "


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One sentence of at most 240 characters, and what follows it, a sentence each; empty where there is nothing.

    `left_out`: what failed checks leave out of the answer, and `overloads` the rates in it that a stack did not carry.
    `besides`: the answer to what else the run compares, read in place of `matters_from`: what the difference is worth, and
    up to which call. `sure`: from how many repeats, how small a difference they could have found, and what was not
    measured. `advice`: what to do. `invalid_because`: why the run, or part of it, cannot answer. `fastest`: names of the
    figures: one, or several without a significant difference; none where settings differ.
    """

    sentence: str
    cannot_answer: bool = False
    figures: tuple[Figure, ...] = ()
    left_out: str = ""
    overloads: tuple[Overloaded, ...] = ()
    besides: str = ""
    matters_from: str = ""
    sure: str = ""
    advice: str = ""
    invalid_because: str = ""
    fastest: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """All sentences in the order in which they are read, five at most."""
        texts = (self.sentence, self.left_out, self.besides or self.matters_from, self.sure, self.advice)
        return tuple(filter(None, texts))


def answer(summary: RunSummary) -> Answer:
    """Return the answer that a summary holds; nothing is computed anew, and no sentence recommends an invalid cell."""
    compared, *others = by_factor(rankings(summary)) or [()]
    failed = left_out.failed(summary)
    figures = tuple(figure for ranking in compared for figure in ranking.figures)
    if CAPACITY.of(summary).rates:
        figures = other_questions.figures_of_rates(CAPACITY.of(summary).rates, CAPACITY.of(summary).comparisons)
    if failed and failed.is_everywhere:
        cannot = _cannot(failed.text, "`orch runs check` says what each check found and what to do.", figures)
        return replace(cannot, overloads=failed.overloads)
    loud = validity.of_run(summary, {cell for each in compared for cell in each.names} or {c.id for c in summary.cells})
    ways = other_questions.own(summary)
    if not ways and (noise := left_out.noise([ranking for each in (compared, *others) for ranking in each], loud)):
        return _cannot(noise, "Measure it again on a quiet machine.", figures)
    cut = left_out.interrupted(summary)
    if cut and not any(ranking.tiers for ranking in compared) and not CAPACITY.of(summary).rates:
        return _cannot(cut, "Continue it: `orch run --resume`.", figures)
    lead = _BUSY if loud else ""
    found = _found(summary, compared, others, ways, MOST_LETTERS - len(lead))
    advice = found.advice
    if loud:
        advice = f"Repeat it on a quiet machine before you rely on it: {left_out.loud(loud)}."
    elif cut:
        advice = f"Continue it before you rely on it ({cut}): `orch run --resume`."
    elif failed and failed.is_checked and advice:
        advice = f"See first why a check failed in part of the run: `orch runs check`. {advice}"
    return replace(
        found,
        sentence=f"{lead}{found.sentence}",
        figures=figures,
        left_out=failed.left_out if failed else "",
        overloads=failed.overloads if failed else (),
        advice=advice,
        invalid_because=failed.text if failed else "",
    )


def _cannot(why: str, advice: str, figures: tuple[Figure, ...]) -> Answer:
    sentence = fitting(f"This run cannot answer: {why}.")
    return Answer(sentence=sentence, cannot_answer=True, figures=figures, advice=advice, invalid_because=why)


def _found(
    summary: RunSummary,
    compared: Sequence[Ranking],
    others: Sequence[Sequence[Ranking]],
    ways: Sequence[str],
    most: int,
) -> Answer:
    """The answer where nothing forbids one, `ways` where the question has its own; of so many letters at most."""
    ranked = [ranking for ranking in compared if ranking.tiers]
    distances = Distances.of(summary.plan)
    if CAPACITY.of(summary).rates:
        return _of_rates(summary, most)
    if ways:
        return Answer(
            sentence=fitting(*ways, most=most),
            besides=_of_settings(ranked, compared, distances, MOST_LETTERS),
            sure=grounds.sure(summary, ranked, ()) if ranked else "",
        )
    if not compared:
        return Answer(sentence=fitting(other_questions.alone(_valid(summary)), most=most))
    along = sweep(summary)
    axis_leads = leads(along, compared)
    if not ranked and not axis_leads:
        advice = grounds.advice(summary, compared, (), distances)
        return Answer(sentence=_not_compared(summary, compared, most), advice=advice)
    seen = effects(_valid(summary), ranked[0].factor, summary.matters) if ranked else ()
    sentence, besides = _of_settings(ranked, compared, distances, most), ""
    is_crossed = len(ranked) > 1 and bool(grounds.crossings(AXES.of(summary)))  # where it turns is the nearer answer
    if ranked and not is_crossed:
        besides = grounds.rates(summary, ranked) or _of_next_factor(others, distances)
    if along and axis_leads:
        sentence = along_axis.sentence(along, axis_leads[0], most)
        besides = _of_other_panels(along, axis_leads, ranked, compared, distances) or besides
    return Answer(
        sentence=sentence,
        besides=besides,
        matters_from=grounds.matters_from(summary, ranked, distances) if ranked else "",
        sure=grounds.sure(summary, ranked, seen) if ranked else "",
        advice=grounds.advice(summary, ranked or compared, seen, distances),
        fastest=_fastest(ranked),
    )


def _of_next_factor(others: Sequence[Sequence[Ranking]], distances: Distances) -> str:
    """The sentence about the next factor that could be compared."""
    second = next((other for other in others if any(ranking.tiers for ranking in other)), ())
    return _of_settings([ranking for ranking in second if ranking.tiers], second, distances, MOST_LETTERS)


def _of_other_panels(
    along: Sweep,
    axis_leads: Sequence[Lead],
    ranked: Sequence[Ranking],
    compared: Sequence[Ranking],
    distances: Distances,
) -> str:
    """What becomes of the leads of further operations, and the answer for those without places along the axis."""
    panels = [lead.panel for lead in axis_leads]
    alone = [ranking for ranking in ranked if along.panel(ranking.reference) not in panels]
    texts = [
        along_axis.others(along, axis_leads[1:]),
        *(_of_settings([ranking], compared, distances, MOST_LETTERS) for ranking in alone),
    ]
    return " ".join(filter(None, texts))


def _of_settings(ranked: Sequence[Ranking], compared: Sequence[Ranking], distances: Distances, most: int) -> str:
    """The sentence about these settings, which says so where others could not be compared; else empty."""
    if not ranked:
        return ""
    if len(ranked) > 1:
        return several_settings.sentence(ranked, distances, most, of=len(compared))
    place = where(ranked[0], axes(compared, distances)) if len(compared) > 1 else ""
    lead = f"{capital(place)}: " if place else ""
    return lead + one_setting.sentence(ranked[0], distances, most - len(lead))


def _valid(summary: RunSummary) -> list[CellSummary]:
    invalid = validity.invalid_cells(summary.cells, summary.checks)
    return [cell for cell in summary.cells if cell.id not in invalid]


def _of_rates(summary: RunSummary, most: int) -> Answer:
    rates = [rate for rate in CAPACITY.of(summary).rates if not rate.invalid]
    return Answer(
        sentence=fitting(other_questions.of_rates(rates), most=most),
        matters_from=other_questions.goals(rates) if rates else "",
        sure=other_questions.sure(rates, CAPACITY.of(summary).comparisons),
        advice=other_questions.advice(rates, CAPACITY.of(summary).comparisons),
    )


def _fastest(ranked: Sequence[Ranking]) -> tuple[str, ...]:
    outcomes = {ranking.outcome for ranking in ranked}
    if len(outcomes) != 1:
        return ()
    names = next(iter(outcomes)).names
    return tuple(name for name in ranked[0].names.values() if name in names)


def _not_compared(summary: RunSummary, compared: Sequence[Ranking], most: int) -> str:
    """Where nothing could be compared: of which names, and why; invalid ones are left out."""
    valid = {cell.id for cell in _valid(summary)}
    names = list(dict.fromkeys(name for each in compared for cell, name in each.names.items() if cell in valid))
    members = [member for ranking in compared for member in ranking.members if member.reason]
    members.sort(key=lambda member: not {member.cell, member.reference_cell} <= valid)
    why = clause(members[0].reason, {}) if members and members[0].reason else ""
    lead = f"This run cannot tell how {some(names) if len(names) > 1 else 'these'} compare"
    return fitting(f"{lead}: {why}." if why else f"{lead}.", f"{lead}.", most=most)
