"""A comparison of two runs for others: its rows in words, as Markdown, and as JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from xml.etree import ElementTree as ET

from orchestrator import quantities
from orchestrator.between_runs.across import Row, RunComparison
from orchestrator.report.markdown import escaped
from orchestrator.report.page import one_line
from orchestrator.wording.gate import Judgement, Outcome, why_undetermined
from orchestrator.wording.reasons import why

MOST_ROWS = 100  # a comment may have 65,536 characters at GitHub, a summary 1 MiB
_MOST_TEXTS = 20

_ORDER: Mapping[Outcome, int] = {"slower": 0, "cannot tell": 1, "not slower": 2}


def values(row: Row) -> tuple[str, str] | None:
    """What the reference took and what the row's cell took, with units; None where one of them has no value."""
    if row.value is None or row.reference_value is None:
        return None
    if row.statistic == "throughput":
        return f"{quantities.rate(row.reference_value)}/s", f"{quantities.rate(row.value)}/s"
    return quantities.ms(row.reference_value), quantities.ms(row.value)


def ratio(row: Row) -> str:
    """`1.41`, or a dash."""
    return "-" if row.ratio is None else quantities.factor(row.ratio)


def interval(row: Row, limit: float) -> str:
    """`1.20 to 1.66`, with the digits that tell its bounds from the limit (0.05: 5 %); a dash where there is none."""
    return "-" if row.interval is None else " to ".join(quantities.bounds(row.interval, limit))


def sentence(row: Row, limit: float) -> str:
    """`ratio 1.41, 95 % interval 1.20 to 1.66 (204 µs -> 288 µs)`, with what there is of it."""
    parts = []
    if row.ratio is not None:
        parts.append(f"ratio {ratio(row)}")
    if row.interval is not None:
        parts.append(f"95 % interval {interval(row, limit)}")
    text = ", ".join(parts) or "no ratio"
    both = values(row)
    return text if both is None else f"{text} ({both[0]} -> {both[1]})"


def markdown(comparison: RunComparison, judgement: Judgement, commands: Sequence[str]) -> str:
    """The document. `commands` make it again, one on a line. Rows that are slower come first, then those that are open."""
    every = sorted(zip(comparison.rows, judgement.outcomes, strict=True), key=lambda pair: _ORDER[pair[1]])
    return "\n".join(
        [
            f"**{judgement.overall.capitalize()}:** {escaped(judgement.sentence)}.",
            "",
            *_table(comparison, every, judgement.limit),
            *_listed("Undetermined", _undetermined(every, judgement.limit)),
            *_listed("What differs between the runs", comparison.differences),
            *_listed("In every row", comparison.in_all_rows),
            "#### How to repeat it",
            "",
            "````",
            *(one_line(command) for command in commands),
            "````",
            "",
        ]
    )


def _table(comparison: RunComparison, every: Sequence[tuple[Row, Outcome]], limit: float) -> Iterator[str]:
    if not every:
        return
    of_what = "times per request" if comparison.statistic == "throughput" else comparison.statistic
    yield (
        f"{escaped(comparison.of)} against {escaped(comparison.reference)}: ratios of {of_what}, above 1 is slower; "
        f"the limit is {quantities.margin(limit)}."
    )
    yield ""
    yield "| | compared | setting | reference | value | ratio | 95 % interval |"
    yield "| --- | --- | --- | ---: | ---: | ---: | --- |"
    for row, found in every[:MOST_ROWS]:
        before, after = values(row) or ("-", "-")
        told = f"**{found}**" if found == "slower" else found
        cells = (row.label, row.group, before, after, ratio(row), interval(row, limit))
        yield f"| {told} | {' | '.join(escaped(cell) for cell in cells)} |"
    if len(every) > MOST_ROWS:
        yield ""
        yield f"{quantities.count(len(every) - MOST_ROWS, 'more row')} left out here: `orch compare` prints all."
    yield ""


def _undetermined(every: Sequence[tuple[Row, Outcome]], limit: float) -> list[str]:
    return [
        f"{row.label}, {row.group}: {why_undetermined(row, limit)}" for row, found in every if found == "cannot tell"
    ]


def _listed(title: str, texts: Sequence[str]) -> Iterator[str]:
    if not texts:
        return
    yield f"#### {title}"
    yield ""
    for text in texts[:_MOST_TEXTS]:
        yield f"- {escaped(text)}"
    if len(texts) > _MOST_TEXTS:
        yield f"- and {len(texts) - _MOST_TEXTS} more"
    yield ""


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
        ("limit", quantities.margin(judgement.limit)),
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
    numbers = sentence(row, limit)
    if found == "slower":
        message = f"significantly slower by more than {quantities.margin(limit)}: {numbers}"
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
