"""1,000 requests at once while this machine measures: each gets an answer, the run ends as if nobody had asked."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from orchestrator.results.folder import RunFolder, runs
from orchestrator.web.live import MOST_VIEWERS
from tests.support.growing import until
from tests.support.web import RUNS, WITH_SAMPLES, made_up

ROOT = Path(__file__).parents[3]
ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
TRIALS, AT_ONCE, WATCHING = 12, 1_000, 4
MOST_MB = 800
PATIENCE_S = 240
EXPERIMENT = f"""\
name: tiny
question: Does it matter who looks?
provider: local
stacks: [tcp]
operations: [{{echo: {{bytes: 64 B}}}}]
load: {{concurrency: 1, duration: 1s}}
warmup: {{requests: 5, at_least: 0s}}
repeats: {TRIALS}
seed: 1
"""
REFUSED = (429, 503)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came before the connection was closed."""

    path: str
    status: int  # 0: no answer
    head: str
    body: str

    @property
    def is_stream(self) -> bool:
        return self.status == 200 and self.path.endswith("/events")


def paths(run: str) -> tuple[str, ...]:
    """What is asked for: lists, the run in progress and finished ones, its live pages, its events, exports, reports."""
    pages = ("/", "/?text=tiny", "/api/runs?per_page=20", f"/runs/{run}", f"/api/runs/{run}/cells", f"/runs/{RUNS[0]}")
    live = ("/live", f"/live/{run}", "/api/live", f"/api/live/{run}", f"/live/{run}/events")
    exports = (
        f"/runs/{WITH_SAMPLES}/export?format=csv&raw=true",
        f"/runs/{run}/export?format=json",
        f"/runs/{RUNS[1]}/export?format=markdown",
    )
    rest = (f"/runs/{WITH_SAMPLES}/report", f"/runs/{run}/report", f"/compare?run={RUNS[0]}&run={RUNS[1]}", "/trends")
    return (*pages, *live, *exports, *rest)


@dataclass(frozen=True)
class Server:
    """`orch serve` as a person starts it."""

    process: subprocess.Popen[str]
    host: str
    port: int

    async def ask(self, path: str) -> Answer:
        """All that it says; of events, until the run has ended."""
        content = b""
        try:
            reader, writer = await asyncio.open_connection(self.host, self.port)
            asked = f"GET {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nConnection: close\r\n\r\n"
            writer.write(asked.encode())
            content = await reader.read(-1)
            writer.close()
        except OSError:
            pass
        head, _, body = content.decode(errors="replace").partition("\r\n\r\n")
        status = int(head.split(" ", 2)[1]) if head.startswith("HTTP/1.1 ") else 0
        return Answer(path=path, status=status, head=head.lower(), body=body)

    def peak_mb(self) -> float:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        assert found
        return int(found[1]) / 1e3


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Over a workspace of finished runs; what it makes for a moment lies in `passing`."""
    made_up(tmp_path, runs=2)
    (tmp_path / "passing").mkdir()
    process = subprocess.Popen(
        [*ORCH, "serve", "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "passing")},
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "said").open("w"),
        text=True,
    )
    try:
        assert process.stdout is not None
        found = urlsplit(process.stdout.readline().strip())
        assert found.hostname
        assert found.port
        yield Server(process, found.hostname, found.port)
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run of trials of a second each, of which one has ended."""
    (tmp_path / "tiny.yaml").write_text(EXPERIMENT)
    process = subprocess.Popen(
        [*ORCH, "run", "tiny.yaml", "--share-machine"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: process.poll() is not None or ended(tmp_path), "a trial ends")
        assert process.poll() is None
        yield process
    finally:
        process.kill()
        process.wait()


def the_run(workspace: Path) -> RunFolder | None:
    return next((found for found in runs(workspace / "results") if found.id not in (*RUNS, WITH_SAMPLES)), None)


def ended(workspace: Path) -> int:
    """How many of its trials have ended."""
    found = the_run(workspace)
    return len(found.journal_state().trials) if found is not None else 0


async def asked_at_once(server: Server, run: str) -> tuple[list[Answer], list[Answer]]:
    """What those who watched before got, and what all others did."""
    asked = paths(run)
    watching = [asyncio.create_task(server.ask(f"/live/{run}/events")) for _ in range(WATCHING)]
    await asyncio.sleep(0.5)
    asking = [server.ask(asked[number % len(asked)]) for number in range(AT_ONCE)]
    async with asyncio.timeout(PATIENCE_S):
        answers = await asyncio.gather(*asking)
        return list(await asyncio.gather(*watching)), list(answers)


def trials_in(stream: Answer) -> list[int]:
    """The trials whose latencies a stream told, as numbers from 1."""
    news = (json.loads(line) for line in re.findall(r'^data: (\{.*"points".*\})\r?$', stream.body, re.MULTILINE))
    return [point[0] for said in news for point in said["points"]]


@pytest.mark.alone
@pytest.mark.busy
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_thousand_requests_at_once_are_answered_and_the_run_beside_them_is_whole(tmp_path, server, run):
    measured = the_run(tmp_path)
    assert os.getpriority(os.PRIO_PROCESS, server.process.pid) > os.getpriority(os.PRIO_PROCESS, run.pid)

    watching, answers = asyncio.run(asked_at_once(server, measured.id))

    told = Counter((answer.path.replace(measured.id, "RUN"), answer.status) for answer in answers)
    assert {answer.status for answer in answers} <= {200, 400, *REFUSED}, told
    assert all("is still in progress in another process" in answer.body for answer in answers if answer.status == 400)
    assert len(answers) == AT_ONCE
    assert {answer.path for answer in answers if answer.status == 200} >= {"/", "/live", f"/runs/{RUNS[0]}"}, told
    live = [json.loads(answer.body) for answer in answers if answer.path == f"/api/live/{measured.id}"]
    assert "running" in {shown["state"] for shown in live}  # they were asked while it was measured
    for answer in (answer for answer in answers if answer.status in REFUSED):
        assert re.search(r"^retry-after: \d+\r?$", answer.head, re.MULTILINE), answer
        assert re.search("which is the most at once|its report is made when it ends", answer.body), answer.body
    streams = [*watching, *(answer for answer in answers if answer.is_stream)]
    assert WATCHING < len(streams) <= MOST_VIEWERS
    for stream in streams:
        assert stream.status == 200
        assert trials_in(stream) == list(range(1, TRIALS + 1)), stream.body
        assert "event: end" in stream.body
    assert run.wait(PATIENCE_S) in (0, 5)  # 5: a check found fault, with so many who asked
    assert server.peak_mb() < MOST_MB
    assert not list((tmp_path / "passing").glob("orch-export-*"))
    assert "Traceback" not in (tmp_path / "said").read_text()
    assert_whole(measured, tmp_path)


def assert_whole(measured: RunFolder, workspace: Path) -> None:
    """All of the run is there, nothing else was made, and its report is of the whole of it."""
    manifest = measured.manifest()
    assert manifest.state == "complete"
    assert [trial.outcome for trial in manifest.trials] == ["ok"] * TRIALS
    for name in manifest.files:
        measured.verify(name)
    assert verified(measured.id, workspace).returncode == 0
    assert {folder.id for folder in runs(workspace / "results")} == {*RUNS[:2], WITH_SAMPLES, measured.id}
    report = next((workspace / "reports").glob(f"*{measured.id[-4:]}*.html"))
    assert verified(str(report), workspace).returncode == 0


def verified(what: str, workspace: Path) -> subprocess.CompletedProcess[str]:
    """`orch verify`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([*ORCH, "verify", what], cwd=workspace, env=environment, text=True, check=False)
