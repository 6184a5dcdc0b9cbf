"""What every protocol is held to: what is done with connections, and how large a body and a message may be."""

from __future__ import annotations

from typing import Literal

Policy = Literal["reuse", "per-request"]
POLICIES: tuple[Policy, ...] = ("reuse", "per-request")

# The largest body that every protocol here must carry; experiments with larger payloads are refused.
MAX_PAYLOAD_BYTES = 64 * 1024 * 1024

# The limit on a message, in every protocol that has one, the same on both ends. A payload can grow on its way:
# a one-digit number of a JSON document takes eleven bytes as a google.protobuf.Value.
MAX_MESSAGE_BYTES = 8 * MAX_PAYLOAD_BYTES
