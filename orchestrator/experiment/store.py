"""Plans on disk, `<id>.json` in a folder (`Workspace.plans`), and which of them is current."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from orchestrator.disk import whole_file, writing
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.payloads import GENERATED, own_content
from orchestrator.experiment.plan.plan import Plan
from orchestrator.files import UnreadableFile, read_file
from orchestrator.shapes import decode
from orchestrator.strict_json import read_json
from services.python.contract.limits import MAX_PAYLOAD_BYTES

_CURRENT = "current"
_AGAIN = "plan again: orch plan FILE"


def save(plan: Plan, folder: Path) -> Path:
    """Write a plan and make it the current one; its path. MissingError where the folder cannot be written to."""
    identity = plan.id
    target = folder / f"{identity}.json"
    with writing(target, "plan again"):
        for path, text in ((target, plan.to_json()), (folder / _CURRENT, identity)):
            with whole_file(path) as partial:
                partial.write_text(text + "\n", encoding="utf-8")
    return target


def load(identity: str, folder: Path) -> Plan:
    """The plan of that id. UsageError when there is none, or when its content is not what its name says."""
    path = folder / f"{identity}.json"
    try:
        plan: Plan = decode(Plan, read_json(path))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is not a plan of this version of orch: {error}", hint=_AGAIN) from error
    if plan.id != identity:
        raise UsageError(f"{path} was changed after it was written", hint=_AGAIN)
    return plan


def forget_current(folder: Path) -> None:
    """Leave no plan current: one that was asked for could not be made, and an older one is not what is wanted."""
    with suppress(OSError):
        (folder / _CURRENT).unlink(missing_ok=True)


def current(folder: Path) -> Plan:
    """The plan that was made last. UsageError when there is none."""
    try:
        identity = (folder / _CURRENT).read_text(encoding="utf-8").strip()
    except FileNotFoundError as error:
        raise UsageError(
            "there is no current plan",
            hint="make one: orch plan FILE; `orch init FILE` writes an experiment to start from",
        ) from error
    return load(identity, folder)


def is_stale(plan: Plan) -> str | None:
    """Why a plan no longer says what its files say; None while it does."""
    path = Path(plan.experiment_path)
    try:
        if hashlib.sha256(read_file(path, MAX_PAYLOAD_BYTES)).hexdigest() != plan.experiment_sha256:
            return f"{path} has changed since the plan was made"
        own = [file for file in plan.payload_files if file.source != GENERATED]
        changed = [file for file in own if hashlib.sha256(own_content(plan, file)).hexdigest() != file.sha256]
    except (FileNotFoundError, UnreadableFile, UsageError) as error:
        return str(error) if isinstance(error, UsageError) else f"{path} cannot be read any more ({error})"
    return f"{changed[0].sources} has changed since the plan was made" if changed else None
