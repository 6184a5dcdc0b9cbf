"""An experiment for a gate: each call of each own service three times, as base, as base again (A/A), and as head."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import exp, log
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from orchestrator.errors import MissingError, UsageError, on_one_line
from orchestrator.experiment.model.loader import load
from orchestrator.experiment.model.options import Metric
from orchestrator.experiment.plan.plan import External, Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.providers import THIS_MACHINE

BASE, AGAIN, HEAD = ARMS = ("base", "base-again", "head")
AT_LEAST, AT_MOST = 5, 200  # blocks of a run
_LOADS = {  # unless the experiment has its own: short trials with a p99, so that there are many blocks
    "load": {"requests": 1500, "at_most": "2s"},
    "warmup": {"requests": 200, "at_least": "500ms"},
}
_WORDS = 300  # characters of what git said
_WITHOUT = "without git give --base-folder and --head-folder"
_SHALLOW = "a shallow clone lacks other commits: `git fetch --unshallow`"


@dataclass(frozen=True, kw_only=True)
class Side:
    """One version of the services: the folder that takes the place of the experiment's.

    `label` is what a person calls it; `commit` is empty of what is no commit.
    """

    label: str
    folder: Path
    commit: str = ""
    changed: tuple[str, ...] = ()  # files of a working folder that are not committed


Sides = Mapping[str, Side]
"""By the names of `ARMS`."""


@dataclass(frozen=True, kw_only=True)
class Arms:
    """An experiment file and the versions of its services."""

    file: Path
    document: Mapping[str, Any]
    sides: Sides
    overrides: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The experiment's."""
        return str(self.document["name"])

    @property
    def metric(self) -> Metric:
        """By which the verdict is; others raise alarms alone."""
        metric: Metric = self.document.get("metric", "median")
        return metric

    @property
    def calls(self) -> tuple[str, ...]:
        """The names of its stacks, each a call of its own."""
        return tuple(str(stack.get("name", stack["service"])) for stack in _stacks(self.document))

    def to_build(self) -> Plan:
        """The plan of all calls, with what they build and the values that must be the same."""
        return self._plan(range(len(self.calls)), ARMS, {"repeats": 1})

    def to_measure(self, call: int, limit: float, wall_s: float, *, is_confirming: bool = False) -> Plan:
        """The plan of one call; a run that confirms takes the arms the other way round, and another seed.

        Blocks go on until the interval of medians is too narrow to hold both 1 and the limit, so that it decides, or
        head is slower beyond doubt; by another metric while there is time.
        """
        within = exp(log(1 + limit) / 2) - 1
        until = {"until": f"{100 * within:.4f}%", "at_most": AT_MOST, "at_least": AT_LEAST}
        settings: dict[str, Any] = {
            "repeats": until if self.metric == "median" else AT_MOST,
            "limits.wall": f"{wall_s:.0f}s",
            "seed": int(self.document.get("seed", 1)) + is_confirming,
            "matters": f"{100 * limit:g}%",
        }
        settings |= {key: value for key, value in _LOADS.items() if key not in self.document}
        plan = self._plan((call,), ARMS[::-1] if is_confirming else ARMS, settings)
        plan = without_same(without_builds(plan))
        base = next(stack.id for stack in plan.stacks if stack.label == f"{self.calls[call]}-{BASE}")
        again = f"{self.calls[call]}-{AGAIN}"
        stacks = (replace(stack, control_of=base) if stack.label == again else stack for stack in plan.stacks)
        return replace(plan, stacks=tuple(stacks), until=plan.until and replace(plan.until, or_slower=True))

    def _plan(self, calls: Sequence[int], arms: Sequence[str], settings: Mapping[str, Any]) -> Plan:
        stacks, services = [], {}
        for call in calls:
            stack = _stacks(self.document)[call]
            for arm in arms:
                service = f"{stack['service']}-{arm}"
                services[service] = self._service(stack["service"], self.sides[arm])
                stacks.append({**stack, "name": f"{self.calls[call]}-{arm}", "service": service})
        chosen = {
            "services": services,
            "stacks": stacks,
            "reference": f"{self.calls[calls[0]]}-{BASE}",
            "compare_by": "stack",
            "control": False,
            **settings,
        }
        return make_plan(self.file, [*self.overrides, *(f"{key}={json.dumps(value)}" for key, value in chosen.items())])

    def _service(self, name: str, side: Side) -> dict[str, Any]:
        service = dict(self.document["services"][name])
        folder = os.path.normpath(side.folder / service.get("folder", "."))
        if not side.folder.is_dir():
            raise UsageError(f"there is no folder {side.label}")
        if not Path(folder).is_dir():
            raise UsageError(
                f"{side.label} has no folder {service.get('folder', '.')}, where {name} is started",
                hint="a service's `folder` is looked up in each version's folder",
            )
        service["folder"] = os.path.relpath(folder, self.file.parent)
        return service


