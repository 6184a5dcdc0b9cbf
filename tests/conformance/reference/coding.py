"""What a requester does that codes messages alone, and asks nobody."""

from __future__ import annotations

import time
from typing import Any

from tests.conformance.reference.contract import STATUS
from tests.conformance.reference.operations import answer
from tests.conformance.reference.phases import Phase
from tests.conformance.reference.record import Row
from tests.conformance.reference.wire import Came

PART, CODEC = 2, 4


class Coding:
    """A part of a requester: what a codec alone does in place of a call."""

    trial: dict[str, Any]
    asks: Any
    wire: Any
    parts: dict[int, list[Row]]
    errors: dict[str, str]

    def asks_for_a_call(self) -> bool:
        """Whether the trial has what a codec alone cannot have."""
        trial, load = self.trial, self.trial["load"]
        is_other = (
            trial["connection"] != "reuse" or trial.get("knobs") or trial["calls"] != 1 or load["concurrency"] != 1
        )
        is_other = is_other or load["rate_per_s"] is not None or load["think_s"]
        return bool(is_other or trial["target"] is not None)

    def coded(self, phase: Phase, sequence: int) -> Row:
        """A request and its reply, encoded and decoded: a sample in two parts."""
        name, fields = self.asks(sequence)
        reply = answer(name, fields, "")
        sent_ns = time.monotonic_ns()
        decoded, decoded_reply, stamps, sent, received = self.code(name, fields, reply)
        whole = (sent_ns, sent_ns, time.monotonic_ns())
        status = "ok" if (decoded, decoded_reply) == (fields, reply) else "wrong-reply"
        if status != "ok":
            self.errors.setdefault(status, "not what was encoded")
        bodies, (begun, encoded, ended) = sent + received, stamps
        self.parts[sequence] = [
            Row(1, phase.number, 0, begun, begun, encoded, -1, bodies, 0, 0, PART, sequence),
            Row(2, phase.number, 0, encoded, encoded, ended, -1, 0, bodies, 0, PART, sequence),
        ]
        return Row(sequence, phase.number, 0, *whole, -1, sent, received, STATUS[status], CODEC)

    def code(self, name: str, fields: dict[str, Any], reply: dict[str, Any]) -> tuple[Any, Any, Any, int, int]:
        """Both messages as they were decoded; when that began, and both were encoded, and decoded; both sizes."""
        begun = time.monotonic_ns()
        body, answered = self.wire.request_body(name, fields), self.wire.reply_body(name, reply)
        encoded = time.monotonic_ns()
        decoded = self.wire.read_request(Came(name, body))
        decoded_reply = self.wire.read_reply(name, Came(name, answered))
        return decoded, decoded_reply, (begun, encoded, time.monotonic_ns()), len(body), len(answered)
