"""The result of a run, one text for terminal, report, Markdown, JSON and web: five short lines, conditions and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator import quantities
from orchestrator.experiment.plan.parts import languages_of_stacks
from orchestrator.findings import validity
from orchestrator.findings.check_result import CheckResult, CheckVerdict, by_check
from orchestrator.findings.effects import effects
from orchestrator.findings.grid import Distances, sweep
from orchestrator.findings.leads import leads
from orchestrator.findings.ranking import Ranking, by_factor, ranked_by, rankings
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.sameness import words as sameness
from orchestrator.questions.sameness.find import QUESTION as SAMENESS
from orchestrator.questions.saturation import words as saturation
from orchestrator.questions.saturation.find import QUESTION as SATURATION
from orchestrator.questions.stalls.find import QUESTION as STALLS
from orchestrator.wording import along_axis, grounds, left_out, one_setting, other_questions, several_settings
from orchestrator.wording.phrasing import Line, capital, some
from orchestrator.wording.reasons import clause
from orchestrator.wording.tables.result_tables import tables
from orchestrator.wording.tables.table import Table
from orchestrator.wording.where import axes, name_of_place, where

MOST_LINES = 5


@dataclass(frozen=True, kw_only=True)
class Answer:
    """At most five lines, the conditions in one line, and tables.

    `left_out`: what failed checks leave out. `invalid_because`: why the run, or part of it, cannot answer. `fastest`: one
    name, or several without a significant difference; none where settings differ.
    """

    lines: tuple[Line, ...]
    conditions: str = ""
    checks: str = ""
    tables: tuple[Table, ...] = ()
    cannot_answer: bool = False
    left_out: str = ""
    invalid_because: str = ""
    fastest: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The first line."""
        return self.lines[0].sentence


def answer(summary: RunSummary) -> Answer:
    """Return the result that a summary holds; nothing is computed anew, and no line recommends an invalid cell."""
    compared, *others = by_factor(rankings(summary)) or [()]
    failed = left_out.failed(summary)
    frame = Answer(
        lines=(),
        conditions=conditions(summary),
        checks=checks_line(summary.checks),
        invalid_because=failed.text if failed else "",
    )
    loud = validity.disturbances(
        summary, {cell for each in compared for cell in each.names} or {c.id for c in summary.cells}
    )
    if why := _why_not(summary, (compared, *others), failed, loud):
        line = Line("No result", f"{why[0]}. {why[1]}")
        marked = tables(summary, mark="not valid")
        return replace(
            frame, lines=_marked(summary, (line,)), tables=marked, cannot_answer=True, invalid_because=why[0]
        )
    cautions = [failed.left_out] if failed else []
    if waiting := left_out.waiting(summary):
        cautions.append(f"{waiting}.")
    if loud:
        cautions.append(f"{left_out.loud(loud)}: repeat it on a quiet machine before you rely on it.")
    elif cut := left_out.interrupted(summary):
        cautions.append(f"{cut}; continue it with `orch run --resume`.")
    caution = [Line("Caution", " ".join(map(capital, cautions)))] if cautions else []
    first, rest = _lines(summary, compared, others)
    return replace(
        frame,
        lines=_marked(summary, _fitting([*first, *caution, *_beside(summary), *rest])),
        tables=tables(summary),
        left_out=failed.left_out if failed else "",
        fastest=_fastest([ranking for ranking in compared if ranking.tiers]),
    )


