"""Both ends of one implementation meet each other, in every protocol that it offers."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kit import Implementation
from tests.conformance.reference.operations import make_png

pytestmark = pytest.mark.busy

# What these hold is opened where the serve line names them.
HOLDING = {"balance", "payment", "transactions", "accounts", "user", "posts", "comments", "feed"}


def payload_of(operation: str, folder: Path) -> dict[str, Any]:
    if operation == "image":
        picture = folder / "picture.png"
        picture.write_bytes(make_png(40, 30))
        digest = sha256(picture.read_bytes()).hexdigest()
        return {"kind": "image", "path": str(picture), "sha256": digest, "full_decode": True}
    return {
        "echo": {"kind": "records", "count": 5},
        "exchange": {"kind": "exchange", "size": 100, "reply_size": 3000, "opening": 4},
        "transfer": {"kind": "transfer", "size": 100, "reply_size": 3000},
    }.get(operation, {"kind": "none"})


@pytest.mark.slow
def test_every_reply_is_verified_and_counted_on_both_ends(
    ends: Implementation, pair: tuple[str, str, str, str], tmp_path: Path
):
    protocol, implementation, client, operation = pair
    trial, stats = ends.meet(
        (protocol, implementation, client),
        tmp_path / "record",
        serve={"operations": [operation]} if operation in HOLDING else {},
        operation=operation,
        payload=payload_of(operation, tmp_path),
        connection="reuse" if ends.keeps_connections(protocol, implementation) else "per-request",
    )
    done = trial.done
    assert trial.types == ["checked", "start", "done"]
    assert (done["requests"], done["verified"], done["errors"]) == (10, 10, {})
    assert [row.sequence for row in sorted(trial.rows)] == list(range(1, 14))
    assert {row.status for row in trial.rows} == {0}
    assert stats["answered"] == 13 + 2  # the two of the check among them
