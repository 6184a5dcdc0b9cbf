"""A whole gate: build, compare replies, measure each call, and measure alarms again in runs of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

from orchestrator.clock import SYSTEM, Clock
from orchestrator.errors import MissingError, TeardownIncomplete, TrialsFailed, UsageError, on_one_line
from orchestrator.experiment.plan.own.own_calls import own_stacks
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.summary import RunSummary
from orchestrator.gate import verdict
from orchestrator.gate.arms import AGAIN, BASE, HEAD, Arms, without_builds
from orchestrator.gate.forecast import Forecast, forecast, gates
from orchestrator.gate.verdict import CallResult, GateResult
from orchestrator.hosts.local.host import LocalHost
from orchestrator.measure import run
from orchestrator.measure.own.call_files import put_services
from orchestrator.measure.own.sampling import MOST_ROWS, Sampled, differences, first_replies
from orchestrator.measure.run_context import Listener
from orchestrator.quantities import listed
from orchestrator.questions.sameness.words import sentence
from orchestrator.results.folder import RunFolder
from orchestrator.statistics import intervals
from orchestrator.workspace import Workspace

_SHOWN = 80  # characters of a reply
FIRST = 0.6  # of the time: the rest is for measuring an alarm again, or without one what is undecided
LEAST_S = 10.0  # in which a run measures something


class _Session(TypedDict):
    command: Sequence[str]
    listener: Listener
    clock: Clock
    share: bool


@dataclass(frozen=True, kw_only=True)
class Gate:
    """An experiment with its versions, the limit (0.05: slower by 5 %), and the seconds that measuring may take.

    `own_limits`: of calls that have another limit.
    """

    arms: Arms
    limit: float
    budget_s: float
    workspace: Workspace
    listener: Listener
    command: Sequence[str]
    clock: Clock = SYSTEM
    own_limits: Mapping[str, float] = field(default_factory=dict)
    share: bool = False  # the machine with another run

    def limit_of(self, number: int) -> float:
        """The limit of a call."""
        return self.own_limits.get(self.arms.calls[number], self.limit)

    def forecasts(self) -> list[Forecast]:
        """How many blocks each call is expected to take, and how many there is time for."""
        earlier = gates(self.workspace.gates, self.arms.name)
        each_s = FIRST * self.budget_s / len(self.arms.calls)
        plans = [self.arms.to_measure(number, self.limit_of(number), each_s) for number in range(len(self.arms.calls))]
        return [forecast(call, plan, each_s, earlier) for call, plan in zip(self.arms.calls, plans, strict=True)]

    def prepare(self) -> None:
        """Build all versions and compare their replies.

        MissingError for a version that does not build, start, or answer; UsageError where replies differ.
        """
        plan = self.arms.to_build()
        self._build(plan)
        replies: dict[str, tuple[Sampled, ...]] = {}
        self.listener.progress("comparing replies of base and head")
        with closing(first_replies(without_builds(plan), MOST_ROWS, together=True)) as every:
            for label, sampled in every:
                if isinstance(sampled, str):
                    raise MissingError(f"{label} does not answer: {sampled}")
                if wrong := next((reply for reply in sampled if reply.failure), None):
                    raise MissingError(f"{label} does not answer row {wrong.row} right: {wrong.failure}")
                replies[label] = sampled
        for call in self.arms.calls:
            base, again, head = (f"{call}-{arm}" for arm in (BASE, AGAIN, HEAD))
            self._warn_of_another_reply(call, replies[base], replies[again], replies[head])
            for other, hint in (
                (again, "base answers it differently each time: leave it out of `same`"),
                (head, "speed is compared of the same work: mend head, or leave the value out of `same`"),
            ):
                for difference in differences({base: replies[base], other: replies[other]}):
                    raise UsageError(f"not the same work: {sentence(difference)}", hint=hint)

    def _warn_of_another_reply(self, call: str, *replies: Sequence[Sampled]) -> None:
        """Where no value must be the same: the first row that base answers alike twice, and head otherwise."""
        for base, again, head in zip(*replies, strict=False):
            if not base.same and base.reply == again.reply != head.reply:
                texts = " against ".join(on_one_line(reply.reply, _SHOWN) for reply in (head, base))
                self.listener.warning(f"{call}: head does not answer row {base.row} as base does: {texts}")
                return

    def _build(self, plan: Plan) -> None:
        done = set()
        with TemporaryDirectory(prefix="orch-gate-") as folder:
            host = LocalHost(Path(folder), note=lambda _: None)
            for _, external in own_stacks(plan):
                start = external.start
                if start is None or not start.build or (start.folder, start.build) in done:
                    continue
                done.add((start.folder, start.build))
                self.listener.progress(f"building {external.name}: {' '.join(start.build)}")
                only = replace(plan, stacks=tuple(s for s in plan.stacks if s.external == external))
                try:
                    put_services(only, (host,), copies=False)
                except UsageError as error:
                    raise MissingError(f"{external.name} does not build: {error.message}", hint=error.hint) from error

    def measure(self) -> GateResult:
        """Measure all calls, and alarms again; errors as `orch run`."""
        began_s, names = self.clock.monotonic_s(), self.arms.calls

        def left_s() -> float:
            return self.budget_s - (self.clock.monotonic_s() - began_s)

        firsts = []
        for number in range(len(names)):
            rest_s = left_s() - (1 - FIRST) * self.budget_s
            firsts.append(self._call(number, rest_s / (len(names) - number)))
        alarmed = [number for number, first in enumerate(firsts) if any(row.is_alarm for row in first.rows)]
        runs = [*firsts]
        if not alarmed:
            runs = firsts = self._with_more_time(firsts, left_s)
        agains: dict[int, CallResult] = {}
        for place, number in enumerate(alarmed):
            alarms = [row.row.statistic for row in firsts[number].rows if row.is_alarm]
            self.listener.progress(f"{names[number]} may be slower by {listed(alarms)}: measuring it again")
            agains[number] = self._call(number, left_s() / (len(alarmed) - place), is_confirming=True)
        p_values = {number: verdict.p_values(firsts[number], again) for number, again in agains.items()}
        adjusted = iter(intervals.holm([p_value for values in p_values.values() for p_value in values]))
        calls = [
            verdict.confirmed(first, agains[number], [next(adjusted) for _ in p_values[number]])
            if number in agains
            else first
            for number, first in enumerate(firsts)
        ]
        return GateResult(
            name=self.arms.name,
            base=self.arms.sides[BASE],
            head=self.arms.sides[HEAD],
            metric=self.arms.metric,
            limit=self.limit,
            calls=tuple(calls),
            runs=(*runs, *agains.values()),
            seconds=self.clock.monotonic_s() - began_s,
        )

    def _with_more_time(self, firsts: Sequence[CallResult], left_s: Callable[[], float]) -> list[CallResult]:
        """Return the results, where one is undecided after more blocks; an alarm there is no finding by itself."""
        results = list(firsts)
        undecided = [number for number, first in enumerate(firsts) if first.is_undecided]
        for place, number in enumerate(undecided):
            seconds = left_s() / (len(undecided) - place)
            if seconds > LEAST_S:
                self.listener.progress(f"{firsts[number].call} is undecided: measuring on")
                results[number] = self._call(number, seconds, before=firsts[number]).without_alarms()
        return results

    def _call(
        self, number: int, seconds: float, *, is_confirming: bool = False, before: CallResult | None = None
    ) -> CallResult:
        """Measure a call in a run of its own, or go on with the run `before`."""
        seconds, began_s = max(LEAST_S, seconds), self.clock.monotonic_s()
        session: _Session = {
            "command": self.command,
            "listener": self.listener,
            "clock": self.clock,
            "share": self.share,
        }
        if before is None:
            plan = self.arms.to_measure(number, self.limit_of(number), seconds, is_confirming=is_confirming)
            try:
                result = run.start(plan, self.workspace, **session)
            except TrialsFailed as failed:
                raise MissingError(f"{self.arms.calls[number]}: {failed.message}", hint=failed.hint) from failed
        else:
            folder = RunFolder(self.workspace.results / before.run)
            result = run.resume(folder, self.workspace, wall_s=seconds, **session)
            began_s -= before.seconds
        error = result.error()
        if isinstance(error, TeardownIncomplete):
            raise error
        if result.failed_trials:
            raise MissingError(
                f"{result.failed_trials} of {result.trials} trials failed in {self.arms.calls[number]}",
                hint=f"their last words are in {result.folder / 'logs'}",
            )
        call, summary = self.arms.calls[number], result.summary
        measured = CallResult(call=call, seconds=self.clock.monotonic_s() - began_s, run=result.folder.name)
        if summary is None:  # there was no time for a block
            return measured
        noise, spread = verdict.noise(summary, self.arms.metric)
        return replace(
            measured,
            rows=verdict.judged(call, summary, self.limit_of(number), self.arms.metric),
            noise=noise,
            spread=spread,
            blocks=len({trial.block for cell in summary.cells for trial in cell.trials}),
            report=None if result.report is None else str(result.report),
            failed_checks=result.failed_checks,
            errors=(_failed(summary, f"{call}-{BASE}"), _failed(summary, f"{call}-{HEAD}")),
        )


def _failed(summary: RunSummary, label: str) -> float:
    """The share of requests without a right reply."""
    cells = [cell for cell in summary.cells if cell.labels.stack == label]
    return sum(cell.counts.failed for cell in cells) / max(1, sum(cell.counts.requests for cell in cells))
