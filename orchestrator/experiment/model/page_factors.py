"""What can differ between two cells in how a page of several parts is asked for; `factors` has it among all others."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Factor, Values
from orchestrator.experiment.model.levels import Level

FETCH = "fetch"
BATCHING = "batching"
FIELDS = "fields"
CALLS = "calls"
WHOLE = "whole"
AT_ONCE = "at-once"

OF_THE_PAGE: tuple[Factor, ...] = (
    Factor(
        name=FETCH,
        title="fetch",
        kind="level",
        belongs_to="call",
        reaches="knob",
        varies_with=(CALLS,),
        levels=(
            Level(value=WHOLE, words="all in one call", compared="one call", shown="in one call (whole)"),
            Level(
                value="in-a-row",
                words="a call for each part, in a row",
                compared="calls in a row",
                shown="a call for each part, one after the other (in-a-row)",
            ),
            Level(
                value=AT_ONCE,
                words="a call for each part, all at once",
                compared="calls at once",
                shown="a call for each part, all at once (at-once)",
            ),
        ),
        description="Ask an operation that is made of others in one call (whole), or those others in its place: one after"
        " the other on one connection (in-a-row), or all at once (at-once), over HTTP/1.1 on a connection each, over HTTP/2"
        " on one",
    ),
    Factor(
        name=BATCHING,
        title="batching",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(value="none", words="a query by each resolver", compared="a query by each resolver", shown="none"),
            Level(
                value="dataloader",
                words="resolvers' queries put together by a DataLoader",
                compared="a DataLoader",
                shown="by a DataLoader (dataloader)",
            ),
        ),
        description="Have each of GraphQL's resolvers query the store for itself (none: N + 1 queries), or put the queries"
        " of a page's posts together by a DataLoader (dataloader)",
    ),
    Factor(
        name=FIELDS,
        title="fields",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(value="all", words="every field needed", compared="every field needed", shown="all needed (all)"),
            Level(
                value="shown",
                words="only the fields needed that a list shows",
                compared="few fields needed",
                shown="those that a list shows (shown)",
            ),
        ),
        description="Which fields of a page its reader needs: all, or the few that a list shows (shown): GraphQL's query"
        " selects them alone, others send all, and what nobody needs is counted",
    ),
)


def is_in_pieces(values: Values) -> bool:
    """Whether the operations that one is made of are asked in its place."""
    return values.get(FETCH) not in (None, WHOLE)


def in_a_row(values: Values, calls: int) -> int:
    """How many of a sample's calls wait for one another."""
    return 1 if values.get(FETCH) == AT_ONCE else calls
