"""Holds the model against every cell with several requests in flight: no fit reads them, so each of them tests it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from orchestrator.questions.prediction.predict import Places, at
from orchestrator.questions.prediction.shapes import Fit, ModelCell


def with_crowded(fits: Sequence[Fit], cells: Sequence[ModelCell]) -> tuple[Fit, ...]:
    """The fits, each with how far it is off where several requests were in flight."""
    return tuple(
        replace(fitted, off_in_flight=_off(fitted, [cell for cell in cells if cell.series == fitted.series.id]))
        for fitted in fits
    )


def _off(fitted: Fit, cells: Sequence[ModelCell]) -> float | None:
    errors = []
    for cell in cells:
        if cell.in_flight > 1:
            place = Places.one(float(np.mean(cell.rtt)), cell.size, cell.rate_mbit, cell.in_flight)
            errors.append(abs(float(at(fitted, place).latency) / float(np.mean(cell.median)) - 1))
    return float(np.percentile(errors, 90)) if errors else None
