"""A whole run, stage by stage: what `orch run` does once there is a plan."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator import __version__, errors
from orchestrator.clock import SYSTEM, Clock
from orchestrator.experiment.plan.own.own_calls import require_secrets
from orchestrator.experiment.plan.own.running import announcements
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import require_programs
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.base import HostLost
from orchestrator.hosts.certificates import make_certificates
from orchestrator.hosts.lifecycle import Deployment, Receipt
from orchestrator.hosts.local.machine_lock import Share, machine
from orchestrator.hosts.local.postgresql import session_server
from orchestrator.hosts.processes import started_at
from orchestrator.measure import stages
from orchestrator.measure.blocks import Measuring
from orchestrator.measure.interrupts import SESSION, Interrupts, OutOfTime
from orchestrator.measure.own.call_files import put_calls, put_services
from orchestrator.measure.own.sampling import compare_replies
from orchestrator.measure.progress import duration
from orchestrator.measure.refereeing import Refereeing, require_same
from orchestrator.measure.run_context import Listener, RunContext
from orchestrator.measure.smoke import programs_record, refuse_changes, smoke
from orchestrator.measure.teardown import RECEIPT, open_deployment
from orchestrator.referee.generators import Found
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import RefereeRecord
from orchestrator.workspace import Workspace, private_beside
from services.python.contract.lines import Schema

if TYPE_CHECKING:
    from orchestrator.findings.summary import RunSummary


@dataclass(kw_only=True)
class Result:
    """How a run ended: where its results are, what failed on the way, and what is still up."""

    folder: Path
    trials: int = 0
    failed_trials: int = 0
    report: Path | None = None
    receipt: Receipt | None = None
    kept: dict[str, Any] | None = None
    failed_checks: tuple[str, ...] = ()
    invalid: str = ""  # which numbers the failed checks make invalid, in a sentence
    is_complete: bool = False
    summary: RunSummary | None = None  # None without samples

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        from orchestrator.wording.answer import answer

        return {
            "run": self.folder.name,
            "folder": str(self.folder),
            "report": None if self.report is None else str(self.report),
            "complete": self.is_complete,
            "trials": self.trials,
            "failed_trials": self.failed_trials,
            "failed_checks": list(self.failed_checks),
            "receipt": None if self.receipt is None else asdict(self.receipt),
            "kept": self.kept,
            "answer": None if self.summary is None else asdict(answer(self.summary)),
        }

    def error(self) -> errors.OrchError | None:
        """What the exit code must say although the run came to its end, the costliest first; None when all is well."""
        if self.receipt is not None and self.receipt.open:
            what = f"still up: {', '.join(self.receipt.left)}" if self.receipt.left else "not known what is still up"
            unknown = f"; not known: {', '.join(self.receipt.unknown)}" if self.receipt.unknown else ""
            return errors.TeardownIncomplete(f"{what}{unknown}", hint=f"orch teardown {self.folder.name}")
        if self.failed_checks:
            return errors.InvalidMeasurement(
                f"checks failed: {', '.join(self.failed_checks)}. {self.invalid or 'The numbers are invalid.'}",
                hint=f"orch runs check {self.folder.name}",
            )
        if self.failed_trials:
            return errors.TrialsFailed(
                f"{self.failed_trials} of {self.trials} trials failed",
                hint=f"their last words are in {self.folder / 'logs'}",
            )
        return None


def start(
    plan: Plan,
    workspace: Workspace,
    *,
    command: Sequence[str],
    listener: Listener,
    keep: bool = False,
    share: bool = False,
    referee: RefereeRecord | None = None,
    clock: Clock = SYSTEM,
) -> Result:
    """Run a plan from its beginning, with a referee's turns beside its trials where one is given.

    A stage's error is raised once samples are safe and what was made is gone.

    A run that is refused before anything was made leaves no folder: MissingError while another one measures on this
    machine (unless `share`), or for what the machine lacks; UsageError for programs that are not built as they should be.
    """
    require_programs(plan)
    require_secrets(plan)
    clock = clock.steady()
    with machine(plan.provider, share=share) as part:
        folder = RunFolder.create(plan, command=command, root=workspace.results, now=clock)
        try:
            if referee is not None:
                folder.append({"event": "referee", "referee": asdict(referee)})
            return _run(folder, plan, part, workspace, listener=listener, keep=keep, clock=clock)
        except (errors.MissingError, errors.UsageError) as error:
            if _is_untouched(folder):
                error.details = {}
                folder.discard()
            raise


def resume(
    folder: RunFolder,
    workspace: Workspace,
    *,
    command: Sequence[str],
    listener: Listener,
    keep: bool = False,
    share: bool = False,
    clock: Clock = SYSTEM,
    wall_s: float | None = None,
) -> Result:
    """Go on with a run that was cut: same schedule, the block that was cut anew. UsageError when there is nothing to do.

    `wall_s`: how long it may take, in place of the plan's.

    A run whose blocks are all finished is judged, reported and taken down. MissingError as `start`.
    """
    journal_state, plan = folder.journal_state(), folder.plan()
    if wall_s is not None:
        plan = replace(plan, limits=replace(plan.limits, wall_s=wall_s))
    if not journal_state.begin:
        raise errors.UsageError(f"run {folder.id} never began", hint="start a new one: orch run FILE")
    if journal_state.state == "complete" and (folder.path / RECEIPT).exists():
        raise errors.UsageError(
            f"run {folder.id} is complete: there is nothing to resume", hint=f"orch report {folder.id}"
        )
    if journal_state.begin["orch_version"] != __version__:
        raise errors.UsageError(
            f"run {folder.id} was begun with orch {journal_state.begin['orch_version']}; this is {__version__}",
            hint="resume it with that version, or start a new run",
        )
    if not journal_state.is_measured(plan.blocks):
        require_programs(plan)
        require_secrets(plan)
    clock = clock.steady()
    with machine(plan.provider, share=share) as part:
        folder.hold()
        folder.convert()
        folder.append({"event": "resume", "command": list(command), "at": clock.iso()})
        return _run(folder, plan, part, workspace, listener=listener, keep=keep, clock=clock)


def _run(
    folder: RunFolder, plan: Plan, part: Share, workspace: Workspace, *, listener: Listener, keep: bool, clock: Clock
) -> Result:
    part.note(folder.id)
    try:
        with Interrupts() as interrupts:
            # A command that ends this run from outside (`orch teardown RUN`) must find the process that holds it.
            folder.append({"event": SESSION, "pid": os.getpid(), "started": started_at(os.getpid())})
            context = RunContext(plan=plan, folder=folder, clock=clock, interrupts=interrupts, listener=listener)
            context.referee = folder.journal_state().referee
            deployment = open_deployment(plan, folder, workspace)
            return Run(context, deployment, workspace.reports, keep=keep, part=part).execute()
    finally:
        folder.release()


def _is_untouched(folder: RunFolder) -> bool:
    """Whether the run ended before it had made or started anything."""
    before = {"begin", "referee", SESSION, "stage", "warning", "shares-machine", "end"}
    return {event["event"] for event in folder.events()} <= before


def _conditions(hosts: Mapping[str, Any], programs: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What must be as it was for a run that is resumed, each by its name in words."""
    return {
        **{f"host {name}": asdict(host) for name, host in hosts.items()},
        **{f"programs of {record.title}": asdict(record) for record in programs.values()},
    }


