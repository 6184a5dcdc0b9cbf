"""Takes in a run folder that was made elsewhere: verified, copied under its own id, judged here, and never one of ours.

What is copied is what the journal vouches for (plan, samples, baselines, ...). What analysis left there
is made anew from the samples: `summary.json` has no digest that anybody else wrote down.
"""

from __future__ import annotations

import re
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.analysis import words
from orchestrator.analysis.summarise import summarise
from orchestrator.disk import writing
from orchestrator.errors import InvalidMeasurement, OrchError, UsageError
from orchestrator.results.documents import Damaged, inside
from orchestrator.results.folder import RunFolder
from orchestrator.results.names import is_run, run_folders
from orchestrator.results.verification import verify
from orchestrator.workspace import Workspace

COMING = ".importing-"  # how the name of a folder begins that is being copied
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What came of one import. `is_new`: it was not here before; `remark`: what is to be said of it, as a sentence."""

    run: str
    path: Path
    files: int
    is_new: bool
    remark: str = ""


def import_run(workspace: Workspace, source: Path) -> Imported:
    """Take in the run folder at `source`.

    InvalidMeasurement where it is not as it was written; UsageError where it is in progress, has an id that no folder can
    have, or another run with that id is here.
    """
    if not is_run(source):
        raise _no_run(source)
    folder = RunFolder(source)
    files = verify(folder)
    run = folder.manifest().run_id
    if not _ID.fullmatch(run):
        raise UsageError(
            f"{source}: {run[:60]!r} cannot be the id of a run",
            hint="orch never writes this: do not trust the folder, and ask whoever sent it",
        )
    target = workspace.results / run
    if _is_there(target):
        return _already(folder, target, files)
    with writing(workspace.results, "try again"):
        workspace.results.mkdir(parents=True, exist_ok=True)
        coming = workspace.results / f"{COMING}{secrets.token_hex(8)}"
        coming.mkdir()
        try:
            _copy(source, coming, files)
            remark = _judged(coming, folder.manifest_bytes())
            coming.rename(target)
        finally:
            shutil.rmtree(coming, ignore_errors=True)
    return Imported(run=run, path=target, files=len(files), is_new=True, remark=remark)


def _no_run(source: Path) -> UsageError:
    """Why that folder cannot be taken in; where runs lie in it (somebody's results/, say), how they are named."""
    with suppress(OSError):
        if inner := run_folders(source):
            return UsageError(
                f"{source} is no run folder, but holds {words.count(len(inner), 'run')}",
                hint=f"name each: orch import {inner[-1]}",
            )
    return UsageError(
        f"{source} is no run folder: there is neither a journal nor a manifest", hint="name a folder below results/"
    )


def _is_there(target: Path) -> bool:
    return target.is_symlink() or target.exists()


def _already(folder: RunFolder, target: Path, files: tuple[str, ...]) -> Imported:
    """The run that is here, if it is the same to the byte; its manifest has the digest of every other file."""
    if target.is_symlink():
        raise UsageError(f"{target} is a link: nothing is copied there", hint="remove the link, then try again")
    here = RunFolder(target)
    if folder.path.resolve() != target.resolve():
        try:
            same = verify(here) == files and here.manifest_bytes() == folder.manifest_bytes()
        except OrchError:
            same = False
        if not same:
            raise UsageError(
                f"{folder.path} and {target} have the same id and are not the same run",
                hint=f"two runs cannot have one id: `orch verify` says whether one was changed; `orch delete {target}` "
                "makes room",
            )
    return Imported(run=target.name, path=target, files=len(files), is_new=False, remark="it is here already")


def _copy(source: Path, coming: Path, files: tuple[str, ...]) -> None:
    """They are verified again where they come to lie."""
    for name in files:
        target = coming / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(inside(source, name), target)


def _judged(coming: Path, manifest: bytes) -> str:
    """Verify the copy, and leave beside it what analysis finds; a sentence where that finds nothing."""
    copy = RunFolder(coming)
    verify(copy)
    if copy.manifest_bytes() != manifest:
        raise Damaged(coming, "it changed while it was copied")
    try:
        summary = summarise(copy)
    except InvalidMeasurement as error:
        return f"it cannot be judged: {error.message}"
    for name, document in summary.documents().items():
        copy.write_json(name, document)
    return ""
