"""A report says once what several warnings of its run say of different runs, or of different blocks."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.analysis.summarise import summarise
from orchestrator.analysis.warned_once import warned_once
from orchestrator.report.render import render
from orchestrator.results.manifest import REPEATED, SHARED, is_shared
from tests.support.runs import a_run

OTHERS = [f"{SHARED}, which disturbs both: run r{n} (process {n}, user u, in /f)" for n in range(7)]


def test_several_measurements_beside_this_one_are_one_warning_with_their_number():
    (said,) = warned_once(OTHERS)
    assert said == (
        "shared the machine with 7 other measurements, which disturbs all of them: the first was run r0 (process 0, user "
        "u, in /f), the last run r6 (process 6, user u, in /f); manifest.json names each"
    )
    assert is_shared([said])


def test_one_measurement_beside_this_one_is_said_as_it_was():
    assert warned_once(OTHERS[:1]) == tuple(OTHERS[:1])


def test_repeated_blocks_are_one_warning():
    said = warned_once([REPEATED.format(4), "another", REPEATED.format(2)])
    assert said == (
        "blocks 2 and 4 were interrupted and repeated; their earlier trials do not count (they are kept under superseded/)",
        "another",
    )
    assert warned_once([REPEATED.format(4)]) == (REPEATED.format(4),)


def test_the_conditions_of_a_report_have_it_once():
    run = a_run(blocks=3)
    page = render(summarise(replace(run, stored=replace(run.stored, warnings=tuple(OTHERS)))))
    assert page.count("shared the machine with") == 1