def _marked(summary: RunSummary, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    unlike = sameness.headline(SAMENESS.of(summary))
    return (replace(lines[0], text=f"{unlike} {capital(lines[0].text)}"), *lines[1:]) if unlike else lines


def _why_not(
    summary: RunSummary,
    factors: Sequence[Sequence[Ranking]],
    failed: left_out.Failed | None,
    loud: Sequence[validity.Disturbance],
) -> tuple[str, str] | None:
    """Why the run has no result, and the next command; None where it has one."""
    if failed and failed.is_everywhere:
        return failed.text, "See what each check found: `orch runs check`."
    every = [ranking for rankings_of in factors for ranking in rankings_of]
    if not other_questions.own(summary) and (noise := left_out.noise(every, loud)):
        return noise, f"Repeat it on a quiet machine: `{summary.run.repeat_command}`."
    cut = left_out.interrupted(summary)
    if cut and not any(ranking.tiers for ranking in factors[0]) and not CAPACITY.of(summary).rates:
        return cut, "Continue it: `orch run --resume`."
    return None


def _lines(
    summary: RunSummary, compared: Sequence[Ranking], others: Sequence[Sequence[Ranking]]
) -> tuple[list[Line], list[Line]]:
    ranked = [ranking for ranking in compared if ranking.tiers]
    distances = Distances.of(summary.plan)
    if CAPACITY.of(summary).rates:
        return other_questions.of_rates(CAPACITY.of(summary)), []
    if text := other_questions.own(summary):
        beside = _of_settings(ranked, compared, distances)[:1]
        return [Line("Result", text), *beside], _grounds(summary, ranked, distances, is_worth=False)
    if not compared:
        return [_nothing_compared(summary)], []
    along = sweep(summary)
    if along and (axis_leads := leads(along, compared)):
        texts = [along_axis.sentence(along, axis_leads[0]), along_axis.others(along, axis_leads[1:])]
        first = [Line(head, text) for head, text in zip(("Result", "Also"), texts, strict=True) if text]
        panels = [lead.panel for lead in axis_leads]
        alone = [ranking for ranking in ranked if along.panel(ranking.reference) not in panels]
        return first + _of_settings(alone, compared, distances)[:1], _grounds(summary, ranked, distances)
    if not ranked:
        return [Line("Insufficient data", _not_compared(summary, compared))], [Line("Next", grounds.next_step(summary))]
    first = _of_settings(ranked, compared, distances)
    is_crossed = len(ranked) > 1 and bool(grounds.crossings(AXES.of(summary)))  # where it turns is the nearer answer
    if not is_crossed:
        second = next((other for other in others if any(ranking.tiers for ranking in other)), ())
        beside = _of_settings([ranking for ranking in second if ranking.tiers], second, distances)[:1]
        first += [replace(line, head="Also") for line in beside]
    return first, _grounds(summary, ranked, distances)


def _beside(summary: RunSummary) -> list[Line]:
    texts = {
        "Saturation": saturation.headline(SATURATION.of(summary)),
        "Stalls": other_questions.of_stalls(STALLS.of(summary)),
    }
    return [Line(head, text) for head, text in texts.items() if text]


def _grounds(
    summary: RunSummary, ranked: Sequence[Ranking], distances: Distances, *, is_worth: bool = True
) -> list[Line]:
    if not ranked:
        return []
    seen = effects(_valid(summary), ranked[0].factor, summary.matters)
    lines = (
        Line("In practice", grounds.practice(summary, ranked, seen, distances) if is_worth else "", "practice"),
        Line("Compares", grounds.compares(ranked), "compares"),
        Line("Certainty", grounds.certainty(summary, ranked)),
    )
    return [line for line in lines if line.text]


def _fitting(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Five lines at most: sides beside the fastest share one, then worth and subject of a difference are left out."""
    if len(lines) > MOST_LINES:
        beside = [line for line in lines if line.kind in ("others", "undecided")]
        if len(beside) > 1:
            text = " ".join(capital(line.text) if line.kind == "undecided" else line.sentence for line in beside)
            merged = Line("Others", text)
            lines = [lines[0], merged, *(line for line in lines[1:] if line not in beside)]
    for kind in ("practice", "compares"):
        if len(lines) > MOST_LINES:
            lines = [line for line in lines if line.kind != kind]
    return tuple(lines[:MOST_LINES])


def _of_settings(ranked: Sequence[Ranking], compared: Sequence[Ranking], distances: Distances) -> list[Line]:
    """The lines about these settings, which say so where others could not be compared; else empty."""
    if not ranked:
        return []
    if len(ranked) > 1:
        return [Line("Result", several_settings.sentence(ranked, distances, len(compared)))]
    first, *rest = one_setting.lines(ranked[0], distances)
    place = where(ranked[0], axes(compared, distances)) if len(compared) > 1 else ""
    return [replace(first, text=f"{place}: {first.text}") if place else first, *rest]


def _valid(summary: RunSummary) -> list[CellSummary]:
    invalid = validity.invalid_cells(summary.cells, summary.checks)
    return [cell for cell in summary.cells if cell.id not in invalid]


def _fastest(ranked: Sequence[Ranking]) -> tuple[str, ...]:
    outcomes = {ranking.outcome for ranking in ranked}
    if len(outcomes) != 1:
        return ()
    names = next(iter(outcomes)).names
    return tuple(name for name in ranked[0].names.values() if name in names)


def _nothing_compared(summary: RunSummary) -> Line:
    if summary.metric != "median" and summary.comparisons:
        return Line("Insufficient data", f"a schedule sets {summary.metric} here, whatever the stack.")
    controls = other_questions.against_itself([c for c in summary.comparisons if c.statistic == ranked_by(summary)])
    return Line("Result", controls or other_questions.alone(_valid(summary)))


def _not_compared(summary: RunSummary, compared: Sequence[Ranking]) -> str:
    """Where nothing could be compared: of which names, and why; invalid ones are left out."""
    valid = {cell.id for cell in _valid(summary)}
    names = list(dict.fromkeys(name for each in compared for cell, name in each.names.items() if cell in valid))
    members = [member for ranking in compared for member in ranking.members if member.reason]
    members.sort(key=lambda member: not {member.cell, member.reference_cell} <= valid)
    why = clause(members[0].reason, {}) if members and members[0].reason else ""
    if grounds.is_short_of_p99(summary):
        why = f"too few requests in a trial, as p99 takes {grounds.FOR_P99:,}"
    by = one_setting.by_what(compared[0], "by ")
    return f"{': '.join(filter(None, (', '.join(filter(None, (by, some(names)))), why)))}."


_MOST_CHECKS = 4
_WORDS: Mapping[CheckVerdict, str] = {"fail": "Failed", "warn": "Warnings", "cannot tell": "Undecided"}
_MOST = 4  # values of one kind; of more the first and the last


def conditions(summary: RunSummary) -> str:
    """Return machine, system, runtime, places, repeats and their load: `2 CPUs AMD EPYC (virtual machine), ...`."""
    return " · ".join(filter(None, _parts(summary)))


def checks_line(checks: Sequence[CheckResult]) -> str:
    """Return how many checks came to which verdict, then which failed and which warn."""
    if not checks:
        return "Checks: none were run."
    verdicts = by_check(checks)
    texts = [f"{left_out.verdicts(checks)}."]
    for verdict, word in _WORDS.items():
        if names := [name for name, each in verdicts.items() if each == verdict]:
            shown = names[:_MOST_CHECKS] + ([f"{len(names) - _MOST_CHECKS} more"] if len(names) > _MOST_CHECKS else [])
            texts.append(f"{word}: {quantities.listed(shown)}.")
    return f"Checks: {' '.join(texts)}"


def _parts(summary: RunSummary) -> Iterator[str]:
    known: dict[str, str] = {each.kind: each.value for each in summary.conditions}
    machine = " ".join(filter(None, (known.get("CPUs", "") and f"{known['CPUs']} CPUs", known.get("CPU", ""))))
    virtual = known.get("Virtualisation", "")
    yield f"{machine} ({virtual.split(',')[0]})" if machine and virtual else machine
    yield known.get("System", "")
    languages = dict.fromkeys(each for ends in languages_of_stacks(summary.plan).values() for each in ends)
    yield ", ".join(known.get(language, language) for language in languages)
    distances = Distances.of(summary.plan)
    places = [name_of_place(distances, cell) for cell in summary.cells if cell.kind != "codec"]
    yield _several(places)
    load = "" if CAPACITY.of(summary).rates else _several([cell.labels.load for cell in summary.cells])
    repeats = max((len(cell.trials) for cell in summary.cells), default=0)
    yield " of ".join(filter(None, (quantities.count(repeats, "repeat") if repeats else "", load)))


def _several(texts: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(texts))
    return ", ".join(distinct) if len(distinct) <= _MOST else f"{distinct[0]} … {distinct[-1]}"
