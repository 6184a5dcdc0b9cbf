"""Run folders of `results` as a user names, deletes and imports them.

A deleted run goes with its report and its notes; nothing else does, and no link is followed. An imported one is verified,
copied under its own id and judged here. What is copied is what its journal vouches for (plan, samples, baselines, ...);
`summary.json` is made anew from the samples.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator import quantities
from orchestrator.disk import writing
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.history import noted
from orchestrator.results.documents import inside
from orchestrator.results.folder import RunFolder
from orchestrator.results.journal import try_hold
from orchestrator.results.names import is_run, run_folders
from orchestrator.results.verification import verify
from orchestrator.summarise import summarise
from orchestrator.workspace import Workspace

_DELETED, _IMPORTED = ".deleted-", ".importing-"  # how the name of a folder begins that is on its way
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")


@dataclass(frozen=True, kw_only=True)
class Imported:
    """The result of an import. `is_new`: the run was not here before; `remark`: why it cannot be judged, or ""."""

    run: str
    path: Path
    files: int
    is_new: bool
    remark: str = ""


def folder_of(workspace: Workspace, named: str) -> Path:
    """The folder of that id, unique beginning of one, path, or `latest` (even one without a trial): an entry of `results`.

    UsageError where there is none, and for one that lies elsewhere.
    """
    path = RunFolder.open(named, root=workspace.results, even_empty=True).path
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - a link must stay one
    is_below = absolute.parent.resolve() == workspace.results.resolve()
    if not absolute.name or not is_below or not os.path.lexists(workspace.results / absolute.name):
        raise UsageError(
            f"{path} does not lie in {workspace.results}/",
            hint=f"`orch runs import {path}` copies it there; this leaves it alone",
        )
    return workspace.results / absolute.name


def find_deletable(workspace: Workspace, named: str, *, standing: Iterable[str] = ()) -> RunFolder:
    """The run of that id, unique beginning of one, or path below `results`, if it may be deleted.

    UsageError for one that lies elsewhere, is a link, is in progress, or has hosts that are up (`standing`: the ids of such
    runs).
    """
    path = folder_of(workspace, named)
    folder = RunFolder(path)
    if path.is_symlink():
        raise UsageError(f"{path} is a link, and orch deletes folders alone", hint=f"remove the link: rm {path}")
    if folder.is_in_progress:
        raise UsageError(f"run {path.name} is in progress", hint="end it first: orch teardown, or Ctrl-C where it runs")
    if path.name in set(standing):
        raise UsageError(f"hosts of run {path.name} are up", hint=f"take them down first: orch teardown {path.name}")
    return folder


def delete(workspace: Workspace, folder: RunFolder, reports: Iterable[Path] = ()) -> None:
    """Delete a run, its `reports` and its notes, and what a killed `orch runs delete` left.

    MissingError for what the disk refuses; UsageError where a process has begun to write the run meanwhile.
    """
    hold = None
    with suppress(InvalidMeasurement):  # no journal: nobody can write it
        hold = try_hold(folder.path / "journal.jsonl")
        if hold is None:
            raise UsageError(f"run {folder.path.name} is in progress", hint="wait until it has ended")
    try:
        with writing(folder.path, "try again"):
            folder.path.rename(
                workspace.results / f"{_DELETED}{secrets.token_hex(8)}"
            )  # at once: a kill leaves no half
    finally:
        if hold is not None:
            hold.close()
    with writing(workspace.state, "try again"):
        for report in reports:
            report.unlink(missing_ok=True)
        noted.forget(workspace.notes, folder.path.name)
    for path in workspace.results.glob(f"{_DELETED}*"):
        shutil.rmtree(path, ignore_errors=True)


def import_run(workspace: Workspace, source: Path) -> Imported:
    """Copy the run folder at `source` into `results`, and judge it.

    InvalidMeasurement where it is not as it was written; UsageError where it is in progress, has an id that no folder can
    have, or another run with that id is here.
    """
    if not is_run(source):
        raise _no_run(source)
    folder = RunFolder(source)
    files = verify(folder)
    run = folder.manifest().run_id
    if not _ID.fullmatch(run):
        raise UsageError(f"{source}: {run[:60]!r} cannot be the id of a run", hint="orch never writes this id")
    target = workspace.results / run
    if os.path.lexists(target):
        if target.is_symlink() or RunFolder(target).manifest_bytes() != folder.manifest_bytes():
            raise UsageError(
                f"{source} and {target} have the same id and are not the same run",
                hint=f"two runs cannot have one id: `orch runs delete {target}` makes room",
            )
        return Imported(run=run, path=target, files=len(files), is_new=False)
    with writing(workspace.results, "try again"):
        coming = workspace.results / f"{_IMPORTED}{secrets.token_hex(8)}"
        try:
            for name in files:
                (coming / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(inside(source, name), coming / name)
            remark = _judge(RunFolder(coming))
            coming.rename(target)
        finally:
            shutil.rmtree(coming, ignore_errors=True)
    return Imported(run=run, path=target, files=len(files), is_new=True, remark=remark)


def _no_run(source: Path) -> UsageError:
    """The error for a folder that is no run; it names runs that lie in it."""
    with suppress(OSError):
        if inner := run_folders(source):
            return UsageError(
                f"{source} is no run folder, but holds {quantities.count(len(inner), 'run')}",
                hint=f"name each: orch runs import {inner[-1]}",
            )
    return UsageError(
        f"{source} is no run folder: there is neither a journal nor a manifest", hint="name a folder below results/"
    )


def _judge(copy: RunFolder) -> str:
    """Verify the copy, and write what analysis finds; why it finds nothing, or ""."""
    verify(copy)
    try:
        summary = summarise(copy)
    except InvalidMeasurement as error:
        return f"it cannot be judged: {error.message}"
    for name, document in summary.documents().items():
        copy.write_json(name, document)
    return ""
