"""What operations carry: payloads multiplied out of the file, and the files that requesters need."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import UsageError
from orchestrator.experiment.load import Located
from orchestrator.experiment.model import EchoOptions, ImageOptions, OperationSpec
from orchestrator.experiment.plan import Operation, PayloadFile, Plan
from orchestrator.experiment.tree import Key
from orchestrator.experiment.units import format_size
from services.harness.spec import MAX_PAYLOAD_BYTES
from services.operations.picture import SMALLEST as SMALLEST_PICTURE
from services.operations.picture import picture

GENERATED = "image: generated"

_STAMP_BYTES = 32  # ISO 8601 with microseconds and its offset
_INTEGER_BYTES = 8
_RECORD_BYTES = 90  # a record of `services.operations.echo.records` as JSON, on average
_IMAGE_BYTES = 1_580_000
_ECHO_BYTES = 100


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One operation with one payload, the file it needs, and which item of the experiment's list it came from."""

    operation: Operation
    file: PayloadFile | None
    item: int


def resolve_operations(located: Located) -> tuple[Asked, ...]:
    """Every operation and payload of the experiment; files are read or made to take their digests."""
    found: list[Asked] = []
    for item, spec in enumerate(located.experiment.operations):
        for asked in _expand(located, item, spec):
            if asked.operation.id in {other.operation.id for other in found}:
                located.add(("operations", item), f"operation '{asked.operation.label}' is given twice.")
            else:
                found.append(asked)
    return tuple(found)


def _expand(located: Located, item: int, spec: OperationSpec) -> Iterator[Asked]:
    options = spec.options
    path: tuple[Key, ...] = ("operations", item, spec.name)
    if isinstance(options, EchoOptions):
        yield from _echoes(located, item, path, options)
    elif isinstance(options, ImageOptions):
        yield from _images(located, item, path, options)
    else:
        sent, returned = (
            (_STAMP_BYTES, 2 * _STAMP_BYTES) if spec.name == "timestamp" else (2 * _INTEGER_BYTES, _INTEGER_BYTES)
        )
        operation = Operation(id=spec.name, name=spec.name, label=spec.name, request_bytes=sent, reply_bytes=returned)
        yield Asked(operation=operation, file=None, item=item)


def _echoes(located: Located, item: int, path: tuple[Key, ...], options: EchoOptions) -> Iterator[Asked]:
    if options.json_file is not None:
        content = _read_json(located, (*path, "json"), options.json_file)
        if content is not None:
            name = _slug(Path(options.json_file).stem)
            digest = hashlib.sha256(content).hexdigest()
            file = PayloadFile(
                operation=f"echo-{name}",
                name=f"{name}.json",
                sha256=digest,
                bytes=len(content),
                source=options.json_file,
            )
            payload: dict[str, Any] = {"kind": "json", "sha256": digest}
            yield Asked(
                operation=_echo(name, Path(options.json_file).name, payload, len(content)), file=file, item=item
            )
    elif options.records is not None:
        for count in options.records:
            label = f"{count:,} record{'s' if count > 1 else ''}"
            payload = {"kind": "records", "count": count}
            yield Asked(
                operation=_echo(f"{count}-records", label, payload, count * _RECORD_BYTES), file=None, item=item
            )
    else:
        for size in options.bytes or (_ECHO_BYTES,):
            payload = {"kind": "bytes", "size": size}
            yield Asked(
                operation=_echo(_slug(format_size(size)), format_size(size), payload, size), file=None, item=item
            )


def _echo(suffix: str, label: str, payload: dict[str, Any], size: int) -> Operation:
    return Operation(
        id=f"echo-{suffix}", name="echo", label=f"echo {label}", payload=payload, request_bytes=size, reply_bytes=size
    )


