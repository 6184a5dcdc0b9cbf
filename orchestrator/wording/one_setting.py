"""The sentence about one setting: which is fastest, and by how much; equal; or no significant difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator import quantities
from orchestrator.experiment.model.factors import STACK
from orchestrator.findings.grid import Distances
from orchestrator.findings.ranking import Ranking, Tier, within
from orchestrator.wording.phrasing import (
    MOST_LETTERS,
    Scale,
    Verb,
    capital,
    fitting,
    named,
    opened,
    scale_for,
    some,
    verb_of,
)
from orchestrator.wording.where import over

_MANY = 5  # from so many sides on, only the first, the last, and those without a significant difference are named


def sentence(ranking: Ranking, distances: Distances, most: int = MOST_LETTERS) -> str:
    """Return the sentence, of so many letters at most; at least one side of `ranking` could be compared."""
    is_pair = len(ranking.ranked) == 2 and not ranking.unranked
    return fitting(*(_of_two if is_pair else _of_several)(ranking, distances), most=most)


def verb(ranking: Ranking) -> Verb:
    """Return how a sentence speaks of this setting's work."""
    return verb_of(ranking.cells[cell] for cell in ranking.names)


def no_difference(names: Sequence[str], most: int = 4) -> str:
    """Return `no significant difference between a and b`."""
    return f"no significant difference between {some(names, most)}"


# ---- two sides


def _of_two(ranking: Ranking, distances: Distances) -> Iterator[str]:
    first, *rest = ranking.tiers
    cells = (*first.cells, *(cell for tier in rest for cell in tier.cells))
    gap = ranking.gap(cells[0], cells[1])
    medians = [value for cell in cells if (value := ranking.median(cell)) is not None]
    scale = scale_for(medians, gap if rest else None)
    where = over(distances, ranking.cells[cells[0]])
    against = scale.all(medians, " against ")
    if rest:
        bounds = ranking.gap_bounds(cells[0], cells[1])
        between = f", difference {scale.span(bounds)}" if bounds else ""
        lead = _faster(ranking, cells, "" if gap is None else f"{scale.text(gap)} ")
        yield f"{lead}{where} ({against}{between}){_beside(ranking, cells, gap, distances)}."
        yield f"{lead}{where} ({against}{between})."
        yield f"{lead}."
    elif first.alike:
        share = quantities.percent(within(ranking.sides[0].interval, ranking.matters))
        yield f"{_equal(ranking, cells)}, within {share}{where} ({scale.all(medians)})."
        yield f"{_equal(ranking, cells)}, within {share}."
    else:
        low, high = ranking.gap_bounds(cells[1], cells[0]) or (0.0, 0.0)
        name = named(ranking.names[cells[0]])
        more = "more" if high >= 0 else "less"
        spread = f": {name} took between {scale.text(abs(low))} less and {scale.text(abs(high))} {more}"
        lead = opened(_subject(ranking), no_difference([ranking.names[cell] for cell in cells]))
        yield f"{lead}{where} ({against}){spread}."
        yield f"{lead}{where} ({against})."


def _subject(ranking: Ranking) -> str:
    return "" if ranking.factor == STACK else f"{named(ranking.subject)}: "


def _faster(ranking: Ranking, cells: Sequence[str], gap: str) -> str:
    """`grpc answered 62 µs faster than rest`; of a factor `With gzip, rest answered 86 µs faster than with none`."""
    first, other = (named(ranking.names[cell]) for cell in cells)
    is_stack = ranking.factor == STACK
    if ranking.statistic == "p99":
        who = first if is_stack else f"{first}, {named(ranking.subject)}"
        return f"The longest gaps between events were {gap}shorter with {who} than with {other}"
    who = first if is_stack else f"{capital(first)}, {named(ranking.subject)}"
    return f"{who} {verb(ranking).did} {gap}faster than {other}"


