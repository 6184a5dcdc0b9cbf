"""What a trial that mixes operations has in place of one operation."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator
from typing import Any

from services.python.contract.lines import Trial
from services.python.contract.offers import Client, Protocol
from services.python.contract.requester_lines import Bodies
from services.python.contract.strict import Part, part
from services.python.contract.timing_rules import are_asked_for
from services.python.load.client import Reply, Request
from services.python.load.mix import AwaitingMix, BlockingMix, make_mixed, verify_mixed
from services.python.load.phases import mix_order, place_in_mix
from services.python.operations import OPERATIONS, Operation
from services.python.operations.base import Make

Ask = Callable[[Any, Request], tuple[Reply, tuple[int, int]]]
Dial = Callable[[str, Request], Any]


@part
class Mix(Part):
    """The operations of a mix in its order, what makes the requests of each, and which of them each request asks."""

    operations: tuple[Operation, ...]
    makes: tuple[Make, ...]
    drawn: array[int]

    def make(self) -> Make:
        """What makes the requests of all of them."""
        return make_mixed(self.makes, self.drawn)

    def verify(self) -> Callable[[Request, Reply], str | None]:
        """What verifies the replies of all of them."""
        return verify_mixed([o.verify for o in self.operations], [o.name for o in self.operations])

    def examples(self) -> Iterator[tuple[Operation, Request]]:
        """Each operation with a request of it."""
        for operation, make in zip(self.operations, self.makes, strict=True):
            yield operation, make(1, time.time_ns)

    def ask_each(self, ask: Ask, dialer: Dial) -> Iterator[tuple[str, str | None, tuple[int, int]]]:
        """Each operation asked once: its name, why its reply is wrong, both bodies' sizes. CallFailed."""
        for operation, example in self.examples():
            reply, sizes = ask(dialer(operation.name, example), example)
            yield operation.name, operation.verify(example, reply), sizes

    def parent_of(self, sequence: int) -> int:
        """The place in the mix, from 1, of the operation that a request asks."""
        return 1 + place_in_mix(self.drawn, sequence)

    def rows(self, *, are_kept: bool) -> dict[str, Any]:
        """What a recorder must know of it."""
        return {"parent_of": self.parent_of, "each_has": len(self.operations) if are_kept else 0}

    def dialer(self, dialer: Dial, style: str, *, are_kept: bool) -> Any:
        """Opens connections for all of them, with a dialer for each."""
        dialers = [dialer(operation.name, example) for operation, example in self.examples()]
        return (BlockingMix if style == "sync" else AwaitingMix)(dialers, are_kept=are_kept)


def mix_of(trial: Trial, protocol: Protocol, client: Client) -> Mix | None:
    """The mix of a trial, None where it asks one operation; ValueError for one that cannot be asked."""
    if not trial.mix:
        return None
    if trial.calls > 1 or trial.schema is not None or client.kind != "call" or are_asked_for(trial.knobs):
        raise ValueError("mix: each request is one call, without a schema of its own, and timed by no misleading rule")
    operations = []
    for mixed in trial.mix:
        operation = OPERATIONS.get(mixed.operation)
        if operation is None or mixed.operation not in protocol.operations:
            raise ValueError(f"mix: {protocol.name} does not carry {mixed.operation}")
        if operation.kind != "call":
            raise ValueError(f"mix: {operation.name} is no call")
        if reason := client.refuses.get(operation.name):
            raise ValueError(f"{client.name} cannot do {operation.name}: {reason}")
        operations.append(operation)
    first = trial.mix[0]
    if (first.operation, first.payload) != (trial.operation, trial.payload):
        raise ValueError("mix: `operation` and `payload` are not those of its first")
    return Mix(
        operations=tuple(operations),
        makes=tuple(o.requests(m.payload, trial.seed) for o, m in zip(operations, trial.mix, strict=True)),
        drawn=mix_order([mixed.weight for mixed in trial.mix], trial.seed),
    )


def bodies(sizes: list[tuple[int, int]]) -> list[Bodies]:
    """Of each operation the bytes of both bodies."""
    return [Bodies(sent=sent, received=received) for sent, received in sizes]
