"""What runs now, what is done, how long it will take: a line per finished trial, and a live one where a person watches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.clock import Clock
from orchestrator.experiment.read.units import format_duration
from orchestrator.measure.run_context import Listener
from orchestrator.results.manifest import TrialRecord
from services.python.contract.limits import Kind
from services.python.contract.requester_lines import Progress as ProgressLine


def duration(seconds: float) -> str:
    """An estimate of seconds for people: no fractions.

    >>> duration(0.4), duration(75.2), duration(4000)
    ('0 s', '1 min 15 s', '1 h 7 min')
    """
    return format_duration(round(seconds))


_SAMPLES: Mapping[Kind, str] = {"task": "tasks", "codec": "messages"}


@dataclass(kw_only=True)
class Progress:
    """Counts trials; the time left is what the trials so far took, baselines included, times those still to come."""

    listener: Listener
    clock: Clock
    total: int
    done: int = 0
    expected: int | None = None  # trials, where a run may end before all of them
    _made: int = 0
    _started_s: float | None = None
    _label: str = ""
    _samples: str = "requests"

    def skip(self, trials: int) -> None:
        """So many trials were made before this session."""
        self.done += trials

    def begin(self, label: str, kind: Kind = "call") -> None:
        """A trial of this kind of work begins."""
        if self._started_s is None:
            self._started_s = self.clock.monotonic_s()
        self._label, self._samples = label, _SAMPLES.get(kind, "requests")
        self.listener.live(f"{self._place(self.done + 1)} {label}{self._left()}")

    def heard(self, line: ProgressLine) -> None:
        """A requester's progress line: at most one a second."""
        doing = f"{line.phase} {line.requests:,} {self._samples}"
        self.listener.live(f"{self._place(self.done + 1)} {self._label}: {doing}{self._left()}")

    def end(self, record: TrialRecord) -> None:
        """A trial ended."""
        self.done += 1
        self._made += 1
        self.listener.progress(
            f"{self._place(self.done)} {self._label}: {_result(record, self._samples)}{self._left()}"
        )

    def _place(self, number: int) -> str:
        return f"[{number:{len(str(self.total))}}/{self.total}]"

    def _left(self) -> str:
        if not self._made or self._started_s is None or self.done >= self.total:
            return ""
        left = max(1, min(self.total, self.expected or self.total) - self.done)
        mean_s = (self.clock.monotonic_s() - self._started_s) / self._made
        return f"  ({duration(mean_s * left)} left)"


def _result(record: TrialRecord, samples: str) -> str:
    if record.failure is not None:
        return f"FAILED at {record.failure.stage}: {record.failure.message}"
    if all(r.done.events for r in record.requesters) and record.requesters:
        return _events(record)
    requests = sum(r.done.requests for r in record.requesters)
    errors = sum(sum(r.done.errors.values()) for r in record.requesters)
    seconds = max((r.done.measured_s or 0.0 for r in record.requesters), default=0.0)
    not_sent = sum(r.done.not_sent for r in record.requesters)
    wrong = f", {errors:,} errors" if errors else ""
    unsent = f", {not_sent:,} not sent" if not_sent else ""
    verdict = "" if record.probe is None else f": {record.probe.verdict}"
    return f"{requests:,} {samples} in {format_duration(seconds)}{wrong}{unsent}{verdict}"


def _events(record: TrialRecord) -> str:
    """What came of a stream: `5,000 events in 10 s, 3 dropped`."""
    counted = [r.done.events for r in record.requesters if r.done.events]
    seconds = max((r.done.measured_s or 0.0 for r in record.requesters), default=0.0)
    counts = {name: sum(getattr(of, name) for of in counted) for name in ("dropped", "duplicated", "reordered")}
    strange = "".join(f", {number:,} {name}" for name, number in counts.items() if number)
    return f"{sum(of.delivered for of in counted):,} events in {format_duration(seconds)}{strange}"
