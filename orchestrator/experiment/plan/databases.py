"""The store that a cell's rows are kept in: where there cannot be one."""

from __future__ import annotations

from orchestrator.catalogue.offers import Operation
from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.model.store_factors import DRIVER, POSTGRESQL, STORE, resources
from orchestrator.experiment.plan.workers import workers_of
from services.python.contract.knobs import WORKERS
from services.python.contract.limits import Kind

NONE = BY_NAME[STORE].default


def refusal_of_store(call: Values, operation: Operation | None, kind: Kind, *, is_external: bool) -> str | None:
    """Why a cell cannot have its store, with what to do instead; None where it can."""
    if kind == "codec":
        return None
    if operation is not None and STORE in operation.resources and workers_of(call) > 1:
        return (
            f"`{WORKERS}: {call[WORKERS]}` with {operation.name}: each worker would have a store of its own, and undo what"
            f" the others' payments change. Give `{WORKERS}: 1`"
        )
    if not resources(call):
        return None
    asked = next(f"`{name}: {value}`" for name, value in resources(call).items())
    if operation is None or STORE not in operation.resources:
        return f"{asked}: {'this' if operation is None else operation.name} asks no store. Leave `{STORE}` out"
    if is_external:
        return f"{asked}: the responder runs already, and what it asks is not known. Leave `{STORE}` out"
    store = call.get(STORE, NONE)
    if store == POSTGRESQL and DRIVER not in operation.resources:
        return f"{asked}: {operation.name} is kept in memory or in SQLite. Give `{STORE}: sqlite`"
    if store == NONE:
        return f"{asked}: rows in memory need no connection. Give a `{STORE}`"
    if store != POSTGRESQL and DRIVER in resources(call):
        return f"`{DRIVER}: {call[DRIVER]}` is of PostgreSQL. Give `{STORE}: {POSTGRESQL}`"
    return None
