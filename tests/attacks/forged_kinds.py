"""Forged values in runs of every other kind: streams, stores, searches, several hosts, built programs, a referee."""

from __future__ import annotations

import io
import json
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.analysis.across import compare_runs
from orchestrator.analysis.answer import answer
from orchestrator.analysis.summarise import summarise
from orchestrator.cli.answer import answer_lines
from orchestrator.cli.console import Console
from orchestrator.cli.scorecard import scorecard_lines
from orchestrator.errors import OrchError
from orchestrator.experiment.model.goal import Goal
from orchestrator.experiment.plan.find import Find
from orchestrator.report.render import render
from orchestrator.results.documents import sha256_of
from orchestrator.results.folder import RunFolder
from orchestrator.results.journal import Journal
from orchestrator.results.manifest import ProgramsRecord
from orchestrator.results.verification import verify
from services.python.contract.lines import Load
from services.python.contract.timing_rules import RULES
from tests.attacks.base import Attack, Tally
from tests.attacks.experiments import forget_peak, peak_bytes
from tests.attacks.run_folders import forge
from tests.support.codec_runs import a_codec_run
from tests.support.drafts import Draft
from tests.support.event_runs import a_stream_run
from tests.support.mixes import MIX
from tests.support.refereed_runs import a_refereed_run, write_refereed_run
from tests.support.runs import MemoryRun, a_plan, a_run
from tests.support.searched import a_search_run, searching

SCRIPT, ESCAPE = "<script>alert(1)", "\x1b]0;owned"

HOSTILE: tuple[Any, ...] = (
    None, [], {}, "", "x", "\x1b]0;owned\x07", "<script>alert(1)</script>", "\u202e", "é" * 5000, "'", "none",
    -1, 0, 1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63), 10**30, 10**400, 1e308, -1e308, 5e-324,
    1.5, True, False, [None], {"a": None}, {"\x1b]0;owned\x07": "<script>alert(1)</script>"},
)  # fmt: skip


def _stored() -> MemoryRun:
    def told(draft: Draft) -> None:
        none = {"handling_s": 0.0, "queue_s": 0.0, "pool_s": 0.0, "database_s": 0.0, "service_s": 0.0}
        draft.stats_warm["store"] = {"requests": 0, "queries": 0, **none}
        parts = {"queue_s": 0.1, "pool_s": 0.1, "database_s": 0.7, "service_s": 0.1}
        draft.stats["store"] = {"requests": 1000, "queries": 3000, "handling_s": 1.0, **parts}
        draft.ready["settings"] = {"store": "PostgreSQL 18.1", "driver": "psycopg 3.3.9 (binary)"}

    ways = [{"connection": "reuse", "store": store, "pool": 4} for store in ("sqlite", "postgresql")]
    return a_run(a_plan(calls=ways, blocks=3), spoil=told)


def _searched() -> MemoryRun:
    find = Find(goals=(Goal(statistic="p50", below=0.01),), lowest=100.0, highest=1600.0, steps=10)
    return a_search_run(searching(a_plan(warmup=20), find, repeats=3), lambda *_: 400.0)


def _misleading() -> MemoryRun:
    from tests.orchestrator.analysis.test_misleading import a_run_with_rules

    assert RULES
    return a_run_with_rules()


def _built() -> MemoryRun:
    run = a_run(blocks=3)
    hosts = {name: {"tinyvm": "20.1"} for name in run.stored.hosts}
    tiny = ProgramsRecord(
        title="Tiny",
        source="a" * 64,
        toolchain={"tinyc": "1.26.0"},
        platform="linux-x86_64",
        contract=2,
        artifacts={"build/respond": "c" * 64},
        runtimes=hosts,
    )
    return replace(run, stored=replace(run.stored, programs={"tiny": tiny}))


_SHARED = Load(concurrency=4, requests=4000)

KINDS: dict[str, Callable[[], MemoryRun]] = {
    "stores": _stored,
    "streams": lambda: a_stream_run(blocks=3),
    "mix": lambda: a_run(a_plan(operation=MIX, blocks=3)),
    "searches": _searched,
    "codecs": lambda: a_codec_run(blocks=3),
    "tasks": lambda: a_run(a_plan(task=3, blocks=3)),
    "rules": _misleading,
    "hosts": lambda: a_run(requesters=2, blocks=3, calls=[{"connection": "reuse", "processes": 2}], load=_SHARED),
    "programs": _built,
    "referee": a_refereed_run,
}


