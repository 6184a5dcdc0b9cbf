"""The short answer of a run, from its summary alone: what forbids an answer first, then who is ahead in what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.analysis import along, unresolved, validity
from orchestrator.analysis.conclusion import decides, first, invalid, several, special, worth
from orchestrator.analysis.conclusion.arena import Arena, arenas, questions
from orchestrator.analysis.conclusion.places import Distances, axes, where
from orchestrator.analysis.conclusion.plain import MOST_LETTERS, behind, capital, fitting, some
from orchestrator.analysis.conclusion.shapes import CANNOT, Conclusion, Figure
from orchestrator.analysis.summary import CellSummary, RunSummary
from orchestrator.analysis.sweep import sentences
from orchestrator.analysis.sweep.grid import Sweep, sweep
from orchestrator.analysis.sweep.leads import Lead, leads
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.results.manifest import is_shared

_QUIET = "Measure it again on a quiet machine."
_CHECK = "`orch check` says what each check found and what to do."


def conclude(summary: RunSummary, rules: Sequence[str] = ()) -> Conclusion:
    """The short answer. Figures of cells that failed a check have no difference; no sentence recommends one of them.

    `rules`: sentences on timing rules that mislead, where the run asked about them (`misleading.figure_words`).
    """
    asked, *others = questions(arenas(summary)) or [()]
    told = tuple(arena for arena in asked if arena.tiers)
    failed = invalid.failed(summary)
    figures = _figures(summary, asked)
    if failed and failed.is_everywhere:
        return replace(_cannot(failed.text, _CHECK, figures), overloads=failed.overloads)
    compared = {cell for arena in asked for cell in arena.names} or {cell.id for cell in summary.cells}
    busy = unresolved.busy(summary.checks, {}, compared, is_shared=is_shared(summary.warnings))
    own = special.told(summary, rules)
    if not own and (noise := invalid.noise([arena for question in (asked, *others) for arena in question], busy)):
        return _cannot(noise, _QUIET, figures)
    cut = invalid.cut(summary)
    if cut and not told and not CAPACITY.of(summary).rates:
        return _cannot(cut, "Continue it: `orch run --resume`.", figures)
    lead = "On a busy machine: " if busy else ""
    made = _answer(summary, own, asked, others, MOST_LETTERS - len(lead))
    advice = made.advice
    if busy:
        advice = f"Repeat it on a quiet machine before you rely on it: {busy}."
    elif cut:
        advice = f"Continue it before you rely on it ({cut}): `orch run --resume`."
    elif failed and failed.is_checked and advice:
        advice = f"See first why a check failed in part of the run: `orch check`. {advice}"
    return Conclusion(
        sentence=behind(lead, made.sentence),
        figures=figures,
        left_out=failed.left_out if failed else "",
        overloads=failed.overloads if failed else (),
        besides=made.besides,
        matters_from=made.matters_from,
        sure=made.sure,
        advice=advice,
        invalid_because=failed.text if failed else "",
        ahead=made.ahead,
    )


def _cannot(why: str, advice: str, figures: tuple[Figure, ...]) -> Conclusion:
    return Conclusion(sentence=fitting(f"{CANNOT}{why}."), figures=figures, advice=advice, invalid_because=why)


def _figures(summary: RunSummary, asked: Sequence[Arena]) -> tuple[Figure, ...]:
    if CAPACITY.of(summary).rates:
        return special.figures_of_rates(CAPACITY.of(summary).rates, CAPACITY.of(summary).comparisons)
    return tuple(figure for arena in asked for figure in arena.figures)


def _answer(
    summary: RunSummary, own: str, asked: Sequence[Arena], others: Sequence[Sequence[Arena]], most: int
) -> Conclusion:
    """The answer where nothing forbids one, `own` where the question has its own; of so many letters at most."""
    told = [arena for arena in asked if arena.tiers]
    distances = Distances.of(summary.plan)
    if CAPACITY.of(summary).rates:
        return _of_rates(summary, most)
    if own:
        return Conclusion(
            sentence=fitting(own, most=most),
            besides=_of(told, asked, distances, MOST_LETTERS),
            sure=worth.sure(summary, told, ()) if told else "",
        )
    if not asked:
        return Conclusion(sentence=fitting(special.alone(_sound(summary)), most=most))
    along_axis = sweep(summary)
    axis_leads = leads(along_axis, asked)
    if not told and not axis_leads:
        return Conclusion(sentence=_untold(summary, asked, most), advice=worth.advice(summary, asked, (), distances))
    seen = decides.effects(_sound(summary), told[0].factor, summary.matters) if told else ()
    is_crossed = len(told) > 1 and bool(along.crossings(AXES.of(summary)))  # where it turns is the nearer answer
    second = next((other for other in others if any(arena.tiers for arena in other)), ())
    besides = _of([arena for arena in second if arena.tiers], second, distances, MOST_LETTERS)
    besides = "" if is_crossed or not told else worth.rates(summary, told) or besides
    sentence = _of(told, asked, distances, most)
    if along_axis and axis_leads:
        sentence = sentences.sentence(along_axis, axis_leads[0], most)
        besides = _of_other_panels(along_axis, axis_leads, told, asked, distances) or besides
    return Conclusion(
        sentence=sentence,
        besides=besides,
        matters_from=worth.matters_from(summary, told, distances) if told else "",
        sure=worth.sure(summary, told, seen) if told else "",
        advice=worth.advice(summary, told or asked, seen, distances),
        ahead=_ahead(told),
    )


def _of_other_panels(
    along_axis: Sweep, axis_leads: Sequence[Lead], told: Sequence[Arena], asked: Sequence[Arena], distances: Distances
) -> str:
    """What becomes of the leads of further operations, and what is true of those without places along the axis."""
    panels = [lead.panel for lead in axis_leads]
    alone = [arena for arena in told if along_axis.panel(arena.reference) not in panels]
    texts = [
        sentences.others(along_axis, axis_leads[1:]),
        *(_of([arena], asked, distances, MOST_LETTERS) for arena in alone),
    ]
    return " ".join(filter(None, texts))


def _of(told: Sequence[Arena], asked: Sequence[Arena], distances: Distances, most: int) -> str:
    """The first sentence about these settings, which says so where others of `asked` could not be compared; else empty."""
    if not told:
        return ""
    if len(told) > 1:
        return several.sentence(told, distances, most, of=len(asked))
    place = where(told[0], axes(asked, distances)) if len(asked) > 1 else ""
    lead = f"{capital(place)}: " if place else ""
    return behind(lead, first.sentence(told[0], distances, most - len(lead)))


def _sound(summary: RunSummary) -> list[CellSummary]:
    failed = validity.invalid_cells(summary.cells, summary.checks)
    return [cell for cell in summary.cells if cell.id not in failed]


def _of_rates(summary: RunSummary, most: int) -> Conclusion:
    found = [of for of in CAPACITY.of(summary).rates if not of.invalid]
    return Conclusion(
        sentence=fitting(special.of_rates(found), most=most),
        matters_from=special.goals(found) if found else "",
        sure=special.sure(found, CAPACITY.of(summary).comparisons),
        advice=special.advice(found, CAPACITY.of(summary).comparisons),
    )


def _ahead(told: Sequence[Arena]) -> tuple[str, ...]:
    outcomes = {several.outcome(arena) for arena in told}
    if len(outcomes) != 1:
        return ()
    names = next(iter(outcomes)).names
    return tuple(name for name in told[0].names.values() if name in names)


def _untold(summary: RunSummary, asked: Sequence[Arena], most: int) -> str:
    """Where nothing could be compared: of whom, and why; those that failed a check are left out."""
    valid = {cell.id for cell in _sound(summary)}
    names = list(dict.fromkeys(name for arena in asked for cell, name in arena.names.items() if cell in valid))
    members = [member for arena in asked for member in arena.members]
    members.sort(key=lambda member: not {member.cell, member.reference_cell} <= valid)
    why = next((member.why for member in members), "")
    if "blocks that an interval needs" in why:
        few = why.split(" ")[0]
        why = f"{'no' if few == '0' else few} {'repeat is' if few == '1' else 'repeats are'} too few, it takes 3"
    elif any(word in why for word in ("block", "p99", "resolved", "cell")):
        why = "too many requests got no right reply, or trials failed"
    lead = f"This run cannot tell how {some(names) if len(names) > 1 else 'these'} compare"
    return fitting(f"{lead}: {why}.", f"{lead}.", most=most)
