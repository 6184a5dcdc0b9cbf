"""How a page of several parts is asked for: where it cannot be."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.model.page_factors import BATCHING, FETCH, WHOLE, is_in_pieces
from orchestrator.experiment.plan.plan import Operation

_NONE = BY_NAME[BATCHING].default


def refusal_of_page(call: Values, operation: Operation) -> str | None:
    """Why an operation cannot be asked so, with what to do instead; None where it can."""
    if is_in_pieces(call):
        asked = f"`{FETCH}: {call[FETCH]}`"
        if not operation.made_of:
            return f"{asked}: {operation.name} is made of no other operations. Give `{FETCH}: {WHOLE}`"
        if operation.calls > 1:
            return f"{asked}: {operation.label} is a task already. Leave `calls` out"
    if call.get(BATCHING, _NONE) in (None, _NONE):
        return None
    if not operation.made_of:
        return f"`{BATCHING}: {call[BATCHING]}`: {operation.name} has no nested fields. Leave `{BATCHING}` out"
    if is_in_pieces(call):
        return f"`{BATCHING}: {call[BATCHING]}`: calls for each part have no nested fields. Leave `{BATCHING}` out"
    return None
