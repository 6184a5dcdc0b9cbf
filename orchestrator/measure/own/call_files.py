"""Call files of stacks that call a person's own service, and the folders and builds of such services."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from orchestrator.disk import whole_file, writing
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.own.own_calls import beside, call_file, own_stacks
from orchestrator.experiment.plan.plan import External, Plan, Start
from orchestrator.files import sha256_of
from orchestrator.hosts.base import Host
from orchestrator.hosts.provision.archives import Member, write_tar
from orchestrator.measure.own.started import environment_of, held, last_lines
from orchestrator.measure.run_context import RunContext
from services.python.contract.lines import Payload
from services.python.contract.responder_lines import Own

_BUILD_S = 1800.0
_UNPACK_S = 120.0
_LAST_WORDS = 400  # characters
_LEFT_OUT = {"__pycache__", "results", "reports"}
MOST_FOLDER_BYTES = 256 * 2**20


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


def put_services(plan: Plan, responders: Iterable[Host], *, copies: bool) -> dict[str, str]:
    """Bring the folder of each service to who answers, and build it there; where each is, by `Start.folder`.

    Where nothing is copied, hosts are this machine. UsageError where a folder is too large, or a build fails.
    """
    starts = [external.start for _, external in own_stacks(plan) if external.start is not None]
    folders: dict[str, str] = {}
    for host in {host.name: host for host in responders}.values():
        for name in dict.fromkeys(start.folder for start in starts):
            local = beside(plan, name).resolve()
            folders[name] = _deployed(local, host) if copies else str(local)
        for start in {(start.folder, start.build): start for start in starts if start.build}.values():
            _build(start, folders[start.folder], host)
    return folders


def _deployed(local: Path, host: Host) -> str:
    """Unpack a copy of a folder in a host's workspace, unless the same one is there."""
    with TemporaryDirectory(prefix="orch-service-") as scratch:
        archive = Path(scratch, "service.tar")
        write_tar(archive, _members(local))
        name = f"service-{sha256_of(archive)[:16]}"
        there = host.put(archive, f"{name}.tar")
    folder = str(host.workspace / name)
    script = (
        'test -e "$1" || { rm -rf "$1.part" && mkdir "$1.part" && tar -xf "$2" -C "$1.part" && mv "$1.part" "$1"; }'
    )
    done = host.run(["sh", "-c", script, "sh", folder, str(there)], timeout_s=_UNPACK_S)
    if done.returncode:
        raise UsageError(f"{local} cannot be unpacked on {host.name}: {done.stderr.strip()[-_LAST_WORDS:]}")
    return folder


def _members(folder: Path) -> list[Member]:
    """The files below a folder, without hidden ones, compiled Python, and what orch itself writes."""
    members, size = [], 0
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if not path.is_file() or _LEFT_OUT & {*parts} or any(part.startswith(".") for part in parts):
            continue
        size += path.stat().st_size
        if size > MOST_FOLDER_BYTES:
            hint = "give each service a `folder` of its own, with nothing else in it"
            raise UsageError(f"{folder} has more than {MOST_FOLDER_BYTES >> 20} MiB", hint=hint)
        members.append(Member(name="/".join(parts), content=path.read_bytes(), mode=path.stat().st_mode & 0o777))
    return members


def _build(start: Start, folder: str, host: Host) -> None:
    own = Own(
        argv=list(start.build),
        folder=folder,
        address=host.address,
        output=str(PurePosixPath(host.workspace) / "build"),
        ready="end",
        env=environment_of(start),
    )
    process = held(host, own)
    try:
        process.read(_BUILD_S)
    except TimeoutError:
        process.end()
        raise UsageError(f"`{' '.join(start.build)}` did not end within {_BUILD_S:g} s on {host.name}") from None
    if status := process.end():
        what = f"`{' '.join(start.build)}` ended with {status} on {host.name}{last_lines(process)}"
        raise UsageError(what, hint=f"run it in {folder}")
