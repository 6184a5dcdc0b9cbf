"""Runs that the page starts, and runs that it stops: an `orch run` in a session of its own, and one Ctrl-C to it.

A run that was started goes on when the page's server ends: it belongs to itself, as one that was started in a terminal
that was left with `nohup`. What it says is kept in `.orch/jobs/`.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from orchestrator.clock import SYSTEM, Clock
from orchestrator.disk import writing
from orchestrator.errors import OrchError, UsageError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.hosts.processes import Known, known
from orchestrator.measure.interrupts import SESSION
from orchestrator.report.page import shown
from orchestrator.results.folder import RunFolder
from orchestrator.results.names import JOURNAL
from orchestrator.web import experiments
from orchestrator.web.context import context
from orchestrator.web.live import watching
from orchestrator.web.posted import changing
from orchestrator.web.progress import View
from orchestrator.web.refused import Refused
from orchestrator.web.work import MOST_HEAVY, Turns
from orchestrator.workspace import Workspace

router = APIRouter()

ORCH = (sys.executable, "-c", "from orchestrator.cli.main import main; main()")
_MOST_LOGS = 20
_AGAIN_S = 15
_LAST_WORDS_BYTES = 16 << 10
_OTHER_PLAN = (
    "The experiment changed in the moment in which it was started: the run was stopped. Look at its plan again."
)


@dataclass(kw_only=True)
class Job:
    """An `orch run` that was started here, with the plan that was shown."""

    id: str
    plan: Plan
    log: Path
    process: subprocess.Popen[bytes]
    identity: Known | None
    stamp: str  # ids of runs begin with one that is not less
    run: str = ""  # its id, as soon as it has one
    trouble: str = ""

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it goes on."""
        return self.process.returncode


class Jobs:
    """Starts one run at a time. Nothing of it ends with the server: `close` only lets go."""

    def __init__(self, workspace: Workspace, *, clock: Clock = SYSTEM) -> None:
        self._workspace = workspace
        self._clock = clock
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self.planning = Turns(
            MOST_HEAVY, _AGAIN_S
        )  # a plan takes up to a second of a CPU, which may be a measurement's
        # A thread of now, with the priority of now: the server lowers its own, and what it starts would inherit that.
        self._starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="orch-starter")
        self._starter.submit(os.getpid).result()

    def close(self) -> None:
        """Let go of what was started: it goes on by itself."""
        with self._lock:
            self._jobs.clear()

    def start(self, plan: Plan) -> Job:
        """Start a run of that plan. UsageError while another one that was started here is in progress.

        MissingError for a full disk. Whether the machine is free otherwise `orch run` finds out: what it says is kept.
        """
        with self._lock:
            going = next((job for job in self._jobs.values() if job.exit_code is None), None)
            if going is not None:
                which = f"run {going.run}, which was started here," if going.run else "a run that was started here"
                raise UsageError(
                    f"{which} is still in progress; one at a time",
                    hint=f"watch it at /jobs/{going.id}, or stop it",
                )
            job = self._started(plan)
            self._jobs[job.id] = job
            return job

    def _started(self, plan: Plan) -> Job:
        folder = self._workspace.jobs
        stamp = self._clock.stamp()
        identity = f"{stamp}-{secrets.token_hex(4)}"
        log = folder / f"{identity}.log"
        with writing(log, "start it again"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _forget_old(folder)
            descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            process = self._starter.submit(
                subprocess.Popen,
                [*ORCH, *experiments.arguments(plan), "--plan", plan.digest()],
                cwd=self._workspace.root.resolve(),
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                start_new_session=True,
                env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
            ).result()
        finally:
            os.close(descriptor)
        threading.Thread(
            target=process.wait, daemon=True, name=f"orch-job-{identity}"
        ).start()  # so that no zombie stays
        return Job(id=identity, plan=plan, log=log, process=process, identity=known(process.pid), stamp=stamp)

    def job(self, identity: str) -> Job | None:
        """One that was started here since the server began, with its run's id if it has one by now."""
        with self._lock:
            job = self._jobs.get(identity)
        if job is not None and not job.run:
            self._find_run(job)
        return job

    def every(self) -> list[Job]:
        """All of them, oldest first."""
        with self._lock:
            identities = list(self._jobs)
        return [job for identity in identities if (job := self.job(identity)) is not None]

    def _find_run(self, job: Job) -> None:
        """The folder whose journal names the process that was started; one of another plan is stopped."""
        results = self._workspace.results
        if not results.is_dir() or job.identity is None:
            return
        for path in sorted(path for path in results.iterdir() if path.name >= job.stamp and (path / JOURNAL).is_file()):
            plan_id, process = _beginning(RunFolder(path))
            if process == job.identity:
                job.run = path.name
                if plan_id != job.plan.id:
                    job.trouble = _OTHER_PLAN
                    job.identity.signal(signal.SIGINT, group=False)
                return

    def stop(self, run: str, view: View, process: Known | None) -> str:
        """What came of it, in a sentence. The run's process gets one Ctrl-C, and no second one whoever asks how often.

        UsageError for a run that nobody works on, that was not made here, or whose process is not surely its orch.
        """
        if not view.is_going:
            raise UsageError(
                f"run {run} is not in progress: there is nothing to stop", hint="its page says how it ended"
            )
        if view.is_stopping:
            return "The run ends by itself: all that is left is to keep, check and take down what it made."
        if process is None:
            raise UsageError(
                f"which process works on run {run} is not known: it is just beginning, or another container's",
                hint="try again in a moment, or press Ctrl-C where it was started",
            )
        RunFolder(self._workspace.results / run).require_ours("stop")
        if (other := _other_user(process)) is not None:
            raise UsageError(f"run {run} is another user's ({other})", hint="ask them to stop it")
        if not self._is_first(run, process):
            return "The run was told to stop already; it ends what it has started."
        process.signal(signal.SIGINT, group=False)
        return "The run was told to stop; it ends what it has started."

    def _is_first(self, run: str, process: Known) -> bool:
        """Whether nobody stopped this process from a page yet, by a note that outlives the server.

        A second Ctrl-C would end it at once, without taking down what it made.
        """
        folder = self._workspace.jobs
        told = hashlib.sha256(f"{run}\0{process.pid}\0{process.started}".encode()).hexdigest()[:16]
        place = folder / f"{told}.stopped"
        with writing(place, "stop it again"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
            except FileExistsError:
                return False
        return True


def last_words(job: Job) -> str:
    """The end of what it said, at most 16 KiB, with nothing in it that does not show."""
    with suppress(OSError), job.log.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - _LAST_WORDS_BYTES))
        text = file.read(_LAST_WORDS_BYTES).decode(errors="replace")
        lines = [shown(line) for line in text.split("\n")]
        return "\n".join(lines[1:] if size > _LAST_WORDS_BYTES else lines)
    return ""


