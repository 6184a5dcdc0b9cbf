"""What is up, and how it is ended: from what was written down, whether or not the run's own folder is still there."""

from __future__ import annotations

import logging
import shutil
import signal
from dataclasses import asdict, dataclass

from orchestrator.errors import OrchError, UsageError, did_you_mean
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts import processes
from orchestrator.hosts.lifecycle import Deployment, IntentLog, Receipt
from orchestrator.hosts.local.host import LocalDeployment
from orchestrator.hosts.processes import Known
from orchestrator.hosts.provision.deployments import Registry, deployment_id
from orchestrator.hosts.provision.infra import Infra
from orchestrator.hosts.provision.takedown import take_down
from orchestrator.measure.interrupts import SESSION
from orchestrator.results.folder import RunFolder, newest, runs
from orchestrator.workspace import Workspace

RECEIPT = "receipt.json"
"""The last file of a run: what teardown destroyed, and what is left."""

_LOG = logging.getLogger(__name__)
# The first ends the run in order, which takes what its teardown takes; the second at once.
_ORCH_STEPS: processes.Steps = ((signal.SIGTERM, 600.0), (signal.SIGTERM, 10.0), (signal.SIGKILL, 10.0))


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How the end of one run's hosts or processes went: its receipt, or why there is none."""

    run: str
    receipt: Receipt | None = None
    trouble: str | None = None
    is_going_on: bool = False  # an orch measures it right now, so it was left alone

    @property
    def left(self) -> list[str]:
        """What still has to be ended, in words."""
        if self.trouble is not None:
            return [f"run {self.run}: {self.trouble}"]
        return [f"{item} of run {self.run}" for item in (self.receipt.open if self.receipt else ())]


@dataclass(frozen=True, kw_only=True)
class Stray:
    """Hosts that carry our label and that nothing written down here knows: another checkout's, or a lost folder's."""

    provider: str
    id: str
    hosts: tuple[str, ...]


def end(workspace: Workspace, run: str) -> Ending:
    """End what is up of one run, named by run id, the beginning of one, `latest`, a path, or a deployment's id.

    While an orch measures it, that orch is ended, which takes down what it has made. UsageError when there is no such run.
    """
    intents = Registry(workspace.deployments).intents()
    known = {name: intent.run_id for intent in intents for name in (intent.run_id, intent.id)}
    if run in known:
        return _ended_with_its_orch(workspace, known[run], _folder(workspace, known[run]))
    try:
        folder = RunFolder.open(run, root=workspace.results)
    except UsageError as error:
        raise UsageError(error.message, hint=did_you_mean(run, known) if known else error.hint) from error
    return _ended_with_its_orch(workspace, folder.id, folder)


def end_what_is_up(workspace: Workspace) -> list[Ending]:
    """End every deployment that is up and what the latest run left on this machine; a run in progress is left alone."""
    up = [intent.run_id for intent in Registry(workspace.deployments).standing()]
    deployed = {intent.run_id for intent in Registry(workspace.deployments).intents()}
    folder = newest(workspace.results)
    latest = [folder.id] if folder is not None and folder.id not in deployed else []
    return [_ended_unless_going_on(workspace, run) for run in [*latest, *up]]


def end_all(workspace: Workspace) -> list[Ending]:
    """End what every run has left, and everything else that carries our label; a run in progress is left alone."""
    every = dict.fromkeys(
        [*(f.id for f in runs(workspace.results)), *(i.run_id for i in Registry(workspace.deployments).intents())]
    )
    ended = [_ended_unless_going_on(workspace, run) for run in every]
    others, unasked = strays(workspace)
    troubles = [Ending(run=f"(any, {provider})", trouble=why) for provider, why in unasked.items()]
    return [*ended, *map(_swept, others), *troubles]


