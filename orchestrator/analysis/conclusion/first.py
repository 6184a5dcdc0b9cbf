"""The first sentence about one setting: who is ahead, by how much, of which medians; equal; or too close to tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.analysis import words
from orchestrator.analysis.conclusion.arena import Arena, Tier, within
from orchestrator.analysis.conclusion.places import Distances
from orchestrator.analysis.conclusion.plain import (
    MOST_LETTERS,
    Scale,
    Verb,
    capital,
    fitting,
    named,
    scale_for,
    some,
    verb_of,
)
from orchestrator.experiment.model.factors import STACK

_MANY = 5  # from so many sides on, only the first, the last, and who cannot be told apart are named


def sentence(arena: Arena, distances: Distances, most: int = MOST_LETTERS) -> str:
    """The sentence, of so many letters at most; `arena` has at least one side that could be compared."""
    sides = sum(len(tier.cells) for tier in arena.tiers)
    ways = _of_two(arena, distances) if sides == 2 and not arena.unranked else _of_several(arena, distances)
    return fitting(*ways, most=most)


def scale_of(arena: Arena, cells: Sequence[str], difference: float | None = None) -> Scale:
    """One unit for the medians of these cells."""
    return scale_for([value for cell in cells if (value := arena.median(cell)) is not None], difference)


def verb(arena: Arena) -> Verb:
    """How one speaks of this setting's work."""
    return verb_of(arena.cells[cell] for cell in arena.names)


# ---- two sides


def _of_two(arena: Arena, distances: Distances) -> Iterator[str]:
    first, *rest = arena.tiers
    cells = (*first.cells, *(cell for tier in rest for cell in tier.cells))
    gap = arena.gap(cells[0], cells[1])
    scale = scale_of(arena, cells, gap if rest else None)
    over = distances.over(arena.cells[cells[0]])
    medians = [value for cell in cells if (value := arena.median(cell)) is not None]
    against = scale.all(medians, " against ")
    if rest:
        bounds = arena.gap_bounds(cells[0], cells[1])
        between = f", difference {scale.span(bounds)}" if bounds else ""
        lead = _ahead(arena, cells, "" if gap is None else f"{scale.text(gap)} ")
        yield f"{lead}{over} ({against}{between}){_beside(arena, cells, gap, distances)}."
        yield f"{lead}{over} ({against}{between})."
        yield f"{lead}."
    elif first.alike:
        share = words.percent(within(arena.sides[0].interval, arena.matters))
        yield f"{_equal(arena, cells)}, within {share}{over} ({scale.all(medians)})."
        yield f"{_equal(arena, cells)}, within {share}."
    else:
        low, high = arena.gap_bounds(cells[1], cells[0]) or (0.0, 0.0)
        name = named(arena.names[cells[0]])
        spread = f": {name} took between {scale.text(abs(low))} less and {scale.text(abs(high))} {_more(high)}"
        yield f"{_open(arena, cells)}{over} ({against}){spread}."
        yield f"{_open(arena, cells)}{over} ({against})."


def _more(high: float) -> str:
    return "more" if high >= 0 else "less"


def _ahead(arena: Arena, cells: Sequence[str], gap: str) -> str:
    """`grpc answered 62 µs sooner than rest`; of a factor `with gzip, rest answered 86 µs sooner than with none`."""
    of = verb(arena)
    first, other = (named(arena.names[cell]) for cell in cells)
    if arena.statistic == "p99":
        who = first if arena.factor == STACK else f"{capital(first)}, {named(arena.subject)}"
        return f"The longest gaps between events were {gap}shorter with {who} than with {other}"
    if arena.factor == STACK:
        return f"{first} {of.did} {gap}{of.more} than {other}"
    return f"{capital(first)}, {named(arena.subject)} {of.did} {gap}{of.more} than {other}"


def _equal(arena: Arena, cells: Sequence[str]) -> str:
    first, other = (named(arena.names[cell]) for cell in cells)
    if arena.factor == STACK:
        return f"{first} and {other} are equal here"
    return f"{named(arena.subject)} is equally quick {first} and {other}"