def _copies(count: int, folder: Path) -> Iterator[tuple[str, Path]]:
    """Copies of made-up runs, of each kind in turn, with the kind; each is removed by who has used it."""
    originals = {name: write_refereed_run(make(), folder / name) for name, make in KINDS.items()}
    for number in range(count):
        name = list(KINDS)[number % len(KINDS)]
        run = folder / f"forged-{number}"
        shutil.copytree(originals[name], run)
        yield name, run


def forged_kinds(count: int, seed: int, folder: Path) -> Tally:
    """A key of plan or journal changed, removed or added, in a run of each kind in turn; then it is summarised and shown."""
    tally = Tally()
    source = random.Random(seed)
    for name, run in _copies(count, folder):
        what = f"{name}: {forge(source, run, HOSTILE)}"
        (run / "manifest.json").unlink()
        tally.note(_outcome(run, folder), what)
        shutil.rmtree(run)
    return tally


_NUMBERS = (-1, 0, 1, 2, 7, 255, 2**31 - 1, 2**31, 2**40, 2**53, 2**62, 2**63 - 1, -(2**31), -(2**63))
_MOST_CPU_S, _MOST_BYTES = 20.0, 500 << 20


def forged_rows(count: int, seed: int, folder: Path) -> Tally:
    """Values of one column of a run's samples replaced, hashes and chain made anew; bounded in CPU time and memory, too."""
    tally = Tally()
    source = random.Random(seed)
    for name, run in _copies(count, folder):
        what = f"{name}: {_forge_rows(source, run)}"
        before, began_s = forget_peak(), time.process_time()
        outcome = _outcome(run, folder)
        cpu_s, grown = time.process_time() - began_s, peak_bytes() - before
        if cpu_s > _MOST_CPU_S or grown > _MOST_BYTES:
            outcome = f"took {cpu_s:.1f} s of CPU and {grown >> 20} MB"
        tally.note(outcome, what)
        shutil.rmtree(run)
    return tally


def _forge_rows(source: random.Random, run: Path) -> str:
    sample = source.choice(sorted(run.rglob("*.parquet")))
    table = pq.read_table(sample)
    columns = {name: table.column(name).to_numpy().copy() for name in table.column_names}
    name = source.choice(table.column_names)
    rows = columns[name].size
    value = source.choice(_NUMBERS)
    places: Any = source.choice(
        [slice(None), slice(0, 1), slice(rows - 1, None), slice(0, None, 2), [source.randrange(rows) for _ in range(3)]]
    )
    columns[name] = columns[name].astype(np.int64)
    columns[name][places] = value
    pq.write_table(pa.table(columns), sample, compression="zstd")
    relative = sample.relative_to(run).as_posix()
    events = list(Journal(run / "journal.jsonl").events())
    (run / "journal.jsonl").unlink()
    journal = Journal(run / "journal.jsonl")
    for event in events:
        if event["event"] == "file" and event["path"] == relative:
            event["sha256"] = sha256_of(sample)
        journal.append(event, sync=False)
    (run / "manifest.json").unlink()
    return f"{relative}, {name}[{places}] = {value}"


def _outcome(run: Path, folder: Path) -> str:
    try:
        RunFolder(run, root=folder / "nowhere").write_manifest()  # as the forger would, from what it says now
        summary = summarise(RunFolder.open(run))
        with suppress(OrchError):
            verify(RunFolder.open(run))
        out = io.StringIO()
        console = Console(out=out, err=out)
        with suppress(OrchError):
            for text in compare_runs(replace(summary, run_id="another"), summary, "median").differences:
                console.result(text)
        for text in (*summary.warnings, *(said for pair in summary.conditions for said in pair)):
            console.result(text)
        for check in summary.checks:
            console.result(f"{check.explanation} {check.action}")
        for line in answer_lines(answer(summary)):
            console.result(line)
        for line in scorecard_lines(summary.scorecard) if summary.scorecard else ():
            console.result(line)
        json.dumps(summary.to_dict(), allow_nan=False).encode()
        page = render(summary)
        page.encode()
    except OrchError:
        return "refused"
    except Exception as error:  # noqa: BLE001 - any other end is what the attack looks for
        return f"{type(error).__name__}: {error}"
    if SCRIPT in page:
        return "a script stands in the page"
    return "an escape was printed" if ESCAPE in out.getvalue() else "harmless"


ATTACKS = (
    Attack(name="a forged value in a run of another kind", many=600, few=20, run=forged_kinds, is_slow=True),
    Attack(name="a forged row in a run of another kind", many=600, few=20, run=forged_rows, is_slow=True),
)
