from __future__ import annotations

from orchestrator.analysis.warned_once import warned_once
from orchestrator.results.manifest import REPEATED, SHARED, is_shared


def test_a_run_that_was_not_alone_says_so_once():
    assert is_shared(warned_once([SHARED, "another"]))
    assert not is_shared(["another"])


def test_repeated_blocks_are_one_warning():
    texts = warned_once([REPEATED.format(4), "another", REPEATED.format(2)])
    assert texts == (
        "blocks 2 and 4 were interrupted and repeated; their earlier trials do not count (they are kept under superseded/)",
        "another",
    )
    assert warned_once([REPEATED.format(4)]) == (REPEATED.format(4),)
