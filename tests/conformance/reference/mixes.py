"""What a requester does where a trial mixes several operations."""

from __future__ import annotations

from typing import Any

from tests.conformance.reference.generator import NoSuchTrial, mix_order, requests
from tests.conformance.reference.phases import Lane

MESSAGES = {"timestamp", "add", "echo", "image", "exchange", "transfer"}


class Mixing:
    """A part of a requester: which operation a request asks, and over which connection."""

    trial: dict[str, Any]
    asks: Any
    is_codec: bool

    def requests(self) -> Any:
        trial = self.trial
        if not trial["mix"]:
            return requests(trial["operation"], trial["payload"], trial["seed"])
        first = trial["mix"][0]
        is_one_call = trial["calls"] == 1 and trial.get("schema") is None and not self.is_codec
        is_first = (first["operation"], first["payload"]) == (trial["operation"], trial["payload"])
        if not (is_one_call and is_first and all(of["operation"] in MESSAGES for of in trial["mix"])):
            raise NoSuchTrial("mix: no such operation, or not one call of the first for each request")
        self.order = mix_order([of["weight"] for of in trial["mix"]], trial["seed"])
        each = [requests(of["operation"], of["payload"], trial["seed"]) for of in trial["mix"]]
        return lambda sequence: each[self.place(sequence) - 1](sequence)

    def place(self, sequence: int) -> int:
        """The place in the mix, from 1, of the operation that a request asks; 0 without a mix."""
        return 1 + self.order[(sequence - 1) % len(self.order)] if self.trial["mix"] else 0

    def each_asked(self) -> list[Any]:
        """A request of each operation."""
        if not self.trial["mix"]:
            return [self.asks(1)]
        seed = self.trial["seed"]
        return [requests(of["operation"], of["payload"], seed)(1) for of in self.trial["mix"]]

    def connections_of(self, lane: Lane) -> list[Lane]:
        """One for each operation, as lanes of their own."""
        if self.trial["mix"] and not lane.each:
            lane.each = [Lane() for _ in self.trial["mix"]]
        return lane.each or [lane]
