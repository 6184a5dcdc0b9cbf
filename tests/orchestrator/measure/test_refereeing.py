"""Turns of load generators beside trials, on fake hosts: their order, what is kept of them, and programs that lie."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator import errors
from orchestrator.experiment.plan.plan import Plan
from orchestrator.hosts.base import ContractBroken
from orchestrator.measure.refereeing import Refereeing, require_same
from orchestrator.measure.run import Run
from orchestrator.referee.exchange import Exchange
from orchestrator.referee.generators import GHZ, WRK, Found
from orchestrator.results.folder import RunFolder, verify
from orchestrator.results.manifest import RefereeRecord, RefereeTool
from tests.orchestrator.measure.test_run import Lab
from tests.support.hosts import (
    FakeDeployment,
    FakeFleet,
    FakeHost,
    FakeProcess,
    Line,
    interrupted,
    ready_line,
    stats_line,
    words,
)
from tests.support.plans import plan

PROGRAM = "/tools/wrk"
WINDOW_S = 3


def report(requests: int = 1_000, median_us: int = 2_000, window_s: float = WINDOW_S, **failed: int) -> list[str]:
    """What wrk prints, with its script."""
    errors_of = {"connect": 0, "read": 0, "write": 0, "status": 0, "timeout": 0, **failed}
    summary = {"duration_us": int(window_s * 1e6), "requests": requests, "errors": errors_of}
    return ["Running 3s test", "", f"orch {json.dumps(summary)}", f"{median_us} {requests}"]


@dataclass
class Machine(FakeHost):
    """A host on which wrk can be started; `says` gives what it prints, and the responder counts what it really asked."""

    says: Callable[[], Sequence[Line]] = report
    asks: int = 1_000
    ends_with: int = 0
    answered: int = 0
    pinned: list[str | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.responder = lambda argv: self._responder

    def start(self, argv: Sequence[str], *, cpus: str | None = None) -> FakeProcess:
        if argv[0] != PROGRAM:
            return super().start(argv, cpus=cpus)
        is_measuring = f"-d{WINDOW_S}s" in argv
        process = _Program(self, "wrk" if is_measuring else "wrk warming", argv, self._program(is_measuring), "no luck")
        process.status = self.ends_with if is_measuring else 0
        self.processes.append(process)
        self.diary.append(f"start {process.role}")
        self.pinned.append(cpus)
        return process

    def _program(self, is_measuring: bool) -> Callable[[FakeProcess], Iterator[Line]]:
        def talk(_process: FakeProcess) -> Iterator[Line]:
            self.time.passes(WINDOW_S + 0.1)
            self.answered += self.asks if is_measuring else 77
            yield from self.says() if is_measuring else ["warm"]

        return talk

    def _responder(self, process: FakeProcess) -> Iterator[Line]:
        yield ready_line(process)
        while True:
            yield stats_line(answered=10 + self.answered)


class _Program(FakeProcess):
    status = 0

    def end(self, grace_s: float = 5.0) -> int:
        super().end(grace_s)
        return self.status


class Bench(Lab):
    """A run with a referee on that machine."""

    def __init__(self, folder: Path, **how: Any) -> None:
        super().__init__(folder)
        self.host = Machine(folder=folder / "host", time=self.time, diary=self.diary, **how)
        self.deployment = FakeDeployment(fleet=FakeFleet((self.host,), self.host), diary=self.diary)

    def run(self, planned: Plan, settings: RefereeRecord | None = None) -> RunFolder:
        root = self.folder / "results"
        self.runs = RunFolder.create(planned, command=["orch"], root=root, now=self.time.clock())
        self.runs.append({"event": "referee", "referee": vars_of(settings or a_referee(planned))})
        super().run(planned)
        return self.runs


def a_referee(planned: Plan) -> RefereeRecord:
    tools = {"wrk": RefereeTool(version="4.1.0", sha256="f" * 64, within=0.25)}
    return RefereeRecord(tools=tools, cells={cell.id: "wrk" for cell in planned.cells})


def vars_of(settings: RefereeRecord) -> dict[str, Any]:
    return {**vars(settings), "tools": {name: dict(vars(tool)) for name, tool in settings.tools.items()}}


@pytest.fixture(autouse=True)
def beside_no_analysis(no_analysis: None, monkeypatch: pytest.MonkeyPatch) -> None:
    generators = {"wrk": Found(tool=WRK, path=PROGRAM, version="4.1.0", sha256="f" * 64)}
    monkeypatch.setattr(Run, "_load_generators", lambda self: generators)
    monkeypatch.setattr(Refereeing, "_recorded", lambda self, cell, trial: Exchange(path="/add", bodies=(b"{}",)))


def test_each_trial_has_a_turn_beside_it_that_changes_sides_from_block_to_block(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    folder = bench.run(plan("tcp", repeats=4))
    manifest = folder.manifest()
    assert [(turn.block, turn.came_first) for turn in manifest.turns] == [(0, False), (1, True), (2, False), (3, True)]
    assert {(t.requests, t.window_s, t.median_ns, t.answered) for t in manifest.turns} == {(1_000, 3.0, 2e6, 1_000)}
    assert all(turn.failure == "" for turn in manifest.turns)
    assert bench.host.left_behind == []


def test_in_one_block_every_other_cell_is_asked_by_it_first(tmp_path: Path) -> None:
    folder = Bench(tmp_path).run(plan("tcp", "rest", repeats=2))
    first = {(turn.block, turn.cell): turn.came_first for turn in folder.manifest().turns}
    assert sum(first.values()) == 2
    assert all(first[0, cell] != first[1, cell] for _, cell in first)


def test_a_turn_has_a_responder_of_its_own_and_a_warm_up(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.run(plan("tcp", repeats=1))
    happened = words(bench.diary, "start wrk", "end wrk")
    assert happened == ["start wrk warming", "end wrk warming", "start wrk", "end wrk"]
    begun = bench.diary.index("start wrk warming")
    assert bench.diary[begun - 1].startswith("start responder")
    assert "end responder" in "".join(bench.diary[begun:])


LIES: dict[str, tuple[dict[str, Any], str]] = {
    "counts more than were asked": ({"says": lambda: report(2_000)}, "the responder answered 1000"),
    "counts fewer": ({"says": lambda: report(800)}, "the responder answered 1000"),
    "a median that cannot be": ({"says": lambda: report(median_us=2_900_000)}, "do not fit"),
    "a negative latency": ({"says": lambda: [*report()[:3], "-5 1000"]}, "a latency is not above zero"),
    "a window it did not have": ({"says": lambda: report(window_s=60)}, "3 s were wanted"),
    "failed requests": ({"says": lambda: report(status=3)}, "requests failed"),
    "nothing": ({"says": list}, "printed no report that can be read"),
    "rubbish": ({"says": lambda: ["\x00" * 100, "{" * 1000]}, "printed no report that can be read"),
    "crashes": ({"says": list, "ends_with": -11}, "wrk ended with -11: no luck"),
    "hangs": ({"says": lambda: [TimeoutError()]}, "it was ended"),
    "a line without end": ({"says": lambda: [ContractBroken("it printed a line longer than 1 MiB")]}, "1 MiB"),
}


@pytest.mark.parametrize(("how", "said"), LIES.values(), ids=LIES)
def test_a_program_that_lies_hangs_or_crashes_gives_no_figures(how: dict[str, Any], said: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, **how)
    folder = bench.run(plan("tcp", repeats=1))
    (turn,) = folder.journal_state().turns
    assert said in turn.failure
    assert (turn.requests, turn.window_s, turn.median_ns) == (None, None, None)
    (warning,) = folder.manifest().warnings
    assert said not in warning
    assert [trial.outcome for trial in folder.manifest().trials] == ["ok"]
    assert bench.host.left_behind == []
    verify(folder)


def test_its_processes_end_with_an_interrupt(tmp_path: Path) -> None:
    bench = Bench(tmp_path, says=lambda: [interrupted()])
    with pytest.raises(errors.Interrupted):
        bench.run(plan("tcp", repeats=1))
    assert bench.host.left_behind == []


def test_what_it_printed_is_kept_and_covered_by_the_runs_checksums(tmp_path: Path) -> None:
    folder = Bench(tmp_path).run(plan("tcp", repeats=2))
    kept = [turn.raw for turn in folder.manifest().turns]
    assert set(kept) <= set(verify(folder))
    assert (folder.path / kept[0]).read_text() == "\n".join(report()) + "\n"
    (folder.path / kept[0]).write_text("\n".join(report(900)) + "\n")
    with pytest.raises(errors.InvalidMeasurement, match=kept[0]):
        verify(RunFolder.open(folder.path))


def test_a_cell_without_a_load_generator_has_no_turn(tmp_path: Path) -> None:
    planned = plan("tcp", "rest", repeats=1)
    first, other = (cell.id for cell in planned.cells)
    settings = replace(a_referee(planned), cells={first: "wrk"}, refused={other: "a reason"})
    assert [turn.cell for turn in Bench(tmp_path).run(planned, settings).manifest().turns] == [first]


def test_a_run_is_resumed_beside_the_same_program_or_not_at_all() -> None:
    settings = a_referee(plan("tcp", repeats=1))
    same = Found(tool=WRK, path=PROGRAM, version="4.1.0", sha256="f" * 64)
    require_same(settings, {"wrk": same})
    for others in ({}, {"ghz": Found(tool=GHZ, path="/ghz")}, {"wrk": replace(same, sha256="0" * 64)}):
        with pytest.raises(errors.UsageError, match="cannot be resumed"):
            require_same(settings, others)
