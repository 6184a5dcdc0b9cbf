"""Requesters that break one promise each: `python -m tests.conformance.broken.requesters NAME`."""

from __future__ import annotations

import sys
import time
import traceback
from typing import Any

from tests.conformance.reference.generator import pair
from tests.conformance.reference.record import Row
from tests.conformance.reference.request import MEASURED, Lane, Phase, Requester
from tests.conformance.reference.respond import leave
from tests.conformance.reference.wire import Connection, Ended, ProtocolError


class AnyIdentityWillDo(Requester):
    def is_identity(self, who: Any) -> bool:
        return True


class KeepsWhomItMetToItself(Requester):
    def done_line(self, more: dict[str, Any] | None = None) -> dict[str, Any]:
        return {**super().done_line(more), "identity": self.trial["target"]["identity"]}


class AsksTheAnonymous(Requester):
    def read(self, text: str) -> dict[str, Any]:
        trial = super().read(text)
        trial["target"]["anonymous"] = False
        return trial


class AnyReplyIsRight(Requester):
    def is_right(self, name: str, fields: dict[str, Any], reply: dict[str, Any]) -> bool:
        return True


class ForgetsThatAConnectionEnds(Requester):
    def is_over(self, lane: Lane) -> bool:
        return False


class NoHeader(Requester):
    def header(self) -> bytes:
        return b""


class AnotherVersionOfTheRecord(Requester):
    def header(self) -> bytes:
        header = bytearray(super().header())
        header[8] = 1
        return bytes(header)


class StampsSwapped(Requester):
    def store(self, row: Row) -> None:
        super().store(row._replace(sent_ns=row.received_ns, received_ns=row.sent_ns))


class WrongCounts(Requester):
    def summary(self) -> dict[str, Any]:
        said = super().summary()
        return {**said, "verified": said["verified"] + 1}


class OverstatesItsPauses(Requester):
    def summary(self) -> dict[str, Any]:
        summary = super().summary()
        return {**summary, "paused_s": summary["measured_s"] / 2}


class RetriesInSilence(Requester):
    def call(self, lane: Lane, name: str, fields: dict[str, Any]) -> Any:
        try:
            return super().call(lane, name, fields)
        except Ended:
            lane.connection = self.dial()
            return super().call(lane, name, fields)


class KeepsWhatItShouldClose(Requester):
    def reuses(self) -> bool:
        return True


class OneConnectionTooMany(Requester):
    def measure(self) -> None:
        self.spare = self.dial()
        super().measure()


class OpensAnewForEveryRequest(Requester):
    def reuses(self) -> bool:
        return False


class CrashesOnGarbage(Requester):
    def read(self, text: str) -> dict[str, Any]:
        try:
            return super().read(text)
        except ValueError:
            traceback.print_exc()
            leave(1)


class WrongKind(Requester):
    def status_of(self, error: Exception) -> str:
        status = super().status_of(error)
        return "closed" if status == "protocol" else status


class SendsBeforeItIsDue(Requester):
    def wait_until(self, due_ns: int) -> None:
        super().wait_until(due_ns - 2_000_000)


class AnotherSchedule(Requester):
    def due(self) -> list[int]:
        return [at + (place % 2) for place, at in enumerate(super().due())]


class RestsTooShort(Requester):
    def rest_after(self, place: int) -> int:
        return super().rest_after(place) * 3 // 4


class AnotherThinkTime(Requester):
    def rest_after(self, place: int) -> int:
        return super().rest_after(place + 1)


class BeginsAllAtOnce(Requester):
    def first_rest(self, worker: int) -> int:
        return 0


class ForgetsWhatWasNotSent(Requester):
    def enter_not_sent(self, phase: Phase) -> None:
        return


class GivesUpTooEarly(Requester):
    def timeout_s(self) -> float:
        return super().timeout_s() / 3


class NeverGivesUp(Requester):
    def timeout_s(self) -> float:
        return 600


class AnotherGenerator(Requester):
    def requests(self) -> Any:
        asks = super().requests()
        seed = self.trial["seed"]
        return lambda sequence: ("add", pair(seed + 1, sequence)) if asks(1)[0] == "add" else asks(sequence)


class TextOnStdout(Requester):
    def check(self) -> None:
        sys.stdout.write("checking...\n")
        super().check()


class ChecksOnOneConnection(Requester):
    def dial(self) -> Connection:
        if not hasattr(self, "first"):
            self.first = super().dial()
            self.first.close = lambda: None  # type: ignore[method-assign]
            self.dials = 0
        self.dials += 1
        return self.first if self.dials <= 2 else super().dial()


class StaysWhenStdinCloses(Requester):
    def await_end_of_stdin(self) -> None:
        self.hear()


