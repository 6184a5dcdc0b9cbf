"""Plans on disk, `<id>.json` in a folder (`Workspace.plans`), and which of them is current."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from pathlib import Path

from orchestrator.disk import whole_file, writing
from orchestrator.errors import UsageError, did_you_mean
from orchestrator.experiment.plan.payloads import GENERATED, own_content
from orchestrator.experiment.plan.plan import Plan, read_plan
from orchestrator.files import UnreadableFile, read_file, sha256_of_file
from orchestrator.strict_json import read_own_json
from services.python.contract.limits import MAX_PAYLOAD_BYTES

_CURRENT = "current"


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
        plan = read_plan(read_own_json(path))
    except FileNotFoundError as error:
        known = [p.stem for p in folder.glob("*.json")]
        hint = did_you_mean(identity, known) if known else "make one: orch plan FILE"
        raise UsageError(f"there is no plan {identity} in {folder}", hint=hint) from error
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} is not a plan of this version of orch: {error}", hint="plan again: orch plan FILE"
        ) from error
    if plan.id != identity:
        raise UsageError(
            f"{path} was changed after it was written", hint=f"plan again: orch plan {plan.experiment_path}"
        )
    return plan


def forget_current(folder: Path) -> None:
    """Leave no plan current: one that was asked for could not be made, and an older one is not what is wanted."""
    with suppress(OSError):
        (folder / _CURRENT).unlink(missing_ok=True)


def current(folder: Path) -> Plan:
    """The plan that was made last. UsageError when there is none."""
    try:
        identity = read_file(folder / _CURRENT, 100).decode(errors="replace").strip()
    except FileNotFoundError as error:
        raise UsageError(
            "there is no current plan",
            hint="make one: orch plan FILE; `orch init FILE` writes an experiment to start from",
        ) from error
    except UnreadableFile as error:
        raise UsageError(f"{folder / _CURRENT} {error}", hint="plan again: orch plan FILE") from error
    if not re.fullmatch("[0-9a-f]{12}", identity):
        raise UsageError(f"{folder / _CURRENT} names no plan", hint="plan again: orch plan FILE")
    return load(identity, folder)


def is_stale(plan: Plan) -> str | None:
    """Why a plan no longer says what its files say; None while it does."""
    path = Path(plan.experiment_path)
    reason = _difference(path, plan.experiment_sha256)
    if reason:
        return reason
    for file in plan.payload_files:
        if file.source == GENERATED:
            continue
        try:
            digest = hashlib.sha256(own_content(plan, file)).hexdigest()
        except UsageError as error:
            return str(error)
        if digest != file.sha256:
            return f"{file.sources} has changed since the plan was made"
    return None


def _difference(path: Path, sha256: str) -> str | None:
    try:
        digest = sha256_of_file(path, MAX_PAYLOAD_BYTES)
    except FileNotFoundError as error:
        return f"{path} cannot be read any more ({error.strerror})"
    except UnreadableFile as error:
        return f"{path} {error}"
    return None if digest == sha256 else f"{path} has changed since the plan was made"
