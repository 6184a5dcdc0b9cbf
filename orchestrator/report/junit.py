"""A comparison as JUnit XML, which GitLab and actions of GitHub show as tests: a test case for each pair of cells.

Slower is a `failure`. What cannot be told is an `error` where it fails the job, and `skipped` where it was allowed: what
GitLab shows at a merge request are failures and errors, and actions that annotate a pull request count both as failed,
so the file says what the exit code says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from orchestrator.analysis import words
from orchestrator.analysis.across import Row, RunComparison
from orchestrator.report import rows
from orchestrator.report.page import one_line
from orchestrator.wording.gate import Judgement, Outcome, why_undetermined
from orchestrator.wording.reasons import why


def junit(comparison: RunComparison, judgement: Judgement, *, fails_undetermined: bool) -> str:
    """The XML document. `fails_undetermined`: whether what cannot be told fails the job.

    A comparison without rows is one test case that says why there is none.
    """
    names = _names(comparison.rows)
    cases = [
        _case(row, name, found, judgement.limit, fails_undetermined=fails_undetermined)
        for row, name, found in zip(comparison.rows, names, judgement.outcomes, strict=True)
    ] or [_nothing(judgement, fails_undetermined=fails_undetermined)]
    counted = Counter(child.tag for case in cases for child in case)
    counts = {
        "tests": str(len(cases)),
        "failures": str(counted["failure"]),
        "errors": str(counted["error"]),
        "skipped": str(counted["skipped"]),
    }
    root = ET.Element("testsuites", {"name": "orch compare", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": f"orch compare, by {comparison.statistic}", **counts})
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("run", comparison.of),
        ("reference", comparison.reference),
        ("statistic", comparison.statistic),
        ("limit", words.margin(judgement.limit)),
    ):
        ET.SubElement(properties, "property", {"name": name, "value": one_line(value)})
    suite.extend(cases)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _names(compared: Sequence[Row]) -> list[tuple[str, str]]:
    """Class and name of each row's test case, the same from run to run; the cell's id is added where two would be one."""
    plain = [(row.group, row.label) for row in compared]
    often = Counter(plain)
    return [
        (group, label if often[group, label] == 1 else f"{label} [{row.cell}]")
        for row, (group, label) in zip(compared, plain, strict=True)
    ]


def _case(
    row: Row, name: tuple[str, str], found: Outcome, limit: float, *, fails_undetermined: bool
) -> ET.Element[str]:
    case = ET.Element("testcase", {"classname": one_line(name[0]) or "orch compare", "name": one_line(name[1])})
    numbers = rows.sentence(row, limit)
    if found == "slower":
        message = f"surely slower by more than {words.margin(limit)}: {numbers}"
        _child(case, "failure", message, "slower", row)
    elif found == "cannot tell":
        message = f"cannot tell: {why_undetermined(row, limit)}; {numbers}"
        _child(case, "error" if fails_undetermined else "skipped", message, "undetermined", row)
    else:
        ET.SubElement(case, "system-out").text = one_line(f"{numbers}: {why(row)}")
    return case


def _nothing(judgement: Judgement, *, fails_undetermined: bool) -> ET.Element[str]:
    case = ET.Element("testcase", {"classname": "orch compare", "name": "comparison"})
    _child(case, "error" if fails_undetermined else "skipped", judgement.sentence, "undetermined", None)
    return case


def _child(case: ET.Element[str], tag: str, message: str, kind: str, row: Row | None) -> None:
    """What came of a case: the message, and below it what a reader of the verdict must know."""
    kinds = {} if tag == "skipped" else {"type": kind}  # which `skipped` has no place for
    child = ET.SubElement(case, tag, {"message": one_line(message), **kinds})
    more = () if row is None else (*row.doubts, *row.notes)
    child.text = "\n".join(one_line(text) for text in (message, *more))
