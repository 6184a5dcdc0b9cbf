"""`evolution`: records that one schema wrote and another reads; coded alone, as nobody need be asked to find that out.

The request asks for so many records, the reply has them, from the generator with seed 0. How both schemas differ is no part
of the message: `Asked` says it to whoever codes it (`codecs.evolution`, `protos/evolution.md`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from services.python.contract.limits import SchemaChange
from services.python.contract.lines import Payload
from services.python.contract.messages import EVOLUTION
from services.python.operations.base import Make, Operation, Reply, Request, WallClockNs, expect_kind
from services.python.operations.echo import records

_SEED = 0


class Asked(dict[str, Any]):
    """The request, and how the schema that reads its reply differs from the one that writes it."""

    def __init__(self, count: int, schema_change: SchemaChange) -> None:
        super().__init__({"count": count})
        self.schema_change = schema_change


@lru_cache(maxsize=2)
def _records(count: int) -> list[dict[str, Any]]:
    return records(count, _SEED)


def _requests(payload: Payload, seed: int) -> Make:  # noqa: ARG001 - the same records whatever the seed
    expect_kind("evolution", payload, "evolution")
    request = Asked(payload.count, payload.schema_change)
    return lambda _sequence, _wall_clock_ns: request


def _answer(request: Request, wall_clock_ns: WallClockNs) -> dict[str, Any]:  # noqa: ARG001 - no clock needed
    return {"records": _records(request["count"])}


def _verify(request: Request, reply: Reply) -> str | None:  # noqa: ARG001 - see `codecs.evolution.Outcomes`
    return "an evolution is judged by what comes of it, and coded alone"


OPERATION = Operation(
    name="evolution",
    message=EVOLUTION,
    kind="codec",
    payloads=("evolution",),
    requests=_requests,
    answer=_answer,
    verify=_verify,
)
