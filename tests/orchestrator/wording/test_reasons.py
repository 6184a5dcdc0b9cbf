"""Every reason has words, and a comparison is decided exactly where it has none."""

from __future__ import annotations

import pytest

from orchestrator.statistics.terms import Reason, ReasonKind
from orchestrator.wording.reasons import clause, why
from tests.support.concluded import beside, cell_of

NUMBERS = {"blocks": 2, "needed": 3, "of": 5, "share": 0.012, "failed": 1, "compared": 12, "difference": 0.08}
SHARES = {"cell": 0.2, "reference": 0.05}


@pytest.mark.parametrize("kind", [kind for kind in ReasonKind if kind is not ReasonKind.OPEN])
def test_every_reason_has_words(kind: ReasonKind) -> None:
    reason = Reason(kind=kind, cells=("a",), numbers=NUMBERS | SHARES, names=("reply",))
    assert clause(reason, {"a": "grpc"})
    assert "{" not in clause(reason, {})


def test_an_open_interval_speaks_for_itself() -> None:
    rest, grpc = cell_of("rest", 0.3), cell_of("grpc", 0.3)
    assert why(beside(grpc, rest, (0.9, 1.2))) == "between 10.0 % less and 20 % more"
