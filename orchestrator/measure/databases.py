"""The PostgreSQL server of a session: one that the environment names, or one that is started for it and ended with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.errors import MissingError
from orchestrator.experiment.model.store_factors import POOL, POSTGRESQL, STORE
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import THIS_MACHINE
from orchestrator.hosts.local import postgresql

_STANDARD = 10  # connections of a pool whose size no cell names


def is_needed(plan: Plan) -> bool:
    """Whether a cell's rows are in PostgreSQL."""
    return any(cell.factors.get(STORE) == POSTGRESQL for cell in plan.cells)


@contextmanager
def server(plan: Plan) -> Iterator[str]:
    """The DSN that responders are given; empty where no cell needs it.

    MissingError where none is named and none can be started: on this machine for its own responders alone.
    """
    if not is_needed(plan):
        yield ""
    elif given := os.environ.get(postgresql.GIVEN):
        yield given
    elif plan.provider != THIS_MACHINE:
        raise MissingError(
            f"`store: postgresql` with provider {plan.provider} needs a server that the hosts reach, and none is named",
            hint=f"name it: {postgresql.GIVEN}=postgresql://user@host:5432/name",
        )
    else:
        pools = [pool if isinstance(pool := cell.factors.get(POOL), int) else _STANDARD for cell in plan.cells]
        with postgresql.running(max(pools)) as (dsn, _):
            yield dsn
