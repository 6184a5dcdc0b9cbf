"""The PostgreSQL server of a session: one that the environment names, or one that is started for it and ended with it.

Where the plan has hosts for it, they have their own, which come with the deployment (`hosts.provision.stores`).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.errors import MissingError
from orchestrator.experiment.model.factors import GIVEN
from orchestrator.experiment.plan.cells import ask_postgresql, postgresql_connections
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import THIS_MACHINE
from orchestrator.hosts.local import postgresql

_LOG = logging.getLogger(__name__)


@contextmanager
def server(plan: Plan) -> Iterator[str]:
    """The DSN that responders are given; empty where no cell needs it, or the plan has hosts for it.

    MissingError where none is named and none can be started: on this machine for its own responders alone.
    """
    if not ask_postgresql(plan.cells):
        yield ""
    elif plan.makes_stores:
        if os.environ.get(GIVEN):
            _LOG.warning(
                "%s is not asked: the plan has a host for PostgreSQL. `orch plan` again to have it asked", GIVEN
            )
        yield ""
    elif given := os.environ.get(GIVEN):
        yield given
    elif plan.provider != THIS_MACHINE:
        raise MissingError(
            f"this plan asks a server of PostgreSQL that {GIVEN} named when it was made, and none is named now",
            hint=f"name it: {GIVEN}=postgresql://user@host:5432/name, or `orch plan` again for one with a host of its own",
        )
    else:
        with postgresql.running(postgresql_connections(plan.cells)) as (dsn, _):
            yield dsn
