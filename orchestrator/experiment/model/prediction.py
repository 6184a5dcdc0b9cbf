"""Which share of the cells the cost model is tested on."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from orchestrator.experiment.model.base import Strict
from orchestrator.experiment.read.fields import Share

LEAST, MOST = 0.05, 0.5  # of the cells


def _enough(share: float) -> float:
    if not LEAST <= share <= MOST:
        raise ValueError(f"{share * 100:g} % is not 5 % to 50 %: less tests nothing, more leaves too little to fit")
    return share


class PredictSpec(Strict):
    """How the cost model is tested: cells are chosen by the seed when the run is planned, and no fit sees them."""

    hold_out: Annotated[
        Share,
        AfterValidator(_enough),
        Field(description="The share of each series that is kept from the fit: 5 to 50 %."),
    ] = 0.2
