"""A comparison's rows in words, and those of a gate as JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from orchestrator import quantities
from orchestrator.between_runs.across import Row, RunComparison
from orchestrator.between_runs.changes import Changed
from orchestrator.report.page import one_line
from orchestrator.wording.gate import Judgement, Outcome, why_undetermined
from orchestrator.wording.reasons import why


def values(row: Row) -> tuple[str, str] | None:
    """What the reference took and what the row's cell took, with units; None where one of them has no value."""
    if row.value is None or row.reference_value is None:
        return None
    if row.statistic == "throughput":
        return f"{quantities.rate(row.reference_value)}/s", f"{quantities.rate(row.value)}/s"
    return quantities.ms(row.reference_value), quantities.ms(row.value)


def cost_values(cost: Changed) -> tuple[str, str]:
    """What requests cost with the reference, and with the row's cell; a dash for what is not known."""
    before, after = (
        "-" if value is None else quantities.cost(cost.statistic, value) for value in (cost.reference_value, cost.value)
    )
    return before, after


def ratio(row: Changed) -> str:
    """`1.41`, or a dash."""
    return "-" if row.ratio is None else quantities.factor(row.ratio)


def interval(row: Changed, limit: float) -> str:
    """`1.20 to 1.66`, with the digits that tell its bounds from the limit (0.05: 5 %); a dash where there is none."""
    return "-" if row.interval is None else " to ".join(quantities.bounds(row.interval, limit))


def sentence(row: Row, limit: float) -> str:
    """`ratio 1.41, 95 % interval 1.20 to 1.66 (from 204 µs to 288 µs)`, with what there is of it."""
    parts = []
    if row.ratio is not None:
        parts.append(f"ratio {ratio(row)}")
    if row.interval is not None:
        parts.append(f"95 % interval {interval(row, limit)}")
    text = ", ".join(parts) or "no ratio"
    both = values(row)
    return text if both is None else f"{text} (from {both[0]} to {both[1]})"


def limits(shares: Iterable[float]) -> list[str]:
    """Each limit once, in words."""
    return [quantities.margin(share) for share in sorted(set(shares))]


def junit(comparison: RunComparison, judgement: Judgement, *, fails_undetermined: bool) -> str:
    """The XML document, a test case for each row. `fails_undetermined`: whether what cannot be decided fails the job.

    A gate without rows is one test case that says why there is none.
    """
    undecided = "error" if fails_undetermined else "skipped"
    tags: dict[Outcome, str] = {"slower": "failure", "cannot tell": undecided, "not slower": "system-out"}
    cases = [
        _case(row.group, row.label, tags[outcome], (_message(row, outcome, limit), *row.doubts, *row.notes))
        for row, outcome, limit in zip(comparison.rows, judgement.outcomes, judgement.limits, strict=True)
    ] or [_case("orch gate", "comparison", undecided, (judgement.sentence,))]
    counted = Counter(child.tag for case in cases for child in case)
    counts = {"tests": str(len(cases))}
    counts |= {"failures": str(counted["failure"]), "errors": str(counted["error"]), "skipped": str(counted["skipped"])}
    root = ET.Element("testsuites", {"name": "orch gate", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": f"orch gate, by {comparison.statistic}", **counts})
    properties = ET.SubElement(suite, "properties")
    every = ", ".join(limits(judgement.limits) or limits([judgement.limit]))
    for name, value in (("run", comparison.of), ("reference", comparison.reference), ("limit", every)):
        ET.SubElement(properties, "property", {"name": name, "value": one_line(value)})
    suite.extend(cases)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _message(row: Row, outcome: Outcome, limit: float) -> str:
    numbers = sentence(row, limit)
    if outcome == "slower":
        is_beyond = row.interval is not None and row.interval[0] > 1 + limit
        by = f"by more than {quantities.margin(limit)}" if is_beyond else f"at a limit of {quantities.margin(limit)}"
        return f"significantly slower {by}: {numbers}"
    if outcome == "cannot tell":
        return f"cannot tell: {why_undetermined(row, limit)}; {numbers}"
    return f"{numbers}: {why(row)}"


def _case(group: str, label: str, tag: str, texts: Sequence[str]) -> ET.Element[str]:
    lines = [one_line(text) for text in texts]
    case = ET.Element("testcase", {"classname": one_line(group) or "orch gate", "name": one_line(label)})
    child = ET.SubElement(case, tag, {} if tag == "system-out" else {"message": lines[0]})
    child.text = "\n".join(lines)
    return case
