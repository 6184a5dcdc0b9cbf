"""How far predictions can be trusted, in words."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.questions.prediction.words import trust
from tests.support.modelled import Lab, Truth, fitted


def test_the_trust_in_predictions_is_by_the_held_out_cells() -> None:
    judged = fitted(Lab(truths=(Truth(name="rest"), Truth(name="grpc", own=0.4)))).judged
    assert judged is not None
    assert trust(judged).startswith("10 held-out cells: the model was off by ")
    missed = replace(judged, by_series=dict.fromkeys(judged.by_series, 0.2), not_judged=2)
    assert "Not predicted, as missed by more than 10 %: rest, connections kept open; grpc" in trust(missed)
    assert "2 more held-out cells" in trust(missed)
    assert trust(None).startswith("No cell was held out")