def strays(workspace: Workspace) -> tuple[list[Stray], dict[str, str]]:
    """What carries our label and stands, but is not known here; and the providers that could not be asked, with why.

    There, more may be up.
    """
    known = {intent.id for intent in Registry(workspace.deployments).intents()}
    others: list[Stray] = []
    unasked: dict[str, str] = {}
    for provider in (p.name for p in PROVIDERS.values() if p.has_program):
        infra = Infra(provider)
        try:
            standing = infra.standing() if all(infra.target().values()) else {}  # no project is named: none to ask
        except OrchError as error:
            unasked[provider] = f"could not be asked what else is up: {error.message}"
            continue
        for identity, what in standing.items():
            if identity not in known:
                others.append(Stray(provider=provider, id=identity, hosts=tuple(what["hosts"])))
    return others, unasked


def _swept(stray: Stray) -> Ending:
    swept = Infra(stray.provider).sweep(stray.id)
    gone = () if swept.left or swept.unknown else stray.hosts
    return Ending(
        run=stray.id,
        receipt=Receipt(
            provider=stray.provider,
            created=stray.hosts,
            destroyed=gone,
            left=swept.left,
            unknown=swept.unknown,
            note="swept by label; nothing here knew it",
        ),
    )


def _ended_unless_going_on(workspace: Workspace, run: str) -> Ending:
    folder = _folder(workspace, run)
    if folder is None:
        return _ended(workspace, run)
    try:
        folder.hold()
    except UsageError:
        return Ending(run=run, is_going_on=True)
    try:
        return _ended(workspace, run, folder)
    finally:
        folder.release()


def _ended_with_its_orch(workspace: Workspace, run: str, folder: RunFolder | None) -> Ending:
    if folder is not None and (orch := _holder(folder)) is not None:
        _LOG.info("run %s is still in progress in another orch (process %d): ending that first", run, orch.pid)
        if processes.end(lambda: [orch] if orch.is_alive else [], _ORCH_STEPS, group=False):
            return Ending(run=run, trouble=f"{orch}, which measures it, cannot be ended")
    return _ended(workspace, run, folder)


def _holder(folder: RunFolder) -> Known | None:
    """The orch that measures a run right now on this machine."""
    try:
        folder.hold()
    except UsageError:
        sessions = [event for event in folder.events() if event["event"] == SESSION and event["started"]]
        orch = processes.known(sessions[-1]["pid"]) if sessions else None
        return orch if orch is not None and orch.started == sessions[-1]["started"] else None
    folder.release()
    return None


def open_deployment(plan: Plan, intent_log: IntentLog, workspace: Workspace) -> Deployment:
    """Return the deployment of a plan's provider; who measures on its `Fleet` never asks which one it is."""
    if PROVIDERS[plan.provider].makes_hosts:
        from orchestrator.hosts.provision.deployment import RemoteDeployment  # only who has hosts pays for it

        return RemoteDeployment(plan, intent_log, workspace)
    return LocalDeployment(plan, intent_log)


def _ended(workspace: Workspace, run: str, folder: RunFolder | None = None) -> Ending:
    """Take down by the written intent where there is one, else by the run's own plan; the receipt is kept with the run."""
    folder = folder or _folder(workspace, run)
    shutil.rmtree(workspace.private / run, ignore_errors=True)  # keys that a killed orch has left
    intent = Registry(workspace.deployments).read(deployment_id(run))
    try:
        if intent is not None:
            receipt = take_down(Registry(workspace.deployments), intent)
        elif folder is not None:
            receipt = open_deployment(folder.plan(), folder, workspace).teardown()
        else:
            return Ending(run=run, trouble="neither its folder nor its deployment is written down here")
    except OrchError as error:
        return Ending(run=run, trouble=error.message)
    if folder is not None:
        folder.write_json(RECEIPT, asdict(receipt))
    return Ending(run=run, receipt=receipt)


def _folder(workspace: Workspace, run: str) -> RunFolder | None:
    """The run's own folder."""
    return next((folder for folder in runs(workspace.results) if folder.id == run), None)
