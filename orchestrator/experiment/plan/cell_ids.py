"""What a cell is called: the name of its samples' folder, and what runs are matched by."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.model.factors import short
from orchestrator.experiment.plan.find import Find
from orchestrator.experiment.read.units import exact_duration, format_rate
from services.python.contract.lines import Load


def cell_id(*, stack: str, operation: str, placement: str, values: Values, load: Load, find: Find | None = None) -> str:
    """The id of the cell of these parts, which are given by their ids: `rest-flask-requests__add__local__reuse__c1`."""
    offered = f"c{load.concurrency}"
    if find is not None:
        arrivals = "" if load.arrivals == "poisson" else f"-{load.arrivals}"
        offered = f"find{arrivals}" if find.concurrency is None else f"find{arrivals}-c{find.concurrency}"
    elif load.rate_per_s is not None:
        arrivals = "" if load.arrivals == "poisson" else f"{load.arrivals}-"
        offered = f"r{format_rate(load.rate_per_s).removesuffix('/s')}-{arrivals}{offered}"
    elif load.think_s:
        thinking = "" if load.thinking == "constant" else f"-{load.thinking}"
        offered += f"-think{exact_duration(load.think_s).replace(' ', '')}{thinking}"
    return "__".join((stack, operation, placement, *short(values), offered))
