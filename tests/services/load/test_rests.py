"""Think time: nobody rests beyond the end of a phase, and each wakes at its time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from services.python.contract.lines import Load
from services.python.load.pacer import Pacer
from services.python.load.phases import MEASURED, NS, Phase, measured, rests
from services.python.probes.clock import Clock
from tests.support.bench import Bench

pytestmark = pytest.mark.busy

MS = 1_000_000
HOUR_S = 3600.0


@pytest.mark.parametrize("style", ["blocking", "awaiting"])
def test_a_worker_whose_rest_ends_beyond_the_window_ends_it_for_nobody_else(tmp_path: Path, style: str):
    """Rests are drawn: one may last longer than what is left of the window, while others have time for more."""
    load = Load(concurrency=4, duration_s=0.5, think_s=0.05, thinking="exponential")
    bench = Bench(style, tmp_path / "record", lambda request, reply: None, in_flight=4)
    bench.clock = Clock()
    loops = bench.loops()
    loops.open()
    begin_ns = bench.clock.monotonic_ns()
    phase = Phase(number=MEASURED, begin_ns=begin_ns, first_sequence=4, extent=measured(load), most=load.requests)
    bench.recorder.begin(phase)
    loops.closed_loop(phase, rests(load, seed=7))
    loops.close()
    rows = bench.rows()
    bench.close()
    drawn = rests(load, 7)
    last = {
        worker: [row for row in rows if row.connection == worker][-1] for worker in {row.connection for row in rows}
    }
    end_ns = phase.begin_ns + 500 * MS
    assert all(row.received_ns + drawn.after_ns(row.sequence - 4) + 100 * MS > end_ns for row in last.values())
    assert all(row.sent_ns < end_ns + 100 * MS for row in rows)


def test_a_pacer_wakes_each_task_at_its_time_and_all_when_it_is_over():
    woken: list[str] = []

    async def waits(pacer: Pacer, name: str, after_s: float) -> None:
        clock = Clock().monotonic_ns
        due_ns = clock() + int(after_s * NS)
        await pacer.until(due_ns)
        woken.append(name if clock() >= due_ns else f"{name} was let go")

    async def all_wait() -> None:
        with Pacer(asyncio.get_running_loop(), Clock().monotonic_ns) as pacer:
            tasks = [
                asyncio.create_task(waits(pacer, name, after_s))
                for name, after_s in (("last", 0.06), ("never", HOUR_S), ("first", 0.02), ("at once", 0.0))
            ]
            await tasks[0]
            pacer.release()
            await asyncio.gather(*tasks)

    asyncio.run(all_wait())
    assert woken == ["at once", "first", "last", "never was let go"]