class CarriesOnAfterFiftyFailures(Requester):
    def enter(self, phase: Phase, row: Row) -> None:
        super().enter(phase, row)
        self.in_a_row = 0


class DoesNotWait(Requester):
    def hold_back(self) -> None:
        return


class MeasuresBeforeTheMoment(Requester):
    def await_word(self) -> None:
        super().await_word()
        self.moment_ns = 0


class MeasuresBeforeItMay(Requester):
    def await_word(self) -> None:
        return


class WarmUpIsMeasured(Requester):
    def store(self, row: Row) -> None:
        super().store(row._replace(phase=MEASURED))


class ProgressOfEveryRequest(Requester):
    def enter(self, phase: Phase, row: Row) -> None:
        self.next_progress_ns = 0
        super().enter(phase, row)


class ForgetsParts(Requester):
    def in_order(self, row: Row, parts: list[Row]) -> list[Row]:
        return [row]


class PartsBeforeTheirTask(Requester):
    def in_order(self, row: Row, parts: list[Row]) -> list[Row]:
        return [*parts, row]


class CallsOnConnectionsOfTheirOwn(Requester):
    def call(self, lane: Lane, name: str, fields: dict[str, Any]) -> Any:
        if self.trial["calls"] > 1 and not self.reuses() and lane.connection is not None:
            lane.connection.close()
            lane.connection = self.dial()
        return super().call(lane, name, fields)


class TheSameRequestInEveryCall(Requester):
    def numbers(self, sequence: int) -> range:
        calls = self.trial["calls"]
        return range(sequence, sequence + 1) if calls == 1 else [sequence] * calls  # type: ignore[return-value]


class GoesOnAfterACallThatFailed(Requester):
    """A task whose second call fails makes the third all the same, and is right where that is."""

    def call(self, lane: Lane, name: str, fields: dict[str, Any]) -> Any:
        try:
            return super().call(lane, name, fields)
        except ProtocolError:
            if self.trial["calls"] == 1:
                raise
            return super().call(lane, name, fields)


class CodesUnderAnyLoad(Requester):
    def asks_for_a_call(self) -> bool:
        return False


class EncodesAndDoesNotDecode(Requester):
    """The record has one part where two should be."""

    def in_order(self, row: Row, parts: list[Row]) -> list[Row]:
        return [row, *(parts[:1] if self.is_codec else parts)]


class PassesAnAuthorityOver(Requester):
    def read(self, text: str) -> dict[str, Any]:
        return {**super().read(text), "tls": None}


class CallsAreDue(Requester):
    def due(self) -> list[int]:
        due, calls = super().due(), self.trial["calls"]
        return due if calls == 1 else [at for at in due for _ in range(calls)]


class AnotherMix(Requester):
    def place(self, sequence: int) -> int:
        return super().place(sequence + 1)


class RowsOfTheFirstOperation(Requester):
    def store(self, row: Row) -> None:
        super().store(row._replace(parent=1) if self.trial["mix"] else row)


class OneConnectionForAMix(Requester):
    def connections_of(self, lane: Lane) -> list[Lane]:
        return [lane] * max(1, len(self.trial["mix"]))


class MeasuresWithoutATurn(Requester):
    """It begins the next turn by itself."""

    def take_turns(self) -> None:
        self.words.put("turn")
        super().take_turns()


class GoesOnBehindItsTurn(Requester):
    """It says that its turn is over, and sends on for a while."""

    def turn(self, number: int) -> dict[str, Any]:
        said = super().turn(number)
        end_ns = said["begin_ns"] + self.window_ns() // 2
        within = [row for row in self.rows if row.phase == MEASURED and said["begin_ns"] <= row.sent_ns <= end_ns]
        return {**said, "end_ns": max([end_ns, *(row.received_ns for row in within)])}


class MeasuresTheBeginningOfATurn(Requester):
    def turn(self, number: int) -> dict[str, Any]:
        self.trial["turn_warm_up"] = 0
        return super().turn(number)


class CountsTurnsFromOne(Requester):
    def turn(self, number: int) -> dict[str, Any]:
        return {**super().turn(number), "number": number + 1}


class SendsWhileOthersHaveTheirTurn(Requester):
    def next_word(self) -> str:
        while self.words.empty():
            self.play(Phase(0, time.monotonic_ns(), 1, 0, None))
            time.sleep(0.001)
        return self.words.get()


class PollsForItsTurn(Requester):
    def next_word(self) -> str:
        while self.words.empty():
            pass
        return self.words.get()


class TakesTurnsUnderAnyLoad(Requester):
    def has_no_turns(self) -> bool:
        return False


BROKEN = {one.__name__: one for one in Requester.__subclasses__()}

if __name__ == "__main__":
    BROKEN[sys.argv[1]]().run()
