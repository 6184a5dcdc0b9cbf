"""Differences along an axis, in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from orchestrator import quantities
from orchestrator.questions.axes.axis import AXES, Axis
from orchestrator.questions.axes.find import Difference, Gap

_ALIKE = 1.5  # two differences along an axis within this factor: the larger stands for both


def sentence(axis_name: str, gap: Gap) -> str:
    """Return which of two is faster along an axis, and by how much; standings are those of the comparisons."""
    axis = next(axis for axis in AXES if axis.name == axis_name)
    label, reference, points, crossed = gap.label, gap.reference_label, gap.points, gap.crossing
    clauses, start = [], 0
    for standing, group in groupby(points, key=lambda point: point.standing):
        size = len(list(group))
        members = points[start : start + size]
        where = _where(axis, points, start, start + size - 1)
        clauses.append(f"{where} {_found(axis, label, reference, standing, members)}")
        start += size
    if crossed is not None:
        interval = f"95 % interval {axis.text(crossed.low)} to {axis.text(crossed.high)}"
        clauses.append(f"the medians cross at {axis.text(crossed.at)} ({interval})")
    return f"{label} against {reference}: {'; '.join(clauses)}."


def _where(axis: Axis, points: Sequence[Difference], first: int, last: int) -> str:
    low, high = axis.text(points[first].at), axis.text(points[last].at)
    if first == last:
        return f"at {low}"
    if first == 0 and last == len(points) - 1:
        return f"from {low} to {high}"
    if first == 0:
        return f"up to {high}"
    return f"from {low} on" if last == len(points) - 1 else f"from {low} to {high}"


def _found(axis: Axis, label: str, reference: str, standing: str, members: Sequence[Difference]) -> str:
    if standing == "tie":
        return "they are equal"
    if standing not in ("faster", "slower"):
        return "there is no significant difference"
    ahead = label if standing == "faster" else reference
    least, most = (pick(members, key=lambda point: abs(point.difference)) for pick in (min, max))
    is_one_size = abs(most.difference) < _ALIKE * abs(least.difference)
    shown = [most] if is_one_size else sorted((least, most), key=lambda point: point.at)
    if len(members) == 1:
        return f"{ahead} is faster {_by(members[0])}"
    return f"{ahead} is faster, {quantities.listed([f'{_by(point)} at {axis.text(point.at)}' for point in shown])}"


def _by(point: Difference) -> str:
    if point.interval is None or point.interval[0] <= 0 <= point.interval[1]:
        return f"by about {quantities.ms(abs(point.difference))}"
    least, largest = sorted(abs(bound) for bound in point.interval)
    return f"by {quantities.ms(least)} to {quantities.ms(largest)}"
