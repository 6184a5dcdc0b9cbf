"""What terminal and page show of each question: the lines are those written down, the page has its section.

`python -m tests.orchestrator.questions.test_shown` writes the lines down anew, to be read as a diff.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import escape

from orchestrator.cli.answer import answer_lines
from orchestrator.findings.summary import Details, RunSummary
from orchestrator.report.render import render
from orchestrator.summarise import summarise, summary_of
from orchestrator.wording.answer import answer
from orchestrator.wording.tables.question_tables import tables
from tests.orchestrator.evidence import test_mixed_samples as mix
from tests.orchestrator.evidence import test_store_times as stores
from tests.orchestrator.questions.capacity import test_find as capacity
from tests.orchestrator.questions.languages import test_find as languages
from tests.orchestrator.questions.saturation import test_beyond_capacity as saturation
from tests.orchestrator.questions.stability import test_find as stability
from tests.support.codec_runs import a_codec_run
from tests.support.event_runs import a_stream_run
from tests.support.findings import having, labelled
from tests.support.runs import a_run
from tests.support.summaries import a_run as a_summary

WRITTEN = Path(__file__).parent / "shown"


def a_matrix_with_gaps() -> RunSummary:
    """Rust has no gRPC."""
    spoken = (*languages.TWO, "Rust")
    missing = {("grpc", responder, requester) for responder in spoken for requester in spoken}
    return languages.measured(missing={key for key in missing if "Rust" in key}, spoken=spoken)


def an_evolution() -> RunSummary:
    run = a_summary(stacks=2)
    outcomes = {
        (0, "none"): {"right value": 9},
        (0, "retyped"): {"fails: SchemaResolutionError: Schema mismatch <long> & string": 9},
        (1, "none"): {"right value": 9},
        (1, "retyped"): {"lost silently": 9},
    }
    cells = [
        replace(
            labelled(
                having(run.cells[stack], schema_change=change, records=3),
                operation=f"evolution 3 records, schema change: {change}",
            ),
            id=f"{run.cells[stack].stack}-{change}",
            operation=f"evolution-3-records-{change}",
            kind="codec",
            details=Details(outcomes=outcome),
        )
        for (stack, change), outcome in outcomes.items()
    ]
    return replace(run, cells=tuple(cells), comparisons=(), checks=())


SHOWN: dict[str, Callable[[], RunSummary]] = {
    "capacity": capacity.summary,
    "codecs": lambda: summarise(a_codec_run()),
    "evolutions": an_evolution,
    "languages": a_matrix_with_gaps,
    "mix": lambda: summarise(mix.mixed_run()),
    "saturation": lambda: summarise(a_run(saturation.a_ladder_of_rates(), spoil=saturation.overload)),
    "stability": lambda: stability.measured(shape=stability.tailed, base_us={"rest": 300.0, "grpc": 200.0}),
    "stores": lambda: stores.stored(stores.BY_DATABASE),
    "streams": lambda: summarise(a_stream_run()),
}


def lines_of(summary: RunSummary) -> str:
    return "\n".join((*(line.sentence for line in answer(summary).lines), "", *answer_lines(summary), ""))


@pytest.mark.parametrize("question", SHOWN)
def test_what_is_shown_of_a_question_is_what_was_written_down(question: str) -> None:
    summary = SHOWN[question]()
    assert lines_of(summary) == (WRITTEN / f"{question}.txt").read_text(encoding="utf-8")
    assert summary_of(json.loads(summary.to_json())) == summary
    page = render(summary)
    for table in tables(summary):
        assert escape(table.title) in page or f'<section id="{question}">' in page
    for link in {part.partition('"')[0] for part in page.split('href="#')[1:]}:
        assert f'id="{link}"' in page, link


if __name__ == "__main__":
    WRITTEN.mkdir(exist_ok=True)
    for name, run in SHOWN.items():
        (WRITTEN / f"{name}.txt").write_text(lines_of(run()), encoding="utf-8")