def without_builds(plan: Plan) -> Plan:
    """The plan of services that are built already."""
    return _with(plan, lambda external: replace(external, start=external.start and replace(external.start, build=())))


def without_same(plan: Plan) -> Plan:
    """The plan of services whose replies have been compared already."""
    return _with(plan, lambda external: replace(external, call={**external.call, "same": {}}))


def _with(plan: Plan, change: Callable[[External], External]) -> Plan:
    stacks = (replace(stack, external=stack.external and change(stack.external)) for stack in plan.stacks)
    return replace(plan, stacks=tuple(stacks))


def _stacks(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    stacks = document["stacks"]
    return stacks if isinstance(stacks, list) else [stacks]


def read(file: Path, overrides: Sequence[str], sides: Sides) -> Arms:
    """The experiment of a file; UsageError for one that a gate cannot measure."""
    located = load(file, overrides)
    experiment = located.experiment
    started = [experiment.services.get(spec.service or "") for spec in experiment.stacks]
    if not all(service and service.start for service in started):
        raise UsageError(
            f"{file} has a stack without a service that orch starts",
            hint="a gate measures `services` with a `start`: docs/how-to/services-and-ci.md",
        )
    if experiment.provider != THIS_MACHINE:
        raise UsageError(f"a gate measures on this machine: provider {experiment.provider} in {file}")
    if any(len(spec.client or ()) > 1 for spec in experiment.stacks):
        raise UsageError(f"a stack of {file} has several clients", hint="a gate measures with one: name it")
    document = located.root.plain()
    assert isinstance(document, dict)  # noqa: S101 - the loader has refused all else
    arms = Arms(file=file, document=document, sides=sides, overrides=tuple(overrides))
    if len(set(arms.calls)) < len(arms.calls):
        raise UsageError(f"two stacks of {file} have one name", hint="give each stack a `name`")
    return arms


@contextmanager
def commits(file: Path, base: str, head: str, state: Path) -> Iterator[Sides]:
    """Both versions from git, each in a worktree that is removed at the end; head `.` is the working folder itself.

    UsageError where git knows no such commit, MissingError without git.
    """
    beside = file.parent.resolve()
    try:
        root = Path(_git(beside, "rev-parse", "--show-toplevel"))
    except UsageError as error:
        raise UsageError(f"{file} is in no git repository", hint=_WITHOUT) from error
    within = beside.relative_to(root)
    with ExitStack() as trees:
        sides = {arm: _checked_out(root, within, base, trees, state) for arm in (BASE, AGAIN)}
        if head != ".":
            sides[HEAD] = _checked_out(root, within, head, trees, state)
        else:
            changed = _git(root, "status", "--porcelain", "--untracked-files=no").splitlines()
            commit = _git(root, "rev-parse", "HEAD")
            label = f"the working folder at {commit[:12]}"
            files = tuple(line[2:].strip() for line in changed)
            sides[HEAD] = Side(label=label, folder=beside, commit=commit, changed=files)
        yield sides


def _checked_out(root: Path, within: Path, ref: str, trees: ExitStack, state: Path) -> Side:
    try:
        commit = _git(root, "rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
    except UsageError as error:
        raise UsageError(f"git knows no commit {ref!r}", hint=_SHALLOW) from error
    state.mkdir(parents=True, exist_ok=True)
    tree = mkdtemp(prefix="gate-", dir=state.resolve())
    trees.callback(rmtree, tree, ignore_errors=True)
    _git(root, "worktree", "add", "--force", "--detach", tree, commit)
    trees.callback(_git, root, "worktree", "remove", "--force", tree)
    return Side(
        label=f"{ref} ({commit[:12]})" if not commit.startswith(ref) else ref, folder=Path(tree) / within, commit=commit
    )


def _git(folder: Path, *words: str) -> str:
    """What git prints; variables of a hook that name another repository are left out."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", folder, *words], capture_output=True, text=True, check=False, env=environment
        )
    except FileNotFoundError:
        raise MissingError("there is no git here", hint=_WITHOUT) from None
    if done.returncode:
        raise UsageError(
            f"`git {' '.join(words)}` failed: {on_one_line(done.stderr, _WORDS)}",
            hint="`git worktree prune` forgets what a killed gate has left",
        )
    return done.stdout.rstrip("\n")


def without_git(base: Path, head: Path) -> Sides:
    """Two folders that each take the place of the experiment's."""
    old, new = (Side(label=str(folder), folder=folder.resolve()) for folder in (base, head))
    return {BASE: old, AGAIN: old, HEAD: new}