def _beginning(folder: RunFolder) -> tuple[str, Known | None]:
    """The plan that a run began with, and the process that said first that it works on it."""
    plan_id = ""
    with suppress(OSError, OrchError, ValueError):
        for event in folder.tail().look():
            if event["event"] == "begin":
                plan_id = str(event.get("plan_id", ""))
            elif event["event"] == SESSION and isinstance(event.get("pid"), int):
                return plan_id, Known(pid=event["pid"], started=str(event.get("started", "")))
    return plan_id, None


def _other_user(process: Known) -> int | None:
    """Whose it is, where it is not ours and this can be seen."""
    try:
        owner = Path(f"/proc/{process.pid}").stat().st_uid
    except OSError:
        return None
    return None if owner == os.geteuid() else owner


def _forget_old(folder: Path) -> None:
    """Keep the newest logs, and as many notes of stops."""
    for pattern in ("*.log", "*.stopped"):
        for path in sorted(folder.glob(pattern), key=lambda path: path.lstat().st_mtime_ns)[:-_MOST_LOGS]:
            path.unlink(missing_ok=True)


def jobs(request: Request) -> Jobs:
    """Those of the application which answers."""
    state = request.app.state
    if not hasattr(state, "jobs"):
        state.jobs = Jobs(context(request).workspace)
    found: Jobs = state.jobs
    return found


@router.get("/start", response_class=HTMLResponse, include_in_schema=False)
async def start_page(request: Request, experiment: str = "", plan: str = "") -> Response:
    """The experiments and plans there are, and of one that is chosen what it would do."""
    found = context(request)
    values: dict[str, Any] = {"chosen": experiment or plan, "offer": None, "trouble": None}
    values["experiment"], values["plan"] = ("", plan) if plan else (experiment, "")
    async with jobs(request).planning.turn():
        if experiment or plan:
            try:
                made = await run_in_threadpool(experiments.plan_of, found.workspace, experiment=experiment, plan=plan)
                values["offer"] = await run_in_threadpool(experiments.offer, made)
            except OrchError as error:
                values["trouble"] = error
        values["experiments"] = await run_in_threadpool(experiments.experiments, found.workspace)
        values["plans"] = await run_in_threadpool(experiments.saved_plans, found.workspace)
    values["jobs"] = await run_in_threadpool(jobs(request).every)
    status = 400 if values["trouble"] is not None else 200
    return found.templates.TemplateResponse(request, "start.html", values, status_code=status)


