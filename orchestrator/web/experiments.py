"""What can be started from the page: experiments of the workspace and plans made of them, and what each would do."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from orchestrator.analysis.words import count, size
from orchestrator.errors import OrchError, UsageError, did_you_mean
from orchestrator.experiment import make_plan
from orchestrator.experiment.plan import store
from orchestrator.experiment.plan.estimate import cost_of, estimate, hosts_needed
from orchestrator.experiment.plan.external import announcements
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.experiment.read.units import format_duration
from orchestrator.hosts.busy import look
from orchestrator.hosts.kernel import warnings as lacked
from orchestrator.hosts.plan_warnings import warnings
from orchestrator.workspace import Workspace

FOLDER = "experiments"
MOST_PLANS = 20
_MOST_EXPERIMENTS = 500
_MOST_PLAN_BYTES = 4 << 20  # of a plan that is listed; a larger one can be named
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}\.ya?ml")
_PLAN = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A plan that `orch plan` made of an experiment of the workspace."""

    id: str
    name: str
    file: str  # the experiment's, below `experiments/`
    overrides: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a plan would do, for whoever decides: `facts` are named sentences.

    `why_not` says why the page does not start it; empty where it does.
    """

    plan: str  # its id
    digest: str  # SHA-256 of all that it says: what is posted back
    name: str
    question: str
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    command: str
    why_not: str = ""


def experiments(workspace: Workspace) -> list[str]:
    """The experiment files of the workspace, by name."""
    folder = workspace.root / FOLDER
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path.name for path in found if _NAME.fullmatch(path.name) and _is_own(path))[:_MOST_EXPERIMENTS]


def saved_plans(workspace: Workspace) -> list[Saved]:
    """The newest plans of experiments of the workspace, the newest first; what cannot be read is left out."""
    folder = workspace.plans
    files = [path for path in folder.glob("*.json") if _PLAN.fullmatch(path.stem)] if folder.is_dir() else []
    newest = sorted(files, key=_changed_ns, reverse=True)[:MOST_PLANS]
    found = []
    for path in newest:
        try:
            if path.stat().st_size <= _MOST_PLAN_BYTES:
                plan = store.load(path.stem, folder)
                file = _file_of(workspace, plan)
                found.append(Saved(id=plan.id, name=plan.name, file=file, overrides=plan.overrides))
        except (OSError, OrchError):
            continue
    return found


def plan_of(workspace: Workspace, *, experiment: str = "", plan: str = "") -> Plan:
    """The plan of an experiment as its file is now, or a saved plan made anew; it must come out the same.

    UsageError for what is not there, and for a saved plan whose files have changed; ExperimentError for a wrong file.
    """
    if not plan:
        return make_plan(experiment_file(workspace, experiment))
    if not _PLAN.fullmatch(plan):
        raise UsageError("a plan's id has 12 characters of 0-9 and a-f", hint="choose one from the list")
    saved = store.load(plan, workspace.plans)
    made = make_plan(experiment_file(workspace, _file_of(workspace, saved)), saved.overrides)
    if made.id != saved.id:
        raise UsageError(
            f"plan {saved.id} is stale: its experiment gives another plan now, {made.id}",
            hint=f"plan again: {command_of(saved, 'plan')}",
        )
    return made


def experiment_file(workspace: Workspace, name: str) -> Path:
    """Where the experiment file of that name lies; UsageError unless it is one of the workspace."""
    known = experiments(workspace)
    if name not in known:
        hint = did_you_mean(name[:100], known) if known else f"`orch init` makes one; {FOLDER}/ holds none here"
        raise UsageError(f"there is no experiment {name[:100]!r} in {FOLDER}/", hint=hint)
    return base(workspace) / FOLDER / name


def base(workspace: Workspace) -> Path:
    """The workspace as plans name it: files of the current folder by their short names, as `orch run` there would."""
    root = workspace.root
    return root if root == Path() or root.is_absolute() else root.resolve()


def command_of(plan: Plan, verb: str = "run") -> str:
    """What somebody types to do the same in a terminal."""
    return shlex.join(["orch", *arguments(plan, verb)])


def arguments(plan: Plan, verb: str = "run") -> list[str]:
    """The words behind `orch`."""
    return [verb, plan.experiment_path, *(word for override in plan.overrides for word in ("--set", override))]


def offer(plan: Plan, *, is_looked: bool = True) -> Offer:
    """What a plan would do. It takes a second where `is_looked`: what else this machine does is looked at."""
    provider, expected = PROVIDERS[plan.provider], estimate(plan)
    zones = hosts_needed(plan)
    hosts_usd = cost_of(plan, expected.duration_s / 3600)
    usd = None if hosts_usd is None else hosts_usd + expected.traffic.usd
    cost = "nothing" if not provider.costs_money else ("not known" if usd is None else f"about {usd:.2f} USD")
    found = [*warnings(plan, expected.duration_s), *lacked(plan)]
    if is_looked and provider.hosts_are_this_machine and (busy := look().warning()):
        found.append(busy)
    return Offer(
        plan=plan.id,
        digest=plan.digest(),
        name=plan.name,
        question=plan.question,
        facts=(
            ("Stacks", ", ".join(stack.label for stack in plan.stacks)),
            ("Trials", f"{count(len(plan.trials), 'trial')} of {count(len(plan.cells), 'cell')}"),
            (
                "Time",
                f"about {format_duration(round(expected.duration_s))}, at most {format_duration(plan.limits.wall_s)}",
            ),
            ("Disk", f"up to {size(expected.disk_bytes)}"),
            ("Cost", cost),
            ("Hosts", f"{len(zones)}, made by {provider.title}" if zones else "this machine"),
            *(("Asks", told) for told in announcements(plan)),
        ),
        warnings=tuple(found),
        command=command_of(plan),
        why_not=_why_not(plan),
    )


def _why_not(plan: Plan) -> str:
    provider = PROVIDERS[plan.provider]
    if provider.costs_money:
        return "It costs money. The page starts nothing that does; run it in a terminal:"
    if not provider.hosts_are_this_machine:
        return "It makes hosts elsewhere. The page starts only what runs on this machine; run it in a terminal:"
    return ""


def _file_of(workspace: Workspace, plan: Plan) -> str:
    """The experiment's name below `experiments/`; UsageError where the plan is of a file that lies elsewhere."""
    path = Path(plan.experiment_path)
    place = path if path.is_absolute() else workspace.root / path
    if place.parent.resolve() != (workspace.root / FOLDER).resolve() or not _NAME.fullmatch(place.name):
        raise UsageError(
            f"plan {plan.id} is of {plan.experiment_path}, which is not in {FOLDER}/ here",
            hint=f"run it in a terminal: {command_of(plan)}",
        )
    return place.name


def _is_own(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _changed_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
