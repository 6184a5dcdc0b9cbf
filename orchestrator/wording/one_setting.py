"""The lines about one setting: which is fastest, by how much against the reference, and which are slower or undecided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.experiment.model.factors import STACK
from orchestrator.findings.grid import Distances
from orchestrator.findings.ranking import Ranking, Side, Tier, within
from orchestrator.quantities import margin, percent
from orchestrator.statistics.terms import ReasonKind
from orchestrator.wording.phrasing import Line, Scale, change, change_span, named, scale_for, some
from orchestrator.wording.reasons import clause
from orchestrator.wording.where import over

_MOST = 4  # names with a figure each; of more the range
NO_DIFFERENCE = "no significant difference"


def lines(ranking: Ranking, distances: Distances) -> Iterator[Line]:
    """Yield the line about the fastest, then those about the others; at least one side of `ranking` was compared."""
    first, *rest = ranking.tiers
    every = [cell for tier in ranking.tiers for cell in tier.cells]
    scale = _scale(ranking, every)
    place = over(distances, ranking.cells[every[0]])
    by = by_what(ranking, " by ")
    if rest:
        yield Line(f"Fastest{by}", f"{_fastest(ranking, first, scale)}{place}.")
    elif first.alike:
        share = margin(ranking.matters)
        if len(ranking.sides) == 1:
            share = percent(within(ranking.sides[0].interval, ranking.matters))
        yield Line(f"Equal{by}", f"{_items(ranking, first.cells, scale)}, within {share}{place}.")
    else:
        yield Line(
            f"Undecided{by}", f"{NO_DIFFERENCE} between {_items(ranking, first.cells, scale)}{_pair(ranking)}{place}."
        )
    yield from _others(ranking)


def by_what(ranking: Ranking, before: str) -> str:
    """The statistic that ranks, behind these words; empty of medians."""
    return "" if ranking.statistic == "median" else f"{before}{ranking.statistic}"


def _scale(ranking: Ranking, cells: Sequence[str]) -> Scale:
    values = [value for cell in cells if (value := ranking.value(cell)) is not None]
    if not ranking.is_of_rates:
        return scale_for(values)
    return Scale(name="a second", per_ms=1.0, decimals=0)


def _change(ranking: Ranking, side: Side) -> str:
    return change(ranking.measured((side.ratio, side.ratio))[0])


def _fastest(ranking: Ranking, tier: Tier, scale: Scale) -> str:
    text = _items(ranking, tier.cells, scale)
    if len(tier.cells) > 1:
        text += f" (equal within {margin(ranking.matters)})" if tier.alike else f" ({NO_DIFFERENCE})"
    if ranking.reference in tier.cells:
        return f"{text}, the reference" if len(tier.cells) == 1 else text
    sides = [side for side in ranking.sides if side.cell in tier.cells]
    changes = [_change(ranking, side) for side in sorted(sides, key=lambda side: tier.cells.index(side.cell))]
    if len(sides) == 1:
        shown = f"{changes[0]} ({change_span(ranking.measured(sides[0].interval))})"
    elif len(sides) <= _MOST:
        shown = f"{', '.join(changes[:-1])} and {changes[-1]}"
    else:
        ratios = [side.ratio for side in sides]
        shown = change_span(ranking.measured((min(ratios), max(ratios))))
    base = ranking.value(ranking.reference)
    reference = f"{named(ranking.names[ranking.reference])}{'' if base is None else f', {scale.text(base)}'}"
    return f"{text}: {shown} against {reference}"


def _items(ranking: Ranking, cells: Sequence[str], scale: Scale) -> str:
    """`rest 310 µs and grpc 372 µs`; of many `a, b, c and 4 more (117 to 239 µs)`; a factor's subject comes first."""
    subject = "" if ranking.factor == STACK else f"{named(ranking.subject)} "
    medians = {cell: ranking.value(cell) for cell in cells}
    known = sorted(value for value in medians.values() if value is not None)
    if len(cells) > _MOST or len(known) < len(cells):
        spread = f" ({scale.span((known[0], known[-1]))})" if known else ""
        return f"{subject}{some([ranking.names[cell] for cell in cells])}{spread}"
    return subject + some(
        [f"{named(ranking.names[cell])} {scale.text(value or 0.0)}" for cell, value in medians.items()]
    )


def _pair(ranking: Ranking) -> str:
    """Of two: how far apart they can be."""
    if len(ranking.sides) > 1:
        return ""
    (side,) = ranking.sides
    name, reference = (named(ranking.names[cell]) for cell in (side.cell, ranking.reference))
    return f"; {name} {change_span(ranking.measured(side.interval))} against {reference}"


def _others(ranking: Ranking) -> Iterator[Line]:
    """The sides that are not among the fastest, by what they are against the reference."""
    reference = named(ranking.names[ranking.reference])
    rest = [cell for tier in ranking.tiers[1:] for cell in tier.cells if cell != ranking.reference]
    sides = {side.cell: side for side in ranking.sides}

    def having(standing: str) -> list[str]:
        cells = [cell for cell in rest if sides[cell].standing == standing]
        return [f"{named(ranking.names[cell])} {_change(ranking, sides[cell])}" for cell in cells]

    if faster := having("faster"):
        yield Line("Faster", f"{some(faster, 8)} against {reference}.", "others")
    if slower := having("slower"):
        yield Line("Slower", f"{some(slower, 8)} against {reference}.", "others")
    if equal := having("tie"):
        text = f"{some(equal, 8)}: intervals within {margin(ranking.matters)} of {reference}."
        yield Line("Equal", text, "others")
    left = [ranking.names[cell] for cell in rest if sides[cell].standing == "not resolved"]
    texts = [f"{NO_DIFFERENCE} from {reference}: {some(left, 8)}"] if left else []
    if ranking.unranked:
        texts.append(f"too variable to rank: {some([ranking.names[cell] for cell in ranking.unranked], 3)}")
    reasons: dict[str, list[str]] = {}
    for member in ranking.undecided:
        if member.reason and member.reason.kind is not ReasonKind.INVALID:
            reasons.setdefault(clause(member.reason, {}), []).append(ranking.names[member.cell])
    texts += [f"insufficient data for {some(names, 3)}: {why}" for why, names in reasons.items()]
    if texts:
        yield Line("Undecided", f"{'; '.join(texts)}.", "undecided")
