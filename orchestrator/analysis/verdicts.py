"""The sentences that answer the experiment's question, from the same numbers as every table and chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.analysis import validity, words
from orchestrator.analysis.overview import overview
from orchestrator.analysis.summary import CellSummary, CheckResult, Comparison


def verdicts(
    cells: Sequence[CellSummary], comparisons: Sequence[Comparison], checks: Sequence[CheckResult]
) -> tuple[str, ...]:
    """What holds over all groups of comparable cells, then of each; before all, a warning when a check failed."""
    by_id = {cell.id: cell for cell in cells}
    groups: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        if comparison.statistic == "median" and not comparison.control:
            groups.setdefault(comparison.group, []).append(comparison)
    in_general = overview([c for members in groups.values() for c in members], by_id)
    sentences = [in_general] if in_general else []
    sentences += [_of_group(group, members, by_id) for group, members in groups.items()]
    compared = {c.cell for c in comparisons} | {c.reference_cell for c in comparisons}
    sentences += [_alone(cell) for cell in cells if cell.id not in compared and cell.distribution]
    invalid = validity.sentence(cells, checks)
    return (invalid, *sentences) if invalid else tuple(sentences)


def _of_group(group: str, members: Sequence[Comparison], cells: dict[str, CellSummary]) -> str:
    known = [m for m in members if m.ratio is not None]
    reference = members[0].reference_label
    if not known:
        return f"{group}: no stack can be compared with {reference}, because one side has no sample."
    told = [m for m in known if m.standing in ("faster", "slower")]
    if not told:
        return f"{group}: {_undecided(known, reference)}"
    text = [_leader(known, reference)]
    first = min(told, key=lambda m: m.ratio or 1.0)
    best = cells[first.cell] if first.standing == "faster" else cells[first.reference_cell]
    compared = [cells[members[0].reference_cell], *(cells[m.cell] for m in known)]
    text += [part for part in (_floor_share(best), _client_shares(compared)) if part]
    ties = [m for m in known if m.standing == "tie"]
    if ties:
        text.append(f"{_labels(ties)}: a tie with {reference}.")
    return f"{group}: {' '.join((*text, *_limits(known, ties)))}"


def _leader(known: Sequence[Comparison], reference: str) -> str:
    """Who is ahead of the reference, or that it is ahead of all, and the largest gap behind it."""
    faster = sorted((m for m in known if m.standing == "faster"), key=lambda m: m.ratio or 1.0)
    slower = sorted((m for m in known if m.standing == "slower"), key=lambda m: m.ratio or 1.0)
    first, *others = faster + slower
    others_too = f"; {', '.join(_brief(m) for m in others)}" if others else ""
    if faster:
        return f"by the median, {_gap(first, than=reference)}{others_too}."
    return f"{reference} is ahead by the median: {_gap(first)}{others_too}."


def _gap(comparison: Comparison, *, than: str = "") -> str:
    text = f"{comparison.stack_label} {words.times(comparison.ratio or 1.0)}"
    if than:
        text += f" {'as' if (comparison.ratio or 1.0) >= 2 else 'than'} {than}"
    if comparison.interval:
        low, high = comparison.interval
        ratio = "" if (comparison.ratio or 1.0) >= 2 else f"ratio {comparison.ratio:.2f}, "  # else it was just said
        text += f" ({ratio}95 % interval {low:.2f} to {high:.2f})"
    return text


def _brief(comparison: Comparison) -> str:
    return (
        f"{comparison.stack_label} {words.times(comparison.ratio or 1.0).removeprefix('takes ').removesuffix(' time')}"
    )


def _undecided(known: Sequence[Comparison], reference: str) -> str:
    ties = [m for m in known if m.standing == "tie"]
    if not ties:
        gaps = ", ".join(f"{m.stack_label} {m.ratio:.2f}×" for m in known)
        return f"cannot tell who is faster: {known[0].why}. Seen so far, against {reference}: {gaps}."
    return " ".join([f"a tie between {reference} and {_labels(ties)}.", *_limits(known, ties)])


def _limits(known: Sequence[Comparison], ties: Sequence[Comparison]) -> Iterator[str]:
    """Below what a difference is a tie, and what these data leave open.

    Of several ties the widest limit counts, for all of them lie within; where all is told, the narrowest holds for all.
    """
    told = [m.resolution for m in known if m.standing in ("faster", "slower") and m.resolution is not None]
    tied = [m.resolution for m in ties if m.resolution is not None]
    if tied or told:
        yield f"A difference {words.below(max(tied) if tied else min(told))} is a tie here."
    doubtful = [m for m in known if m.standing == "cannot tell"]
    if doubtful:
        yield f"{_labels(doubtful)}: cannot tell, {doubtful[0].why}."


def _labels(members: Sequence[Comparison]) -> str:
    return ", ".join(m.stack_label for m in members)


def _floor_share(cell: CellSummary) -> str:
    """How much of a latency is floor; nothing to say of the floor's own protocol."""
    if cell.tcp_floor is None or cell.distribution is None or cell.distribution.median <= 0 or cell.protocol == "tcp":
        return ""
    share = cell.tcp_floor / cell.distribution.median
    median, floor = words.ms(cell.distribution.median), words.ms(cell.tcp_floor)
    if share >= 1:
        return f"The {median} of {cell.stack_label} are within the noise of the TCP floor ({floor})."
    return f"Of the {median} of {cell.stack_label}, {floor} ({words.percent(share)}) is the TCP floor."


def _client_shares(cells: Sequence[CellSummary]) -> str:
    """What the clients make of the latencies, where the same responder was asked over a bare socket too."""
    known = [(cell, cell.client_share) for cell in cells if cell.client_share is not None]
    shares = ", ".join(
        f"{words.percent(max(share, 0.0))} of {cell.stack_label}"
        + ("" if cell.client in cell.stack_label else f" ({cell.client})")
        for cell, share in known
    )
    return f"The client makes {shares}." if known else ""


def _alone(cell: CellSummary) -> str:
    """A cell with nothing to compare it with."""
    assert cell.distribution is not None  # noqa: S101 - narrows the type
    interval = ""
    if cell.median_interval:
        low, high = (words.ms(bound) for bound in cell.median_interval)
        interval = f" (95 % interval {low} to {high})"
    text = (
        f"{cell.operation}, {cell.placement}, {cell.connection}, {cell.load}: {cell.stack_label} takes "
        f"{words.ms(cell.distribution.median)} in the median{interval}."
    )
    return " ".join(part for part in (text, _floor_share(cell), _client_shares([cell])) if part)
