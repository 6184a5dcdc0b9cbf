"""Call files of stacks that call a person's own service, and the build of such services."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from orchestrator.disk import whole_file, writing
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.own.own_calls import beside, call_file, own_stacks
from orchestrator.experiment.plan.plan import External, Plan
from orchestrator.hosts.base import Host
from orchestrator.measure.run_context import RunContext
from services.python.contract.lines import Payload

_BUILD_S = 1800.0
_LAST_WORDS = 400  # characters


def put_calls(context: RunContext, requesters: Iterable[Host]) -> None:
    """Bring the call file of each stack to who asks; UsageError where its data have changed since the plan was made."""
    hosts = list(requesters)
    for stack, external in own_stacks(context.plan):
        local = written(context.plan, external, context.folder.path / "payloads")
        for host in hosts:
            path = host.put(Path(local.path or ""), PurePosixPath(local.path or "").name)
            context.calls[stack] = replace(local, path=str(path))


def written(plan: Plan, external: External, folder: Path) -> Payload:
    """Write the call file of a stack into a folder of this machine; the payload that names it. UsageError as `put_calls`."""
    content = call_file(plan, external)
    digest = hashlib.sha256(content).hexdigest()
    target = folder / f"{digest[:16]}-call.json"
    with writing(target, "`orch run --resume`"), whole_file(target) as partial:
        partial.write_bytes(content)
    return Payload(kind="call", path=str(target), sha256=digest)


def build_services(plan: Plan) -> None:
    """Run the build command of each service once; UsageError with its last words where it fails."""
    starts = {e.start for _, e in own_stacks(plan) if e.start is not None and e.start.build}
    for start in sorted(starts, key=lambda start: start.build):
        folder = beside(plan, start.folder)
        try:
            done = subprocess.run(
                start.build,
                cwd=folder,
                env={**os.environ, **start.env},
                capture_output=True,
                text=True,
                timeout=_BUILD_S,
                check=False,
            )
            words = (
                ""
                if done.returncode == 0
                else f"ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-_LAST_WORDS:]}"
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            words = str(error)
        if words:
            raise UsageError(f"`{' '.join(start.build)}` {words}", hint=f"run it in {folder}")