class Run:
    """The steps behind the stage table."""

    def __init__(
        self,
        context: RunContext,
        deployment: Deployment,
        reports: Path,
        *,
        keep: bool = False,
        part: Share | None = None,
    ) -> None:
        self._context = context
        self._folder = context.folder
        self._deployment = deployment
        self._session = ExitStack()  # what ends with the session, whoever keeps the hosts
        self._reports = reports
        self._keep = keep
        self._part = part or Share()
        self._stage = stages.STAGES[0]
        self._deadline_s = context.clock.monotonic_s() + context.plan.limits.wall_s
        self._result = Result(folder=context.folder.path)
        self._summary: Any = None

    def execute(self) -> Result:
        """Walk the stage table. ProvisionError when a host was lost on the way; an error's details name the run."""
        self._result.is_complete = self._folder.journal_state().is_measured(self._context.plan.blocks)
        earlier = stages.MEASURING if self._result.is_complete else ()
        names = [stage.name for stage in stages.STAGES if stage.name not in earlier]
        steps = {name: getattr(self, f"_{name}") for name in names}
        self._context.listener.progress(f"run {self._folder.path}")
        self._context.interrupts.allow(self._context.plan.limits.wall_s)
        if self._part.other and not self._folder.journal_state().shares_machine:
            from orchestrator.wording.notes import SHARED

            self._folder.append({"event": "shares-machine"})
            self._context.listener.warning(f"{SHARED}: {self._part.other}")
        for notice in announcements(self._context.plan):
            self._context.listener.progress(notice)
        try:
            stages.walk(steps, self._begin, earlier)
        except HostLost as error:
            lost = errors.ProvisionError(
                f"lost: {error}; {errors.KEPT}",
                hint=f"`orch run --resume {self._folder.id}` continues, if the hosts are the same or can be made the same",
            )
            raise self._explained(lost) from error
        except OutOfTime as error:
            raise self._explained(self._out_of_time()) from error
        except errors.OrchError as error:
            for note in getattr(error, "__notes__", ()):
                self._context.listener.warning(note)
            raise self._explained(error) from error.__cause__
        return self._result

    def _explained(self, error: errors.OrchError) -> errors.OrchError:
        """The error with the run it belongs to; what is still up comes first."""
        left = self._result.error() if self._result.receipt and self._result.receipt.open else None
        if left is not None:
            self._context.listener.warning(error.message)
            error = left
        error.details = {**self._result.to_dict(), **error.details}
        return error

    def _out_of_time(self) -> errors.OrchError:
        """The stage that used up the time, and what to do."""
        doing, run = self._stage.doing, self._folder.id
        limit = duration(self._context.plan.limits.wall_s)
        kind = errors.TrialsFailed if self._stage.name == "smoke" else errors.ProvisionError
        return kind(
            f"limits.wall ({limit}) was used up while {doing}; nothing was measured",
            hint=f"`orch run --resume {run}` tries again; a larger limits.wall in the experiment gives it more time",
        )

    def _begin(self, stage: stages.Stage) -> None:
        self._stage = stage
        if stage.always:  # limits.wall has ended the measuring; what follows is not held back
            self._context.interrupts.allow(None)
        if not stage.always:  # what must be done in any case is not held up by a signal or a full disk
            self._context.interrupts.checkpoint()
            if "collect" not in stage.needs:  # which ends the journal: the manifest is bound to its last line
                self._folder.append({"event": "stage", "stage": stage.name})
        self._context.listener.live(f"{stage.doing} ...")

    def _provision(self) -> None:
        self._context.postgresql = self._session.enter_context(session_server(self._context.plan))
        with self._context.interrupts.waiting():
            self._deployment.provision()

    def _deploy(self) -> None:
        """Hand the hosts over, describe them, bring the payloads to who asks, and the schemas of documents to all."""
        from orchestrator.experiment.plan.own.json_documents import write_schemas
        from orchestrator.experiment.plan.payloads import materialise

        context, plan = self._context, self._context.plan
        built = require_programs(plan)
        with context.interrupts.waiting():
            context.fleet = self._deployment.deploy()
            facts = {host.name: host.facts() for host in context.fleet.hosts()}
            used = programs_record(plan, built, context.fleet)
        earlier = self._folder.journal_state()
        refuse_changes(self._folder.id, _conditions(earlier.hosts, earlier.programs), _conditions(facts, used))
        fleet = context.fleet.describe()
        hosts = {name: asdict(described) for name, described in facts.items()}
        event: dict[str, Any] = {"event": "fleet", "fleet": fleet, "hosts": hosts}
        if used:
            event["programs"] = {name: asdict(record) for name, record in used.items()}
        self._folder.append(event)
        for warning in fleet.get("warnings", ()):
            context.warn(warning)
        pairs = [context.fleet.pair(placement.id) for placement in plan.placements]
        requesters = {host.name: host for pair in pairs for host in pair.requesters}
        responders = {pair.responder.name: pair.responder for pair in pairs}
        files = materialise(plan, self._folder.path / "payloads")
        schemas = write_schemas(plan, files)
        with context.interrupts.waiting():
            for file, path in zip(plan.payload_files, files, strict=True):
                for host in ({**responders, **requesters} if file.reply else requesters).values():
                    context.payload_paths[file.operation] = str(host.put(path, path.name))
            copies = PROVIDERS[plan.provider].makes_hosts
            context.folders = put_services(plan, responders.values(), copies=copies)
            put_calls(context, requesters.values())
            if any(cell.is_secured for cell in plan.cells):
                context.certificates = make_certificates(self._private, responders.values(), requesters.values())
            for operation, (path, sha256) in schemas.items():
                context.schemas[operation] = {
                    host.name: Schema(path=str(host.put(path, path.name)), sha256=sha256)
                    for host in context.fleet.hosts()
                }

    @property
    def _private(self) -> Path:
        """Where this run's keys lie while it needs them."""
        return private_beside(self._folder.path.parent) / self._folder.id

    def _smoke(self) -> None:
        smoke(self._context)
        self._require_two()
        compare_replies(self._context)

    def _require_two(self) -> None:
        """TrialsFailed where one of several stacks works alone: that is no comparison."""
        plan, broken = self._context.plan, self._context.broken
        ids = {stack.id: stack.control_of or stack.id for stack in plan.stacks}
        working = {ids[cell.stack] for cell in plan.cells if cell.exchange not in broken}
        if len(working) == 1 < len(set(ids.values())):
            raise errors.TrialsFailed(
                f"one stack alone works, so there is nothing to compare: {next(iter(broken.values())).message}",
                hint=f"what the others said is in {self._folder.path / 'logs'}",
            )

    def _measure(self) -> None:
        referee = Refereeing(self._context, self._load_generators())
        self._result.is_complete = Measuring(self._context, deadline_s=self._deadline_s, referee=referee).run()

    def _load_generators(self) -> dict[str, Found]:
        """Those of this run, as they are here; UsageError where they are not those that it began with."""
        if self._context.referee is None:
            return {}
        from orchestrator.hosts.load_generators import look_for_all

        generators = {each.tool.name: each for each in look_for_all() if not each.why}
        require_same(self._context.referee, generators)
        return generators

    def _collect(self) -> None:
        """Turn what waits into Parquet files and say how the run ended."""
        manifest = self._folder.finish(
            "complete" if self._result.is_complete else "interrupted", at=self._context.clock.iso()
        )
        self._result.trials = len(manifest.trials)
        self._result.failed_trials = sum(t.outcome == "failed" for t in manifest.trials)

    def _check(self) -> None:
        if self._has_samples():
            from orchestrator.summarise import summarise
            from orchestrator.wording.checks.sentences import documents
            from orchestrator.wording.left_out import invalid_numbers

            with self._context.interrupts.waiting():
                self._summary = summarise(self._folder)
            for name, document in documents(self._summary).items():
                self._folder.write_json(name, document)
            failed = {check.name for check in self._summary.checks if check.verdict == "fail"}
            self._result.failed_checks = tuple(sorted(failed))
            self._result.invalid = invalid_numbers(self._summary)
            self._result.summary = self._summary

    def _report(self) -> None:
        if self._has_samples():
            from orchestrator.report import default_path, write_report

            with self._context.interrupts.waiting():
                path = default_path(self._summary, self._reports)
                self._result.report = write_report(self._summary, path)

    def _has_samples(self) -> bool:
        return self._result.failed_trials < self._result.trials

    def _teardown(self) -> None:
        """End everything that was made, or say until when it stays. The receipt is kept beside the samples."""
        self._session.close()
        shutil.rmtree(self._private, ignore_errors=True)
        if self._keep:
            self._result.kept = self._deployment.describe()
            return
        try:
            self._result.receipt = self._deployment.teardown()
        except errors.OrchError as error:
            raise errors.TeardownIncomplete(
                f"taking down run {self._folder.id} failed: {error.message}",
                hint=f"run `orch teardown {self._folder.id}` again",
            ) from error
        self._context.listener.progress(self._result.receipt.sentence())  # also when the run itself failed
        self._folder.write_json(RECEIPT, asdict(self._result.receipt))