@router.get("/jobs/{job}", response_class=HTMLResponse, include_in_schema=False)
async def job_page(request: Request, job: str) -> Response:
    """A run that was started here: leads to its live page as soon as it has one, and says why it never got one."""
    found = await run_in_threadpool(_job, request, job)
    if found.run and not found.trouble:
        return RedirectResponse(f"/live/{quote(found.run, safe='')}", status_code=303)
    values = {"job": found, "words": await run_in_threadpool(last_words, found)}
    return context(request).templates.TemplateResponse(request, "job.html", values)


@router.post("/start", include_in_schema=False)
async def start_by_form(request: Request) -> Response:
    """Start what the page showed."""
    job = await _start(request)
    return RedirectResponse(f"/jobs/{job.id}", status_code=303)


@router.post("/live/{run}/stop", include_in_schema=False)
async def stop_by_form(request: Request, run: str) -> Response:
    """Stop a run, and go back to its page, which follows it to its end."""
    await _stop(request, run)
    return RedirectResponse(f"/live/{quote(run, safe='')}", status_code=303)


@router.post("/api/jobs", status_code=202)
async def api_start(request: Request) -> JSONResponse:
    """Start a run. Fields, as a form or as JSON: `experiment` (a file's name) or `plan` (an id), and `digest`.

    The digest is the SHA-256 of the plan that is to be run, as `GET /api/plan` gives it.
    """
    return JSONResponse(_document(await _start(request)), status_code=202)


@router.post("/api/jobs/{run}/stop", status_code=202)
async def api_stop(request: Request, run: str) -> JSONResponse:
    """Stop a run that is in progress here, whoever started it, as Ctrl-C does. Asked twice it is told once."""
    return JSONResponse({"run": run, "message": await _stop(request, run)}, status_code=202)


@router.get("/api/jobs")
async def api_jobs(request: Request) -> dict[str, Any]:
    """The runs that were started from the page since its server began."""
    return {"jobs": [_document(job) for job in await run_in_threadpool(jobs(request).every)]}


@router.get("/api/plan")
async def api_plan(request: Request, experiment: str = "", plan: str = "") -> dict[str, Any]:
    """What an experiment (a file's name) or a saved plan (an id) would do, and the digest that starts it."""
    async with jobs(request).planning.turn():
        made = await run_in_threadpool(_planned, context(request).workspace, experiment, plan)
        found = await run_in_threadpool(experiments.offer, made)
    return {**found.__dict__, "facts": dict(found.facts), "can_start": not found.why_not}


async def _start(request: Request) -> Job:
    given = await changing(request)
    workspace = context(request).workspace
    async with jobs(request).planning.turn():
        plan = await run_in_threadpool(_planned, workspace, given.get("experiment", ""), given.get("plan", ""))
        if plan.digest() != given.get("digest"):
            raise Refused(
                409, "this is not the plan that was shown: its files have changed since", hint="look at it again"
            )
        why_not = experiments.offer(plan, is_looked=False).why_not
        if why_not:
            raise Refused(403, f"{why_not} {experiments.command_of(plan)}")
        try:
            return await run_in_threadpool(jobs(request).start, plan)
        except UsageError as error:
            raise Refused(409, error.message, hint=error.hint or "") from error


async def _stop(request: Request, run: str) -> str:
    await changing(request)
    reader = watching(request).reader(run)
    view = await run_in_threadpool(reader.look)
    process = await run_in_threadpool(reader.process)
    try:
        return await run_in_threadpool(jobs(request).stop, run, view, process)
    except UsageError as error:
        raise Refused(409, error.message, hint=error.hint or "") from error


def _planned(workspace: Workspace, experiment: str, plan: str) -> Plan:
    if not experiment and not plan:
        raise Refused(400, "name an `experiment` or a `plan`")
    try:
        return experiments.plan_of(workspace, experiment=experiment, plan=plan)
    except OrchError as error:
        raise Refused(400, error.message, hint=error.hint or "") from error


def _job(request: Request, identity: str) -> Job:
    found = jobs(request).job(identity)
    if found is None:
        raise Refused(404, "this server started no such run", hint="`orch status` shows what is in progress")
    return found


def _document(job: Job) -> dict[str, Any]:
    state = "running" if job.run else "starting"
    return {
        "job": job.id,
        "plan": job.plan.id,
        "experiment": job.plan.name,
        "command": shlex.join(["orch", *experiments.arguments(job.plan)]),
        "state": state if job.exit_code is None else "ended",
        "exit_code": job.exit_code,
        "run": job.run or None,
        "trouble": job.trouble,
        "last_words": last_words(job) if job.exit_code else "",
        "links": {"page": f"/jobs/{job.id}", "live": f"/live/{quote(job.run, safe='')}" if job.run else None},
    }