def _images(located: Located, item: int, path: tuple[Key, ...], options: ImageOptions) -> Iterator[Asked]:
    for index, size in enumerate(options.bytes or (_IMAGE_BYTES,)):
        if size < SMALLEST_PICTURE:
            located.add(
                (*path, "bytes", index),
                f"a picture has at least {SMALLEST_PICTURE} B; {format_size(size)} is too small.",
            )
            continue
        full = options.decode == "full"
        identity = f"image-{_slug(format_size(size))}{'-full' if full else ''}"
        name = f"image-{_slug(format_size(size))}.png"
        digest = hashlib.sha256(picture(size)).hexdigest()
        operation = Operation(
            id=identity,
            name="image",
            label=f"image {format_size(size)}{', full decode' if full else ''}",
            payload={"kind": "image", "size": size, "sha256": digest, "full_decode": full},
            request_bytes=size,
            reply_bytes=2 * _INTEGER_BYTES,
        )
        file = PayloadFile(operation=identity, name=name, sha256=digest, bytes=size, source=GENERATED)
        yield Asked(operation=operation, file=file, item=item)


def _read_json(located: Located, path: Sequence[Key], name: str) -> bytes | None:
    file = located.folder / name
    try:
        content = _read_limited(file)
        json.loads(content, parse_constant=_refuse_constant)
    except FileNotFoundError:
        located.add(path, f"there is no file {file}; paths are relative to the experiment file.")
    except OSError as error:
        located.add(path, f"{file} cannot be read: {error.strerror}.")
    except _TooLarge:
        located.add(path, f"{file} is larger than {format_size(MAX_PAYLOAD_BYTES)}, the largest payload.")
    except json.JSONDecodeError as error:
        located.add(path, f"{file}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}.")
    except RecursionError:
        located.add(path, f"{file} is nested too deep to be read.")
    except (_NotAFile, UnicodeDecodeError, _NotANumber) as error:
        located.add(path, f"{file} is not JSON: {error}.")
    else:
        return content
    return None


def _refuse_constant(name: str) -> None:
    raise _NotANumber(f"it holds {name}, which JSON has no word for (RFC 8259)")


class _NotANumber(Exception):
    """NaN or an infinity, which Python reads and most others refuse."""


class _NotAFile(Exception):
    """A pipe or a device, which may never end."""


class _TooLarge(Exception):
    """A payload file above the limit."""


def _read_limited(file: Path) -> bytes:
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise _NotAFile("it is a pipe or a device, no file")
    with file.open("rb") as opened:
        content = opened.read(MAX_PAYLOAD_BYTES + 1)
    if len(content) > MAX_PAYLOAD_BYTES:
        raise _TooLarge
    return content


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower().replace(" ", "")).strip("-.") or "file"


def payload_path(plan: Plan, file: PayloadFile) -> Path:
    """Where a payload file of the user's stands; meaningless for generated ones."""
    return Path(plan.experiment_path).parent / file.source


def materialise(plan: Plan, folder: Path) -> list[Path]:
    """Make or copy every payload file of a plan into `folder`, as `<sha256[:16]>-<name>`, and check its digest.

    In the order of `plan.payload_files`; files that are there already are kept. UsageError when a file of the user's is
    gone or has changed since the plan was made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for file in plan.payload_files:
        target = folder / f"{file.sha256[:16]}-{file.name}"
        if not target.exists():
            content = picture(file.bytes) if file.source == GENERATED else _read_again(plan, file)
            if hashlib.sha256(content).hexdigest() != file.sha256:
                raise UsageError(
                    f"{file.source} is not what it was when the plan was made",
                    hint=f"plan again: orch plan {plan.experiment_path}",
                )
            partial = target.with_suffix(".partial")
            partial.write_bytes(content)
            partial.replace(target)
        made.append(target)
    return made


def _read_again(plan: Plan, file: PayloadFile) -> bytes:
    path = payload_path(plan, file)
    try:
        return _read_limited(path)
    except (OSError, _TooLarge) as error:
        raise UsageError(
            f"{path}, a payload of the plan, cannot be read: {error}",
            hint=f"plan again: orch plan {plan.experiment_path}",
        ) from error
