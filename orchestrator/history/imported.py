"""Other people's raw stamps, kept: the file as it was, and what was read of it. No plan, no journal, no check.

`results/imported-<date>-<name>-<hex>/` holds `original.json` and `imported.json`. Its latencies are whatever the two stamps
of the file say: no floor was measured beside them, and nothing says how they were taken, so nothing is compared with them.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import shutil
from pathlib import Path
from typing import Any

from orchestrator import clock
from orchestrator.disk import whole_file, writing
from orchestrator.errors import UsageError
from orchestrator.files import UnreadableFile, read_file
from orchestrator.history.record import IMPORTED, CellRecord, RunRecord
from orchestrator.history.stamps import TOO_COARSE, Group, Stamps, read_stamps
from orchestrator.strict_json import MOST_BYTES, read_json
from orchestrator.workspace import Workspace

SCHEMA_VERSION = 1
NAME = "imported.json"
_ORIGINAL = "original.json"
_COMING = ".importing-"
_FEWEST_BEYOND = 10  # latencies beyond a percentile, or it is not given


def is_imported(folder: Path) -> bool:
    """Whether a folder holds an imported file of stamps."""
    is_run = any((folder / name).exists() for name in ("journal.jsonl", "manifest.json"))
    return (folder / NAME).is_file() and not is_run


def import_stamps(workspace: Workspace, source: Path, *, now: clock.Clock = clock.SYSTEM) -> tuple[Path, Stamps]:
    """Keep a file of stamps below `results`; where it lies and what was read. UsageError where it holds none."""
    try:
        content = read_file(source, MOST_BYTES)
    except FileNotFoundError as error:
        raise UsageError(
            f"{source}: there is no such file or folder", hint="name a run folder, or a file of stamps"
        ) from error
    except UnreadableFile as error:
        raise UsageError(f"{source} {error}", hint="name a run folder, or a file of stamps") from error
    found = read_stamps(content, str(source))
    digest = hashlib.sha256(content).hexdigest()
    for path in sorted(workspace.results.glob("imported-*")):
        if is_imported(path) and _digest_in(path) == digest:
            raise UsageError(f"{source} was imported before: {path}", hint=f"orch delete {path.name} removes it")
    target = workspace.results / f"imported-{now.stamp()}-{_name_of(source)}-{secrets.token_hex(2)}"
    document = {"schema_version": SCHEMA_VERSION, "name": source.name, "sha256": digest, "imported_at": now.iso()}
    with writing(workspace.results, "try again"):
        workspace.results.mkdir(parents=True, exist_ok=True)
        coming = workspace.results / f"{_COMING}{secrets.token_hex(8)}"
        coming.mkdir()
        try:
            (coming / _ORIGINAL).write_bytes(content)
            with whole_file(coming / NAME) as partial:
                partial.write_text(
                    json.dumps({**document, **_said(found)}, ensure_ascii=False) + "\n", encoding="utf-8"
                )
            coming.rename(target)
        finally:
            shutil.rmtree(coming, ignore_errors=True)
    return target, found


def read_record(folder: Path) -> RunRecord:
    """What the index keeps of an imported file; a record that says why where it cannot be read."""
    try:
        return _record(folder, _document(folder))
    except (ValueError, KeyError, TypeError, OSError) as error:
        return RunRecord(id=folder.name, kind="imported", trouble=f"{NAME} cannot be read: {error}")


def _record(folder: Path, document: dict[str, Any]) -> RunRecord:
    if document.get("schema_version") != SCHEMA_VERSION:
        raise ValueError("it is of another version")
    groups = [(str(of["protocol"]), str(of["operation"]), _numbers(of["latencies_ns"])) for of in document["groups"]]
    used = sum(len(latencies) for _, _, latencies in groups)
    return RunRecord(
        id=folder.name,
        kind="imported",
        name=str(document["name"]),
        started=str(document["first"]),
        ended=str(document["last"]),
        state=IMPORTED,
        verdict=str(document["said"]),
        samples=used,
        cells=tuple(_cell(folder.name, *group) for group in groups),
    )


def _cell(run: str, protocol: str, operation: str, latencies: list[int]) -> CellRecord:
    label = ", ".join(part for part in (protocol, operation) if part) or "all entries"
    return CellRecord(
        cell=label,
        label=label,
        stack=protocol,
        stack_label=protocol or "not said",
        operation=operation,
        placement="",
        connection="",
        concurrency=None,
        rate=None,
        factors={},
        measures=f"{run}: {label}",
        median=percentile(latencies, 0.5),
        p99=percentile(latencies, 0.99),
        requests=len(latencies),
    )


def percentile(latencies_ns: list[int], share: float) -> float | None:
    """By rank, in ms; None with fewer than ten latencies beyond it, but for the median.

    >>> percentile([3_000_000, 1_000_000, 2_000_000], 0.5), percentile([1] * 999, 0.99)
    (2.0, None)
    """
    beyond = len(latencies_ns) * (1 - share)
    if not latencies_ns or (share > 0.5 and round(beyond, 6) < _FEWEST_BEYOND):
        return None
    return sorted(latencies_ns)[math.ceil(share * len(latencies_ns)) - 1] / 1e6


def sentence(found: Stamps) -> str:
    """What was read of a file, and what was not, in words."""
    parts = [
        f"{found.used:,} of {found.entries:,} entries give a latency ({found.keys[1]} - {found.keys[0]}, {found.unit})"
    ]
    if found.missing:
        parts.append(f"{found.missing:,} {'lacks' if found.missing == 1 else 'lack'} a stamp")
    parts += [f"{count:,} refused: {why}" for why, count in found.impossible.items()]
    if TOO_COARSE in found.impossible:
        parts.append("the quickest are missing, so medians are too long")
    return "; ".join(parts)


def _said(found: Stamps) -> dict[str, Any]:
    return {
        "said": sentence(found),
        **found.counted(),
        "first": _iso(found.first_ns),
        "last": _iso(found.last_ns),
        "groups": [_group(group) for group in found.groups],
    }


def _group(group: Group) -> dict[str, Any]:
    return {"protocol": group.protocol, "operation": group.operation, "latencies_ns": group.latencies_ns}


def _document(folder: Path) -> dict[str, Any]:
    document = read_json(folder / NAME, 2 * MOST_BYTES)
    if not isinstance(document, dict):
        raise ValueError("it is no object")
    return document


def _digest_in(folder: Path) -> object:
    try:
        return _document(folder).get("sha256")
    except (ValueError, OSError):
        return None


def _numbers(values: Any) -> list[int]:
    if not isinstance(values, list) or not all(type(value) is int and value > 0 for value in values):
        raise ValueError("its latencies are no numbers above zero")
    return values


def _iso(moment_ns: int | None) -> str:
    at = 0 if moment_ns is None else moment_ns
    return clock.Clock(wall_ns=lambda: at, monotonic_s=lambda: 0.0).iso()


def _name_of(source: Path) -> str:
    """A file's name as it can stand in a folder's."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char == "_") else "-" for char in source.stem)
    return kept[:60].strip("-") or "stamps"
