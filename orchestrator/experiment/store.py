"""Plans on disk: `.orch/plans/<id>.json`, and which of them is current."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from orchestrator.errors import UsageError, did_you_mean
from orchestrator.experiment.payloads import GENERATED, payload_path
from orchestrator.experiment.plan import Plan

FOLDER = Path(".orch") / "plans"
_CURRENT = "current"


def save(plan: Plan, folder: Path = FOLDER) -> Path:
    """Write a plan and make it the current one; its path. A plan that is there already is left as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    identity = plan.id
    target = folder / f"{identity}.json"
    if not target.exists():
        _write_whole(target, json.dumps(plan.to_dict(), separators=(",", ":"), ensure_ascii=False) + "\n")
    _write_whole(folder / _CURRENT, identity + "\n")
    return target


def load(identity: str, folder: Path = FOLDER) -> Plan:
    """The plan of that id. UsageError when there is none, or when its content is not what its name says."""
    path = folder / f"{identity}.json"
    try:
        plan = Plan.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        known = [p.stem for p in folder.glob("*.json")]
        hint = did_you_mean(identity, known) if known else "make one: orch plan FILE"
        raise UsageError(f"there is no plan {identity} in {folder}", hint=hint) from error
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"{path} is not a plan of this version of orch: {error}", hint="plan again: orch plan FILE"
        ) from error
    if plan.id != identity:
        raise UsageError(
            f"{path} was changed after it was written", hint=f"plan again: orch plan {plan.experiment_path}"
        )
    return plan


def current(folder: Path = FOLDER) -> Plan:
    """The plan that was made last. UsageError when there is none."""
    try:
        identity = (folder / _CURRENT).read_text(encoding="utf-8").strip()
    except FileNotFoundError as error:
        raise UsageError("there is no current plan", hint="make one: orch plan experiments/quickstart.yaml") from error
    return load(identity, folder)


def is_stale(plan: Plan) -> str | None:
    """Why a plan no longer says what its files say; None while it does."""
    path = Path(plan.experiment_path)
    reason = _difference(path, plan.experiment_sha256)
    if reason:
        return reason
    for file in plan.payload_files:
        if file.source != GENERATED:
            reason = _difference(payload_path(plan, file), file.sha256)
            if reason:
                return reason
    return None


def _difference(path: Path, sha256: str) -> str | None:
    try:
        content = path.read_bytes()
    except OSError as error:
        return f"{path} cannot be read any more ({error.strerror})"
    return None if hashlib.sha256(content).hexdigest() == sha256 else f"{path} has changed since the plan was made"


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that it appears whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