def _equal(ranking: Ranking, cells: Sequence[str]) -> str:
    first, other = (named(ranking.names[cell]) for cell in cells)
    if ranking.factor == STACK:
        return f"{first} and {other} are equal here"
    return f"{named(ranking.subject)} is equally fast {first} and {other}"


def _beside(ranking: Ranking, cells: Sequence[str], gap: float | None, distances: Distances) -> str:
    """What the difference is beside the round trip, or beside the slower one's time."""
    slower = ranking.median(cells[1])
    if not gap or not slower or ranking.statistic == "p99":
        return ""
    far = distances.far(ranking.cells[cells[0]])
    if far is not None and gap <= ranking.matters * far:
        return f": next to nothing beside a round trip of {quantities.ms(far)}"
    return f": {quantities.percent(min(gap / slower, 1.0))} less time"


# ---- several


def _of_several(ranking: Ranking, distances: Distances) -> Iterator[str]:
    first, *rest = ranking.tiers
    every = [cell for tier in ranking.tiers for cell in tier.cells]
    scale = scale_for(value for cell in every if (value := ranking.median(cell)) is not None)
    where = over(distances, ranking.cells[every[0]])
    if not rest:
        yield from _one_tier(ranking, first, scale, where)
        return
    lead = f"{_subject(ranking)}{_first(ranking, first, scale)}{where}"
    last = rest[-1]
    ending = f"{some(_names(ranking, last))} slowest{_medians(ranking, last, scale)}"
    open_tiers = [tier for tier in rest if len(tier.cells) > 1 and not tier.alike]
    pairs = " or between ".join(some(_names(ranking, tier), 9) for tier in open_tiers)
    still_open = f"; no significant difference between {pairs}" if open_tiers else ""
    if ranking.unranked:
        wide = some([ranking.names[cell] for cell in ranking.unranked], 3)
        lead = f"{lead} ({wide} varied too much to be ranked)"
    if len(every) < _MANY:
        then = [f"{some(_names(ranking, tier))}{_medians(ranking, tier, scale)}" for tier in rest[:-1]]
        middle = f", then {quantities.listed(then)}" if then else ""
        yield f"{lead}{middle}, {ending}{still_open}."
    yield f"{lead}, {ending}{still_open}."
    yield f"{lead}, {ending}."
    yield f"{lead}."


def _one_tier(ranking: Ranking, tier: Tier, scale: Scale, where: str) -> Iterator[str]:
    medians = sorted(value for cell in tier.cells if (value := ranking.median(cell)) is not None)
    spread = f" ({scale.span((medians[0], medians[-1]))})"
    names = _names(ranking, tier)
    for most in (8, 4, 2):
        if not tier.alike:
            yield f"{opened(_subject(ranking), no_difference(names, most))}{where}{spread}."
            continue
        equal = f"within {quantities.margin(ranking.matters)}{where}{spread}"
        if ranking.factor == STACK:
            yield f"{some(names, most)} are equal here, {equal}."
        else:
            yield f"{named(ranking.subject)} is equally fast {some(names, most)}, {equal}."


def _first(ranking: Ranking, tier: Tier, scale: Scale) -> str:
    names, medians = _names(ranking, tier), _medians(ranking, tier, scale)
    lead = f"{some(names)} {verb(ranking).did} fastest"
    if len(names) == 1:
        return f"{lead}{medians}"
    if tier.alike:
        return f"{lead}, equal within {quantities.margin(ranking.matters)}{medians}"
    return f"{lead}, with no significant difference between them{medians}"


def _names(ranking: Ranking, tier: Tier) -> list[str]:
    return [ranking.names[cell] for cell in tier.cells]


def _medians(ranking: Ranking, tier: Tier, scale: Scale) -> str:
    medians = [value for cell in tier.cells if (value := ranking.median(cell)) is not None]
    if not medians:
        return ""
    return f" ({scale.all(medians) if len(medians) < 3 else scale.span((min(medians), max(medians)))})"
