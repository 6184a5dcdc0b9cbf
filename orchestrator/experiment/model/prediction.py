"""Which share of the cells the cost model is tested on."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from orchestrator.experiment.model.base import Strict
from orchestrator.experiment.read.fields import Share


class PredictSpec(Strict):
    """How the cost model is tested: cells are chosen by the seed when the run is planned, and no fit sees them."""

    hold_out: Annotated[
        Share,
        Field(ge=0.05, le=0.5, description="The share of each series that is kept from the fit: 5 to 50 %."),
    ] = 0.2
