"""How a page of several parts is asked for: where it cannot be."""

from __future__ import annotations

from orchestrator.catalogue.offers import Operation as Offered
from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.model.page_factors import BATCHING, FETCH, FIELDS, WHOLE, is_in_pieces
from orchestrator.experiment.plan.connections import FACTOR as CONNECTIONS
from orchestrator.experiment.plan.plan import Operation

_NONE = BY_NAME[BATCHING].default
_ALL = BY_NAME[FIELDS].default


def refusal_of_page(call: Values, operation: Operation, offered: Offered | None) -> str | None:
    """Why an operation cannot be asked so, with what to do instead; None where it can."""
    if is_in_pieces(call):
        asked = f"`{FETCH}: {call[FETCH]}`"
        if not operation.made_of:
            return f"{asked}: {operation.name} is made of no other operations. Give `{FETCH}: {WHOLE}`"
        if operation.calls > 1:
            return f"{asked}: {operation.label} is a task already. Leave `calls` out"
        if isinstance(shared := call.get(CONNECTIONS), int):
            return f"{asked}: the calls of a task have connections of their own. Leave `{CONNECTIONS}: {shared}` out"
    if call.get(FIELDS, _ALL) not in (None, _ALL) and not (offered and offered.has_shown):
        return f"`{FIELDS}: {call[FIELDS]}`: every field of {operation.name} is needed. Leave `{FIELDS}` out"
    if call.get(BATCHING, _NONE) in (None, _NONE):
        return None
    if not operation.made_of:
        return f"`{BATCHING}: {call[BATCHING]}`: {operation.name} has no nested fields. Leave `{BATCHING}` out"
    if is_in_pieces(call):
        return f"`{BATCHING}: {call[BATCHING]}`: calls for each part have no nested fields. Leave `{BATCHING}` out"
    return None
