"""Every entry of the scorecard leads to a place in the page, or says that it is a judgement, or was not measured."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from orchestrator.catalogue.read import catalogue
from orchestrator.cli.table_lines import tables_lines
from orchestrator.experiment.model.goal import Goal
from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.plan import Find
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.scorecard import words
from orchestrator.questions.scorecard.find import QUESTION as SCORECARD
from orchestrator.questions.scorecard.find import Scorecard
from orchestrator.questions.scorecard.properties import properties
from orchestrator.report import render
from orchestrator.summarise import summarise
from tests.support.codec_runs import a_codec_run
from tests.support.event_runs import a_stream_run
from tests.support.findings import with_findings
from tests.support.pages import Document
from tests.support.runs import a_plan, a_run
from tests.support.searched import a_search_run, searching
from tests.support.summaries import a_run as a_drawn_run

FIND = Find(goals=(Goal(statistic="p50", below=0.01),), lowest=100.0, highest=1600.0, steps=6)


def searched() -> RunSummary:
    plan = searching(a_plan(stacks=("rest", "grpc"), warmup=20), FIND, repeats=3)
    return summarise(a_search_run(plan, lambda cell, _repeat, _rng: 400.0))


def with_real_stacks(summary: RunSummary) -> RunSummary:
    """The same with the properties of stacks that the catalogue knows."""
    stacks = tuple(
        p.Stack(id=protocol, protocol=protocol, responder=responder, client=client, label=f"{protocol} (thin)")
        for protocol, responder, client in (("rest", "fastapi", "pycurl"), ("grpc", "grpcio", "grpcio"))
    )
    card = SCORECARD.of(summary)
    assert card is not None
    of_stacks = properties(replace(a_plan(), stacks=stacks), (), catalogue())
    return with_findings(summary, scorecard=Scorecard(settings=card.settings, properties=of_stacks))


RUNS = {
    "calls": lambda: with_real_stacks(summarise(a_run(blocks=3))),
    "streams": lambda: summarise(a_stream_run(blocks=3)),
    "codecs": lambda: summarise(a_codec_run(blocks=3)),
    "rates": searched,
}


@pytest.mark.parametrize(
    "kind", ["calls", *(pytest.param(kind, marks=pytest.mark.slow) for kind in RUNS if kind != "calls")]
)
def test_every_entry_leads_to_its_evidence_or_says_what_it_is(kind: str) -> None:
    summary = RUNS[kind]()
    card = SCORECARD.of(summary)
    assert card is not None
    page = render(summary)
    section = page[page.index('<section id="scorecard">') : page.index("</section>", page.index('id="scorecard"'))]
    ids = [element.attributes["id"] for element in Document(page).elements if "id" in element.attributes]
    entries = re.findall(r'<td class="text[^"]*" data-of="(?!Best")[^"]*">(.*?)</td>', section, re.DOTALL)
    lines = (*(line for table in card.settings for line in words.lines(table)), *words.property_lines(card.properties))
    assert len(entries) == sum(len(line.entries) for line in lines) > 0
    for entry in entries:
        places = re.findall(r'href="#([^"]+)"', entry)
        assert places or "not known" in entry, entry
        assert all(ids.count(place) == 1 for place in places), (entry, places)
        if places == ["judgements"]:
            assert "judgement" in entry
    assert "#scorecard" in {element.attributes["href"] for element in Document(page).all("a")}


def test_a_leader_is_named_beside_its_criterion() -> None:
    document = Document(render(RUNS["calls"]()))
    (table,) = [table for table in document.tables if table.rows[1][0].text.startswith("Lowest latency")]
    assert " ".join(table.row("Lowest latency")["Best"].text.split()) == "grpc (thin)"


def test_a_summary_of_an_earlier_orch_has_no_such_section() -> None:
    page = render(a_drawn_run(stacks=2))
    assert 'id="scorecard"' not in page
    assert '"#scorecard"' not in page


def test_the_terminal_shows_every_criterion_with_its_leader_and_marks_judgements() -> None:
    summary = RUNS["calls"]()
    lines = list(tables_lines(words.tables(summary), 100))
    assert "  Lowest latency: grpc (thin)" in lines
    (browser,) = [line for line in lines if line.startswith("  Callable from a browser (")]
    assert browser.split()[-4:] == ["yes", "(j)", "no", "(j)"]
