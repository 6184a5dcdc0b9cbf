"""A requester of `tcp`, `http+json` and `rest`, of the standard library. `python -m tests.conformance.reference.request`."""

from __future__ import annotations

import itertools
import queue
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

from tests.conformance.reference.coding import PART, Coding
from tests.conformance.reference.contract import STATUS, STATUSES, VERSION, read_line, with_defaults
from tests.conformance.reference.generator import NoSuchTrial, arrivals, first_rest, rest, think_times
from tests.conformance.reference.mixes import MESSAGES, Mixing
from tests.conformance.reference.operations import answer, is_right
from tests.conformance.reference.phases import Lane, Phase
from tests.conformance.reference.record import HEADER, Row, packed
from tests.conformance.reference.respond import leave, print_line
from tests.conformance.reference.wire import WIRES, Connection, Ended, ProtocolError, Undecodable

CLIENT, CODEC_CLIENT = "reference", "reference-codec"
NS = 10**9
WARM_UP, MEASURED = 0, 1
MOST_IN_A_ROW = 50
LONGEST_NAME = 200
REQUEST, TASK, MIXED = 0, 1, 6
FAILURES = (OSError, Ended, Undecodable, ProtocolError)


class Failed(Exception):
    """The trial cannot be made, or goes on no more."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Requester(Mixing, Coding):
    """One process. What a broken one does otherwise is a method of its own."""

    met: str | None = None  # what the responder called itself

    def run(self) -> NoReturn:
        text = sys.stdin.readline()
        self.may_measure, self.moment_ns = threading.Event(), 0
        self.words: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self.await_end_of_stdin, daemon=True).start()
        try:
            self.trial = self.read(text)
            self.make_trial()
        except ValueError as error:
            self.fail("trial", f"no trial on stdin: {error}")
        except NoSuchTrial as error:
            self.fail("trial", str(error))
        except OSError as error:
            self.fail("host", str(error))
        except Failed as failure:
            self.fail(failure.kind, str(failure))
        leave(0)

    def read(self, text: str) -> dict[str, Any]:
        return {"mix": [], **with_defaults("trial", read_line("trial", text))}

    def await_end_of_stdin(self) -> None:
        self.hear()
        leave(1)

    def hear(self) -> None:
        """Every line of stdin behind the first, to its end."""
        for line in sys.stdin:
            word, _, moment = line.strip().partition(" ")
            if word == "measure" and (not moment or moment.isdecimal()):
                self.moment_ns = int(moment or 0)
                self.may_measure.set()
            elif line.strip() in ("turn", "end"):
                self.words.put(line.strip())

    def fail(self, kind: str, message: str) -> NoReturn:
        words = " ".join(message.split())[:900]
        print_line({"type": "failed", "kind": kind, "message": words})
        sys.stderr.write(f"request: {words}\n")
        sys.stderr.flush()
        leave(1)

    def make_trial(self) -> None:
        trial, load = self.trial, self.trial["load"]
        clients = (CLIENT, CODEC_CLIENT)
        known = trial["protocol"] in WIRES, trial["client"] in clients, trial["operation"] in MESSAGES
        if not all(known) or trial.get("tls"):
            raise NoSuchTrial("no such protocol, client or operation, or tls")
        if load["requests"] is None and load["duration_s"] is None:
            raise NoSuchTrial("load: neither requests nor duration_s would end this trial")
        if load["concurrency"] < 1 or (load["rate_per_s"] is not None and load["rate_per_s"] <= 0):
            raise NoSuchTrial("load: a concurrency of at least 1, a rate above 0")
        if load["rate_per_s"] is not None and load["think_s"]:
            raise NoSuchTrial("load: an open loop has no think time")
        if trial["turn_warm_up"] is not None and self.has_no_turns():
            raise NoSuchTrial("turns are of a closed loop that is held")
        self.is_codec = trial["client"] == CODEC_CLIENT
        if trial["target"] is None and not self.is_codec:
            raise NoSuchTrial("it names no target, and this client asks somebody")
        if self.is_codec and self.asks_for_a_call():
            raise NoSuchTrial("a codec alone encodes and decodes one message after the other, and asks nobody")
        self.wire = WIRES[trial["protocol"]]
        self.asks = self.requests()
        self.check()
        if load["requests"] == 0:
            print_line({**self.done_line(), "rows": 0, "warmup_requests": 0, "requests": 0, "errors": {}})
            return
        self.measure()

    def has_no_turns(self) -> bool:
        load = self.trial["load"]
        is_plain = load["rate_per_s"] is None and not load["think_s"]
        is_call = self.trial["client"] != CODEC_CLIENT
        return not (self.trial["hold"] and is_plain and is_call)

    def check(self) -> None:
        target = self.trial["target"]
        name, fields = self.asks(1)
        if self.is_codec:
            *_, sent, received = self.code(name, fields, answer(name, fields, ""))
            print_line(
                {"type": "checked", "contract": VERSION, "body_bytes_sent": sent, "body_bytes_received": received}
            )
            return
        try:
            if not target["anonymous"]:
                with self.dial() as connection:
                    self.met = connection.ask("identity", {}).get("identity")
                if not self.is_identity(self.met):
                    raise Failed("wrong-reply", f"another responder answers: {self.met!r}, not {target['identity']!r}")
            came = []
            for one in self.each_asked():
                with self.dial() as connection:
                    came.append((*one, *connection.ask_and_count(*one)))
        except (OSError, Ended, Undecodable, ProtocolError) as error:
            raise Failed(self.status_of(error), f"before measuring: {error}") from error
        for name, fields, reply, *_ in came:
            if not self.is_right(name, fields, reply):
                raise Failed("wrong-reply", f"{name}: {str(reply)[:60]}")
        bodies = [{"sent": sent, "received": received} for *_, sent, received in came]
        first = {f"body_bytes_{way}": size for way, size in bodies[0].items()}
        more = {"mix": bodies} if self.trial["mix"] else {}
        print_line({"type": "checked", "contract": VERSION, **first, **more})

    def is_identity(self, who: Any) -> bool:
        expected = self.trial["target"]["identity"]
        return who == expected or (expected is None and isinstance(who, str) and 0 < len(who) <= LONGEST_NAME)

    def is_right(self, name: str, fields: dict[str, Any], reply: dict[str, Any]) -> bool:
        return is_right(name, fields, reply)

    def dial(self) -> Connection:
        target = self.trial["target"]
        return Connection(self.wire, target["host"], target["port"], self.timeout_s())

    def timeout_s(self) -> float:
        return self.trial["timeout_s"]

    def status_of(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return "timeout"
        if isinstance(error, Ended):
            return "closed"
        if isinstance(error, OSError):
            return "refused"
        return "protocol" if isinstance(error, ProtocolError) else "undecodable"

    def measure(self) -> None:
        load, warmup = self.trial["load"], self.trial["warmup"]
        self.record = Path(self.trial["record"]).open("wb", buffering=0)  # noqa: SIM115 - to the end of the process
        self.record.write(self.header())
        self.rows: list[Row] = []  # of samples
        self.parts: dict[int, list[Row]] = {}
        self.stored = 0
        self.errors: dict[str, str] = {}
        self.in_a_row = 0
        self.connections = itertools.count()
        self.opened = [0, 0]
        self.sequences = itertools.count(1)
        self.storing = threading.Lock()
        self.gave_up: Failed | None = None
        self.next_progress_ns = time.monotonic_ns() + NS
        self.anchor = anchor()
        print_line({"type": "start", "anchor": self.anchor})
        self.lanes = [Lane() for _ in range(load["concurrency"])]
        begin = time.monotonic_ns()
        warmup_phase = Phase(
            WARM_UP, begin, warmup["requests"], int(warmup["at_least_s"] * NS), begin + int(warmup["at_most_s"] * NS)
        )
        self.play(warmup_phase)
        if self.trial["hold"]:
            print_line({"type": "warm", "requests": warmup_phase.taken})
        if self.trial["turn_warm_up"] is not None:
            self.take_turns()
            return
        if self.trial["hold"]:
            self.await_word()
        self.hold_back()
        if load["thinking"] == "exponential":
            think_times(self.trial["seed"], load["think_s"])  # drawn before it begins
        self.begin_ns = time.monotonic_ns()
        end_ns = None if load["duration_s"] is None else self.begin_ns + int(load["duration_s"] * NS)
        due = None
        if load["rate_per_s"] is not None:
            due = self.due()
        most = load["requests"] if due is None else len(due)
        phase = Phase(MEASURED, self.begin_ns, most, 0, end_ns, due)
        self.play(phase)
        self.enter_not_sent(phase)
        self.finish()

    def take_turns(self) -> None:
        self.turns: list[dict[str, Any]] = []
        while self.next_word() == "turn":
            self.turns.append(self.turn(len(self.turns)))
            print_line(self.turns[-1])
        self.begin_ns = self.turns[0]["begin_ns"] if self.turns else time.monotonic_ns()
        self.finish()

    def next_word(self) -> str:
        return self.words.get()

    def turn(self, number: int) -> dict[str, Any]:
        warm = self.trial["turn_warm_up"] * len(self.lanes)
        if warm:
            self.play(Phase(WARM_UP, time.monotonic_ns(), warm, 0, None))
        cpu_s, begin = time.process_time(), time.monotonic_ns()
        requests, window_ns = self.trial["load"]["requests"], self.window_ns()
        before = len(self.rows)
        self.play(Phase(MEASURED, begin, requests, 0, begin + window_ns if window_ns else None))
        rows = self.rows[before:]
        return {
            "type": "turn",
            "number": number,
            "requests": len(rows),
            "begin_ns": begin,
            "end_ns": max([begin if requests else begin + window_ns, *(row.received_ns for row in rows)]),
            "cpu_s": time.process_time() - cpu_s,
        }

    def window_ns(self) -> int:
        return int((self.trial["load"]["duration_s"] or 0) * NS)

    def finish(self) -> None:
        for lane in self.lanes:
            for one in self.connections_of(lane):
                self.drop(one)
        print_line(self.done_line(self.summary()))

    def due(self) -> list[int]:
        load = self.trial["load"]
        return arrivals(self.trial["seed"], load["rate_per_s"], load["arrivals"], load["requests"], load["duration_s"])

    def header(self) -> bytes:
        return HEADER

    def await_word(self) -> None:
        self.may_measure.wait()

    def hold_back(self) -> None:
        at = max(self.trial["start_at_unix_ns"] or 0, self.moment_ns)
        time.sleep(max(0, at - time.time_ns()) / NS)

    def play(self, phase: Phase) -> None:
        threads = [threading.Thread(target=self.work, args=(phase, *of), daemon=True) for of in enumerate(self.lanes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.gave_up is not None:
            raise self.gave_up

    def work(self, phase: Phase, number: int, lane: Lane) -> None:
        thinks = phase.number == MEASURED and self.trial["load"]["think_s"] > 0
        rested_ns = 0
        for one in self.connections_of(lane):
            if self.reuses() and one.connection is None and not self.is_codec:
                self.open(one, phase)
        if thinks:
            rested_ns = phase.begin_ns + self.first_rest(number)
            phase.rest(rested_ns)
        while (place := phase.take()) is not None:
            with self.storing:
                sequence = next(self.sequences)
            intended_ns = rested_ns
            if phase.due is not None:
                intended_ns = phase.begin_ns + phase.due[place]
                self.wait_until(intended_ns)
            made = self.coded(phase, sequence) if self.is_codec else self.one(phase, lane, sequence, intended_ns)
            self.enter(phase, made)
            if thinks:
                rested_ns = time.monotonic_ns() + self.rest_after(place)
                phase.rest(rested_ns)

    def first_rest(self, worker: int) -> int:
        return first_rest(self.trial["seed"], self.trial["load"], worker)

    def rest_after(self, place: int) -> int:
        return rest(self.trial["seed"], self.trial["load"], place)

    def wait_until(self, due_ns: int) -> None:
        while (left_ns := due_ns - time.monotonic_ns()) > 0:
            time.sleep(left_ns / NS)

    def reuses(self) -> bool:
        return self.trial["connection"] == "reuse"

    def open(self, lane: Lane, phase: Phase) -> None:
        lane.connection = self.dial()
        with self.storing:
            lane.number = next(self.connections)
            self.opened[phase.number] += 1

    def drop(self, lane: Lane) -> None:
        if lane.connection is not None:
            lane.connection.close()
        lane.connection, lane.number = None, -1

    def one(self, phase: Phase, lane: Lane, sequence: int, intended_ns: int) -> Row:
        lane = self.connections_of(lane)[max(0, self.place(sequence) - 1)]
        asked = [self.asks(number) for number in self.numbers(sequence)]
        sent = received = -1
        parts: list[Row] = []
        replies: list[dict[str, Any]] = []
        sent_ns = time.monotonic_ns()
        try:
            if lane.connection is None:
                self.open(lane, phase)
            sent_ns = sent_ns if not self.reuses() else time.monotonic_ns()
            self.calls(phase, lane, sequence, asked, replies, parts)
            received_ns = time.monotonic_ns()
            status, number = "ok", lane.number
            sent, received = sum(part.bytes_sent for part in parts), sum(part.bytes_received for part in parts)
            if self.is_over(lane):
                self.drop(lane)
        except FAILURES as error:
            received_ns = time.monotonic_ns()
            status, number = self.status_of(error), lane.number
            self.errors.setdefault(status, (str(error) or status)[:300])
            if status not in ("undecodable", "protocol"):
                self.drop(lane)
        for place, ((name, fields), reply) in enumerate(zip(asked, replies, strict=False)):
            if not self.is_right(name, fields, reply):
                parts[place] = parts[place]._replace(status=STATUS["wrong-reply"])
                status = "wrong-reply" if status == "ok" else status
                self.errors.setdefault("wrong-reply", "not the right value")
        if not self.reuses():
            self.drop(lane)
        row = Row(sequence, phase.number, number, intended_ns or sent_ns, sent_ns, received_ns, -1, sent, received, 0)
        if self.trial["calls"] > 1:
            self.parts[sequence] = parts
        return row._replace(status=STATUS[status], kind=self.kind(), parent=self.place(sequence))

    def is_over(self, lane: Lane) -> bool:
        return lane.connection is not None and lane.connection.is_over

    def kind(self) -> int:
        return MIXED if self.trial["mix"] else REQUEST if self.trial["calls"] == 1 else TASK

    def numbers(self, sequence: int) -> range:
        """Of the requests that a sample makes: one, or those of a task."""
        calls = self.trial["calls"]
        return range((sequence - 1) * calls + 1, sequence * calls + 1)

    def calls(
        self,
        phase: Phase,
        lane: Lane,
        sequence: int,
        asked: list[tuple[str, dict[str, Any]]],
        replies: list[dict[str, Any]],
        parts: list[Row],
    ) -> None:
        """One call after the other; `replies` gets what comes, `parts` a row for each, that of one that fails too."""
        for place, (name, fields) in enumerate(asked, start=1):
            begun_ns, status, sizes = time.monotonic_ns(), "ok", (-1, -1)
            try:
                reply, *sizes = self.call(lane, name, fields)
                replies.append(reply)
            except FAILURES as error:
                status = self.status_of(error)
                raise
            finally:
                stamps = (begun_ns, begun_ns, time.monotonic_ns())
                row = Row(place, phase.number, lane.number, *stamps, -1, *sizes, STATUS[status], PART, sequence)
                parts.append(row)

    def call(self, lane: Lane, name: str, fields: dict[str, Any]) -> tuple[dict[str, Any], int, int]:
        return lane.connection.ask_and_count(name, fields)

    def enter(self, phase: Phase, row: Row) -> None:
        with self.storing:
            self.store(row)
            self.in_a_row = self.in_a_row + 1 if row.status else 0
            if self.in_a_row >= MOST_IN_A_ROW and self.gave_up is None:
                phase.over = True
                self.gave_up = Failed(STATUSES[row.status], f"{MOST_IN_A_ROW} requests in a row failed")
            if row.received_ns >= self.next_progress_ns:
                self.next_progress_ns = row.received_ns + NS
                self.progress(phase, row.received_ns)

    def progress(self, phase: Phase, now_ns: int) -> None:
        print_line(
            {
                "type": "progress",
                "phase": "measured" if phase.number else "warm-up",
                "requests": sum(row.phase == phase.number for row in self.rows),
                "elapsed_s": (now_ns - phase.begin_ns) / NS,
            }
        )

    def store(self, row: Row) -> None:
        self.rows.append(row)
        for one in self.in_order(row, self.parts.get(row.sequence, [])):
            self.stored += 1
            self.record.write(packed(one))

    def in_order(self, row: Row, parts: list[Row]) -> list[Row]:
        """How a sample and its parts stand in the record."""
        return [row, *parts]

    def enter_not_sent(self, phase: Phase) -> None:
        now_ns = time.monotonic_ns()
        for at in (phase.due or [])[phase.taken :]:
            intended_ns = phase.begin_ns + at
            stamps = (intended_ns, now_ns, now_ns)
            row = Row(next(self.sequences), MEASURED, -1, *stamps, -1, -1, -1, STATUS["not-sent"])
            self.store(row._replace(kind=self.kind(), parent=self.place(row.sequence)))

    def done_line(self, more: dict[str, Any] | None = None) -> dict[str, Any]:
        return {
            "type": "done",
            "contract": VERSION,
            "identity": self.met,
            "client": self.trial["client"],
            **(more or {}),
        }

    def spans_ns(self, rows: list[Row]) -> list[int]:
        """From the first request to the last reply: of the measured phase, or of each turn."""
        windows = [(turn["begin_ns"], turn["end_ns"]) for turn in getattr(self, "turns", [])] or [
            (0, time.monotonic_ns())
        ]
        parts = [[row for row in rows if begin <= row.sent_ns <= end] for begin, end in windows]
        return [max(row.received_ns for row in part) - min(row.sent_ns for row in part) for part in parts if part]

    def summary(self) -> dict[str, Any]:
        measured = [row for row in self.rows if row.phase == MEASURED and row.status != STATUS["not-sent"]]
        not_sent = sum(row.status == STATUS["not-sent"] for row in self.rows)
        kinds = [STATUSES[row.status] for row in measured if row.status]
        ends_ns = sum(self.spans_ns(measured))
        answered = [row for row in measured if row.bytes_received >= 0]
        return {
            "rows": self.stored,
            "warmup_requests": sum(row.phase == WARM_UP for row in self.rows),
            "requests": len(measured),
            "not_sent": not_sent,
            "not_sent_reason": "connections-busy" if not_sent else None,
            "verified": sum(row.status == 0 for row in measured),
            "verified_in_flight": 0 if len(self.lanes) == 1 else len(answered),
            "begin_ns": self.begin_ns,
            "measured_s": ends_ns / NS,
            "paused_s": 0.0,
            "entering_s": 0.0,
            "errors": {kind: kinds.count(kind) for kind in kinds},
            "error_examples": {kind: self.errors[kind] for kind in kinds},
            "body_bytes_sent": sum(row.bytes_sent for row in answered),
            "body_bytes_received": sum(row.bytes_received for row in answered),
            "connections_opened": self.opened[MEASURED],
            "anchor": self.anchor,
            "anchor_end": anchor(),
        }


def anchor() -> dict[str, int]:
    return {"wall_ns": time.time_ns(), "monotonic_ns": time.monotonic_ns()}


if __name__ == "__main__":
    Requester().run()
