from __future__ import annotations

import re
from dataclasses import replace

from orchestrator.experiment.plan.plan import Link, Placement
from orchestrator.report.check_groups import marks
from orchestrator.report.page import css_text
from orchestrator.report.render import render
from tests.support.pages import Document
from tests.support.summaries import a_run, failed_run


def with_provider(run, provider):
    placements = (
        Placement(id="here", name="here", kind="local"),
        Placement(id="far", name="far", kind="cross-region", link=Link(rtt_ms=30.0)),
        Placement(id="near", name="near", kind="same-zone"),
    )
    return replace(run, plan=replace(run.plan, provider=provider, placements=placements))


def test_an_emulated_distance_stands_above_everything_and_on_each_sheet():
    page = render(with_provider(a_run(), "lab"))
    mark = "Emulated distance, no real network: far 30 ms and near"
    assert mark in Document(page).text
    assert page.index(mark) < page.index("<h1>")
    rule = re.search(r"@page \{[^}]*@top-left \{ content: \"([^\"]*)\"", page)
    assert rule is not None
    assert rule[1].startswith(mark)


def test_a_real_network_and_one_machine_are_no_emulation():
    assert marks(with_provider(a_run(), "gcp")) == ()
    assert marks(with_provider(a_run(), "local")) == ()
    assert "@top-left" not in render(a_run())


def test_failed_checks_are_named_with_what_they_mean():
    (mark,) = marks(failed_run())
    assert re.match(r"\d+ checks? failed", mark)
    assert "invalid" in mark


def test_a_name_ends_no_style_sheet():
    assert css_text('</style>"\\;}') == r"\3c /style\3e \22 \5c ;\7d "
