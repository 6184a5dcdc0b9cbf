"""Markdown for a design document or a chat: of each run its answer and its checks, then a table of all cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator.exports.judged_run import JudgedRun
from orchestrator.exports.small_table import SmallTable, small_table
from orchestrator.exports.targets import exported_file
from orchestrator.report.markdown import escaped


def write_summary(runs: Sequence[JudgedRun], path: Path) -> int:
    """One page; how many cells there are."""
    table = small_table(runs)
    text = "\n".join(_page(runs, table)) + "\n"
    with exported_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return len(table.rows)


def _page(runs: Sequence[JudgedRun], table: SmallTable) -> Iterator[str]:
    for run in runs:
        yield from _about(run)
    yield _line(table.heads)
    yield _line(tuple("---:" if is_figure else "---" for is_figure in table.figures), is_text=False)
    for row in table.rows:
        yield _line(row)
    for note in table.notes:
        yield ""
        yield escaped(note)


def _about(run: JudgedRun) -> Iterator[str]:
    about = {name: escaped(str(value or "")) for name, value in run.about().items()}
    yield f"### {about['experiment']}"
    yield ""
    if about["question"]:
        yield f"Question: {about['question']}"
        yield ""
    if about["invalid"]:
        yield f"**{about['invalid']}**"
        yield ""
    if about["answer"] and about["answer"] != about["invalid"]:
        yield f"Answer: {about['answer']}"
        yield ""
    unfinished = "" if about["state"] == "complete" else f" State: {about['state']}."
    failed = f" Failed: {about['failed_checks']}." if about["failed_checks"] else ""
    yield f"Run {about['run']}, begun {about['started_at']}. Checks: {about['checks'] or 'none'}.{failed}{unfinished}"
    yield ""


def _line(cells: Sequence[str], *, is_text: bool = True) -> str:
    return f"| {' | '.join(escaped(cell) if is_text else cell for cell in cells)} |"