def _open(arena: Arena, cells: Sequence[str]) -> str:
    of = verb(arena)
    first, other = (named(arena.names[cell]) for cell in cells)
    if arena.factor == STACK:
        return f"This run cannot tell whether {first} or {other} {of.did} {of.more}"
    return f"This run cannot tell whether {named(arena.subject)} {of.did} {of.more} {first} or {other}"


def _beside(arena: Arena, cells: Sequence[str], gap: float | None, distances: Distances) -> str:
    """What the difference is beside the round trip, or beside the slower one's time."""
    slower = arena.median(cells[1])
    if not gap or not slower or arena.statistic == "p99":
        return ""
    far = distances.far(arena.cells[cells[0]])
    if far is not None and gap <= arena.matters * far:
        return f": next to nothing beside a round trip of {words.ms(far)}"
    return f": {words.percent(min(gap / slower, 1.0))} less time"


# ---- several


def _of_several(arena: Arena, distances: Distances) -> Iterator[str]:
    first, *rest = arena.tiers
    every = [cell for tier in arena.tiers for cell in tier.cells]
    scale = scale_of(arena, every)
    over = distances.over(arena.cells[every[0]])
    if not rest:
        yield from _one_tier(arena, first, scale, over)
        return
    lead = f"{_first_of(arena, first, scale)}{over}"
    subject = f"{named(arena.subject)}: " if arena.factor != STACK else ""
    last = rest[-1]
    of = verb(arena)
    ending = f"{_names(arena, last)} {of.least}{_medians(arena, last, scale)}"
    open_ones = [tier for tier in rest if len(tier.cells) > 1 and not tier.alike]
    pairs = " or between ".join(some(_of(arena, tier), 9) for tier in open_ones)
    told = f"; between {pairs} nothing can be told" if open_ones else ""
    if arena.unranked:
        wide = some([named(arena.names[cell]) for cell in arena.unranked], 3)
        lead = f"{lead} ({wide} varied too much to be ranked)"
    if len(every) < _MANY:
        then = [f"{_names(arena, tier)}{_medians(arena, tier, scale)}" for tier in rest[:-1]]
        middle = f", then {words.listed(then)}" if then else ""
        yield f"{subject}{lead}{middle}, {ending}{told}."
    yield f"{subject}{lead}, {ending}{told}."
    yield f"{subject}{lead}, {ending}."
    yield f"{subject}{lead}."


def _one_tier(arena: Arena, tier: Tier, scale: Scale, over: str) -> Iterator[str]:
    of = verb(arena)
    medians = sorted(value for cell in tier.cells if (value := arena.median(cell)) is not None)
    spread = f" ({scale.span((medians[0], medians[-1]))})"
    for most in (8, 4, 2):
        names = some(_of(arena, tier), most)
        equal = f"within {words.margin(arena.matters)}{over}{spread}"
        if arena.factor != STACK:
            who = named(arena.subject)
            if tier.alike:
                yield f"{who} is equally quick {names}, {equal}."
            else:
                yield f"This run cannot tell with which of these {who} {of.did} {of.most}{over}: {names}{spread}."
        elif tier.alike:
            yield f"{names} are equal here, {equal}."
        else:
            yield f"This run cannot tell which of {names} {of.did} {of.most}{over}{spread}."


def _first_of(arena: Arena, tier: Tier, scale: Scale) -> str:
    of = verb(arena)
    names = _of(arena, tier)
    if len(names) == 1:
        return f"{named(names[0])} {of.did} {of.most}{_medians(arena, tier, scale)}"
    if tier.alike:
        equal = f"equal within {words.margin(arena.matters)}"
        return f"{some(names)} {of.did} {of.most}, {equal}{_medians(arena, tier, scale)}"
    return f"{some(names)} {of.did} {of.most}, and cannot be told apart{_medians(arena, tier, scale)}"


def _names(arena: Arena, tier: Tier) -> str:
    return some(_of(arena, tier))


def _of(arena: Arena, tier: Tier) -> list[str]:
    return [arena.names[cell] for cell in tier.cells]


def _medians(arena: Arena, tier: Tier, scale: Scale) -> str:
    medians = [value for cell in tier.cells if (value := arena.median(cell)) is not None]
    if not medians:
        return ""
    return f" ({scale.all(medians) if len(medians) < 3 else scale.span((min(medians), max(medians)))})"
