"""The kinds of work, what is done with connections, and how large a body and a message may be."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["call", "task", "stream", "codec"]
"""What is timed: one request with its reply; several calls that make one piece of work; the events of a subscription;
a message encoded and decoded, with no network."""
KINDS: tuple[Kind, ...] = ("call", "task", "stream", "codec")

Recorded = Literal["call", "task", "stream", "codec", "mix"]
"""What the rows of a record are of: a kind of work, or calls of several operations."""
MIX: Literal["mix"] = "mix"

Policy = Literal["reuse", "per-request"]
MOST_CALLS = 1_000  # of a task

SATURATED = 0.85
"""The share of its core from which on a process is what limits: a requester the load, a responder the throughput."""

SchemaChange = Literal[
    "none", "added", "removed", "renamed", "renamed-without-alias", "renumbered", "widened", "retyped"
]
"""How the schema that reads differs from the one that wrote (protos/evolution.md)."""
SCHEMA_CHANGES: tuple[SchemaChange, ...] = get_args(SchemaChange)

TLS = "tls"  # the knob that says whether connections are plain or TLS
TLS_1_3 = "tls1.3"
SESSION = "session"  # the knob that says whether a new connection resumes the TLS session of an earlier one
RESUMED = "resumed"

# The largest body that every protocol here must carry; experiments with larger payloads are refused.
MAX_PAYLOAD_BYTES = 64 * 1024 * 1024

# The limit on a message, in every protocol that has one, the same on both ends. A payload can grow on its way:
# a one-digit number of a JSON document takes eleven bytes as a google.protobuf.Value.
MAX_MESSAGE_BYTES = 8 * MAX_PAYLOAD_BYTES
