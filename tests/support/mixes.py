"""A mix of two operations, four requests in five of one of them."""

from __future__ import annotations

from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.plan import Mixed

MIX = p.Operation(
    id="mix-80-add-20-echo-1-kB",
    name="mix",
    label="mix 80 % add, 20 % echo 1 kB",
    request_bytes=206,
    reply_bytes=206,
    mix=(
        Mixed(weight=4, name="add", label="add", request_bytes=8, reply_bytes=8),
        Mixed(
            weight=1,
            name="echo",
            label="echo 1 kB",
            payload={"kind": "bytes", "size": 1000},
            request_bytes=1000,
            reply_bytes=1000,
        ),
    ),
)
