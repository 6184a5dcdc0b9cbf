"""Cells that take turns: all their ends run side by side, and one requester measures at a time (`protos/process.md`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from orchestrator.measure.target import READY_S, Deadline, TrialFailed
from orchestrator.measure.trial import Requester, TrialRun
from orchestrator.results.turn_times import REST_S, TurnTime, disturbed, stolen_beside
from services.python.contract.requester_lines import END, TURN, Checked, Done, Turn, Warm


@dataclass(kw_only=True)
class Member:
    """One cell of a group: its trial under way, how many turns it has in the block, and its turns so far."""

    trial: TrialRun
    turns_in_block: int
    turns: list[TurnTime] = field(default_factory=list)
    rest_cpu_s: float | None = None
    checked: Checked | None = None

    @property
    def requester(self) -> Requester:
        """Who asks: a cell in turns has one."""
        return self.trial.requesters[0]

    def await_warm(self) -> None:
        """Wait until the requester has warmed up. TrialFailed."""
        trial, requester = self.trial, self.requester
        deadline = Deadline(ask=trial.ask, ready_s=READY_S, since_s=trial.bench.clock.monotonic_s())
        with trial.bench.interrupts.waiting():
            while True:
                match line := trial.next_line(requester, deadline):
                    case Warm():
                        break
                    case Checked():
                        self.checked = line
                    case Done() | Turn():
                        raise TrialFailed(
                            "warm-up", "protocol", f"the requester printed `{line.type}` before it was warm"
                        )
        trial.stats_warm = trial.target.stats("warm-up")

    def turn(self) -> None:
        """Let the requester measure once. TrialFailed."""
        trial, requester = self.trial, self.requester
        before_s = trial.bench.beside_cpu_s()
        trial.tell(requester, TURN, "measure")
        match self._answer("turn"):
            case Turn() as turn if turn.number == len(self.turns):
                self.turns.append(
                    TurnTime(
                        requests=turn.requests,
                        warm_up=(trial.ask.turn_warm_up or 0) * trial.ask.load.concurrency,
                        begin_ns=turn.begin_ns,
                        end_ns=turn.end_ns,
                        cpu_s=turn.cpu_s,
                        waited_s=turn.waited_s,
                        stolen_s=turn.stolen_s,
                    )
                )
            case Turn(number=number):
                raise TrialFailed("measure", "protocol", f"the requester printed turn {number}, not {len(self.turns)}")
        if before_s is not None and (now_s := trial.bench.beside_cpu_s()) is not None:
            trial.beside_cpu_s = (trial.beside_cpu_s or 0.0) + now_s - before_s

    def _answer(self, wanted: str) -> Turn | Done:
        """The line that ends a turn, or the trial. TrialFailed for another one."""
        trial, now_s = self.trial, self.trial.bench.clock.monotonic_s()
        deadline = Deadline(ask=trial.ask, ready_s=READY_S, since_s=now_s, stage="measure", started_s=now_s)
        with trial.bench.interrupts.waiting():
            while True:
                line = trial.next_line(self.requester, deadline)
                if isinstance(line, Turn | Done):
                    if line.type != wanted:
                        raise TrialFailed("measure", "protocol", f"the requester printed `{line.type}`, not `{wanted}`")
                    return line

    def read_stats(self) -> None:
        """What the responder has done up to here. TrialFailed."""
        self.trial.stats = self.trial.target.stats("measure")

    def read_rest(self) -> None:
        """What the responder used since then. TrialFailed."""
        before, after = self.trial.stats, self.trial.target.stats("measure")
        if before is not None and after is not None and before.cpu_s is not None and after.cpu_s is not None:
            self.rest_cpu_s = max(0.0, after.cpu_s - before.cpu_s)

    def end(self) -> None:
        """Have the requester verify its replies and end. TrialFailed."""
        self.trial.tell(self.requester, END, "measure")
        done = self._answer("done")
        assert isinstance(done, Done)  # noqa: S101 - narrows the type
        self.trial.finish([(self.checked, done)])

    def is_due(self, number: int, rounds: int, phase: float) -> bool:
        """Whether it has a turn in a round of so many: its own are spread over them evenly, from a phase of 0 to 1 on."""
        shift = int(phase * rounds)
        own = self.turns_in_block
        return ((number + 1) * own + shift) // rounds > (number * own + shift) // rounds

    def repeats(self, stolen: float) -> int:
        """How many disturbed turns are to be measured again: at most half as many as it has in the block."""
        return min(sum(disturbed(self.turns, stolen)), self.turns_in_block // 2)


def take_turns(
    members: Sequence[Member], orders: Sequence[Sequence[int]], checkpoint: Callable[[int], None]
) -> list[TrialRun]:
    """Make a group's trials: `orders` has the places of the members for each round; `checkpoint` is called before it.

    A member that fails ends, and the others go on. Whatever `checkpoint` raises ends all processes.
    """
    with ExitStack() as stack:
        for member in members:
            stack.enter_context(member.trial.processes)
            member.trial.attempt(member.trial.start)
        for member in members:  # a requester starts its client and warms up while other responders still start
            member.trial.attempt(member.trial.await_ready)
            member.trial.attempt(member.trial.hand_over)
        for member in members:
            checkpoint(0)
            member.trial.attempt(member.await_warm)
        for number, order in enumerate(orders):
            checkpoint(number)
            for place in order:
                if members[place].is_due(number, len(orders), place / len(members)):
                    members[place].trial.attempt(members[place].turn)
        stolen = stolen_beside(turn for member in members for turn in member.turns)
        again = [member.repeats(stolen) for member in members]
        for number in range(max(again, default=0)):
            checkpoint(len(orders))
            for place in orders[number % len(orders)]:
                if number < again[place]:
                    members[place].trial.attempt(members[place].turn)
        for member in members:
            member.trial.attempt(member.read_stats)
        checkpoint(len(orders))
        members[0].trial.bench.clock.sleep(REST_S)
        for member in members:
            member.trial.attempt(member.read_rest)
        for member in members:
            member.trial.attempt(member.end)
        return [member.trial.over() for member in members]
