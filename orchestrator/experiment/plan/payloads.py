"""What operations carry: payloads and mixes multiplied out of the file, and the files that requesters need."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import product
from math import gcd, prod
from pathlib import Path
from typing import Any

from orchestrator.catalogue.read import catalogue
from orchestrator.disk import whole_file, writing
from orchestrator.errors import UsageError
from orchestrator.experiment.model.experiment import MixedSpec, MixOptions, OperationSpec
from orchestrator.experiment.model.loader import Located, Steps
from orchestrator.experiment.model.options import (
    EchoOptions,
    EventsOptions,
    EvolutionOptions,
    ExchangeOptions,
    ImageOptions,
    PlainOptions,
    StreamOptions,
    TransferOptions,
)
from orchestrator.experiment.plan.plan import Content, Mixed, Operation, PayloadFile, Plan, kind_of
from orchestrator.experiment.read.fields import MOST_ITEMS
from orchestrator.experiment.read.json_payload import read_payload, refuse_outside
from orchestrator.experiment.read.units import format_rate, format_size
from orchestrator.files import UnreadableFile, read_file, sha256_of
from services.python.contract.limits import MAX_PAYLOAD_BYTES, SCHEMA_CHANGES
from services.python.operations.picture import SMALLEST as SMALLEST_PICTURE
from services.python.operations.picture import picture

GENERATED = "image: generated"

_INTEGER_BYTES = 8
_RECORD_BYTES = 90  # a record of `services.python.operations.echo.records` as JSON, on average
_IMAGE_BYTES = 1_580_000
_ECHO_BYTES = _TRANSFER_BYTES = _EVENT_BYTES = 100
_EVOLUTION_RECORDS = 20
_QUERY_BYTES = 30  # of a count and a seed, as JSON
_EVENTS_PER_S = 100.0
_SUBSCRIPTION_BYTES = 60  # as JSON, like the rest of an event

# Of a field whose content nobody chose; a text is a stamp: ISO 8601 with microseconds and its offset.
_FIELD_BYTES = {
    "text": 32,
    "integer": _INTEGER_BYTES,
    "long": 8,
    "number": 8,
    "flag": 1,
    **dict.fromkeys(("bytes", "records", "document"), _ECHO_BYTES),
    "accounts": 50 * 50,  # rows, and bytes of each as JSON
    "transactions": 10 * 50,
    "posts": 10 * 400,
    "comments": 30 * 160,
}


@dataclass(frozen=True, kw_only=True)
class PlannedOperation:
    """One operation with one payload, the file it needs, and its item of the experiment."""

    operation: Operation
    file: PayloadFile | None = None
    item: int = 0


def resolve_operations(located: Located) -> tuple[PlannedOperation, ...]:
    """Every operation and payload of the experiment; the user's files are read, pictures are not made yet."""
    questions: dict[str, PlannedOperation] = {}
    for item, spec in enumerate(located.experiment.operations):
        tasks = spec.options.calls if isinstance(spec.options, PlainOptions) else (1,)
        for planned, calls in product(_payloads(located, item, spec), tasks):
            operation, file = planned.operation.in_task(calls), planned.file
            if operation.id in questions:
                located.add(("operations", item), f"operation '{operation.label}' is given twice.")
            if file is not None:
                file = replace(file, operation=operation.id)
            questions.setdefault(operation.id, replace(planned, operation=operation, file=file))
    return tuple(questions.values())


def with_digest(planned: PlannedOperation) -> PlannedOperation:
    """The same with the SHA-256 of its picture, where it has one: it is made now, once per size."""
    if planned.file is None or planned.file.source != GENERATED:
        return planned
    digest = _picture_digest(planned.file.bytes)
    operation = replace(planned.operation, payload={**planned.operation.payload, "sha256": digest})
    return replace(planned, operation=operation, file=replace(planned.file, sha256=digest))


@cache
def _picture_digest(size: int) -> str:
    return hashlib.sha256(picture(size)).hexdigest()


def _payloads(
    located: Located, item: int, spec: OperationSpec | MixedSpec, path: Steps = ()
) -> Iterator[PlannedOperation]:
    """`path`: where the operation is in the file, unless at the item's own place."""
    path = path or ("operations", item, spec.name)
    operations: Iterable[Operation | PlannedOperation]
    match options := spec.options:
        case EchoOptions(json_file=str(given)):
            operations = _own_json(located, path, given)
        case EchoOptions():
            operations = _echoes(options)
        case ExchangeOptions():
            operations = _exchange(located, path, spec.names[0], options)
        case ImageOptions():
            operations = _images(located, path, options)
        case MixOptions():
            operations = _mixes(located, item, options)
        case TransferOptions():
            operations = _transfers(options)
        case EvolutionOptions():
            operations = _evolutions(options)
        case StreamOptions():
            operations = _streams(spec.name, options)
        case _:
            operations = [_without_payload(spec.name)]
    for operation in operations:
        planned = operation if isinstance(operation, PlannedOperation) else PlannedOperation(operation=operation)
        yield replace(planned, item=item)


def _without_payload(name: str) -> Operation:
    offered = catalogue().operations[name]
    sent, returned = (sum(map(_FIELD_BYTES.__getitem__, each.values())) for each in (offered.request, offered.reply))
    made_of = tuple(offered.made_of)
    return Operation(id=name, name=name, label=name, request_bytes=sent, reply_bytes=returned, made_of=made_of)


def _document(located: Located, path: Steps, given: str) -> tuple[bytes, str] | None:
    """A JSON file of the user's and its place below the experiment's folder; None where that is noted."""
    try:
        document = read_payload(located.folder, given)
    except ValueError as error:
        located.add(path, str(error))
        return None
    return document, str((located.folder / given).resolve().relative_to(located.folder.resolve()))


def _exchange(located: Located, path: Steps, kind: str, options: ExchangeOptions) -> Iterator[PlannedOperation]:
    sent = _document(located, (*path, "request"), options.request)
    returned = _document(located, (*path, "reply"), options.reply)
    if sent is None or returned is None:
        return
    (request, source), (reply, of_reply) = sent, returned
    names = [Path(options.request), Path(options.reply)]
    name = "-".join(_slug(file.stem) for file in names)
    file = _file(f"exchange-{name}", name, joined(request, reply), source, of_reply)
    payload = {"kind": "documents", "sha256": file.sha256}
    label = f"{names[0].name}, reply {names[1].name}"
    operation = _operation("exchange", name, label, payload, len(request), len(reply))
    yield PlannedOperation(operation=replace(operation, name=kind), file=file)


def _operation(name: str, suffix: str, label: str, payload: dict[str, Any], sent: int, returned: int) -> Operation:
    return Operation(
        id=f"{name}-{suffix}",
        name=name,
        label=f"{name} {label}",
        payload=payload,
        request_bytes=sent,
        reply_bytes=returned,
    )


def _file(operation: str, name: str, content: bytes, source: str, reply: str = "") -> PayloadFile:
    digest, size = hashlib.sha256(content).hexdigest(), len(content)
    return PayloadFile(operation=operation, name=f"{name}.json", sha256=digest, bytes=size, source=source, reply=reply)


def joined(request: bytes, reply: bytes) -> bytes:
    """Return the JSON file that holds both documents of an exchange."""
    return b'{"request": %b, "reply": %b}' % (request.strip(), reply.strip())


def _own_json(located: Located, path: Steps, given: str) -> Iterator[PlannedOperation]:
    if (side := _document(located, (*path, "json"), given)) is None:
        return
    document, source = side
    name = _slug(Path(given).stem)
    file = _file(f"echo-{name}", name, document, source)
    payload = {"kind": "json", "sha256": file.sha256}
    operation = _operation("echo", name, Path(given).name, payload, file.bytes, file.bytes)
    yield PlannedOperation(operation=operation, file=file)


def _records(count: int) -> str:
    return f"{count:,} record{'s' if count > 1 else ''}"


def _echoes(options: EchoOptions) -> Iterator[Operation]:
    for count in options.records or ():
        payload, size = {"kind": "records", "count": count}, count * _RECORD_BYTES
        yield _operation("echo", f"{count}-records", _records(count), payload, size, size)
    for size in options.bytes or (() if options.records else (_ECHO_BYTES,)):
        text = format_size(size)
        yield _operation("echo", _slug(text), text, {"kind": "bytes", "size": size}, size, size)


def _transfers(options: TransferOptions) -> Iterator[Operation]:
    for size, reply_size in product(options.request or (_TRANSFER_BYTES,), options.reply or (_TRANSFER_BYTES,)):
        sent, returned = format_size(size), format_size(reply_size)
        suffix, label = f"{_slug(sent)}-{_slug(returned)}", f"{sent}, reply {returned}"
        payload = {"kind": "transfer", "size": size, "reply_size": reply_size}
        yield _operation("transfer", suffix, label, payload, size, reply_size)


def _streams(name: str, options: StreamOptions) -> Iterator[Operation]:
    """Streams of events: synthetic ones have a size that the file chooses, others that of their fields."""
    fields = sum(_FIELD_BYTES[kind] for kind in catalogue().operations[name].reply.values())
    sizes = (options.bytes or (_EVENT_BYTES,)) if isinstance(options, EventsOptions) else (None,)
    for per_second, size in product(options.per_second or (_EVENTS_PER_S,), sizes):
        rate, given = format_rate(per_second), "" if size is None else format_size(size)
        suffix = f"{_slug(rate.removesuffix('/s'))}-per-s{given and f'-{_slug(given)}'}"
        payload = {"kind": "events", **({} if size is None else {"size": size}), "per_second": per_second}
        returned = (fields if size is None else size) + _SUBSCRIPTION_BYTES  # one subscription for all of them
        yield _operation(name, suffix, f"{rate}{given and f', {given}'}", payload, 0, returned)


def _evolutions(options: EvolutionOptions) -> Iterator[Operation]:
    for count, change in product(options.records or (_EVOLUTION_RECORDS,), options.schema_change or SCHEMA_CHANGES):
        suffix, label = f"{count}-records-{change}", f"{_records(count)}, schema change: {change}"
        payload = {"kind": "evolution", "count": count, "schema_change": change}
        yield _operation("evolution", suffix, label, payload, _QUERY_BYTES, count * _RECORD_BYTES)


def _images(located: Located, path: Steps, options: ImageOptions) -> Iterator[PlannedOperation]:
    full = options.decode == "full"
    for index, size in enumerate(options.bytes or (_IMAGE_BYTES,)):
        text = format_size(size)
        if size < SMALLEST_PICTURE:
            located.add((*path, "bytes", index), f"a picture takes at least {SMALLEST_PICTURE} B; {text} is too small.")
            continue
        suffix, label = (f"{_slug(text)}-full", f"{text}, full decode") if full else (_slug(text), text)
        payload = {"kind": "image", "size": size, "sha256": "", "full_decode": full}
        operation = _operation("image", suffix, label, payload, size, 2 * _INTEGER_BYTES)
        name = f"image-{_slug(text)}.png"
        file = PayloadFile(operation=operation.id, name=name, sha256="", bytes=size, source=GENERATED)
        yield PlannedOperation(operation=operation, file=file)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower().replace(" ", "")).strip("-.") or "file"


def materialise(plan: Plan, folder: Path) -> list[Path]:
    """Make or copy every payload file of a plan into `folder`, as `<sha256[:16]>-<name>`; UsageError where one changed."""
    targets = []
    for file in plan.payload_files:
        target = folder / f"{file.sha256[:16]}-{file.name}"
        if not target.is_file() or sha256_of(target) != file.sha256:
            content = picture(file.bytes) if file.source == GENERATED else own_content(plan, file)
            if hashlib.sha256(content).hexdigest() != file.sha256:
                hint = f"plan again: orch plan {plan.experiment_path}"
                raise UsageError(f"{file.sources} has changed since the plan was made", hint=hint)
            with writing(target, "`orch run --resume`"), whole_file(target) as partial:
                partial.write_bytes(content)
        targets.append(target)
    return targets


def own_content(plan: Plan, file: PayloadFile) -> bytes:
    """Return what a payload file of the user's holds now; UsageError where that cannot be read."""
    content = _content(plan, file.source)
    return joined(content, _content(plan, file.reply)) if file.reply else content


def _content(plan: Plan, source: str) -> bytes:
    path = Path(plan.experiment_path).parent / source
    try:
        refuse_outside(path, Path(plan.experiment_path).parent)
        return read_file(path, MAX_PAYLOAD_BYTES)
    except (FileNotFoundError, UnreadableFile) as error:
        hint = f"plan again: orch plan {plan.experiment_path}"
        raise UsageError(f"{path}, a payload of the plan, cannot be read: {error}", hint=hint) from error


_PER_UNIT = 10_000  # shares have a resolution of a hundredth of a per cent


def _mixes(located: Located, item: int, options: MixOptions) -> Iterator[Operation]:
    """Every combination of the items of a mix; what cannot be mixed is noted at its place."""
    path: Steps = ("operations", item, "mix", "of")
    choices: list[list[Operation]] = []
    for place, spec in enumerate(options.of):
        fitting = []
        for planned in _payloads(located, item, spec, (*path, place, spec.name)):
            operation = planned.operation
            if planned.file is not None or kind_of(operation) != "call":
                reason = f"a mix is made of calls that orch makes up itself, and {operation.label} is none."
                located.add((*path, place), reason)
            else:
                fitting.append(operation)
        choices.append(fitting)
    labels = Counter(operation.label for fitting in choices for operation in fitting)
    weights = [round(spec.share * _PER_UNIT) for spec in options.of]
    weights = [weight // (gcd(*weights) or 1) for weight in weights]
    if twice := next((label for label, times in labels.items() if times > 1), ""):
        located.add(path, f"'{twice}' is given twice: add its shares up.")
    elif min(weights) < 1:
        located.add(path, "a share is less than 0.01 %, the smallest that is drawn.")
    elif prod(map(len, choices)) > MOST_ITEMS:
        located.add(path, f"the lists make more than {MOST_ITEMS:,} mixes. Ask less at once.")
    else:
        yield from (_mix(weights, operations) for operations in product(*choices))


def operation_names(operation: Operation) -> tuple[str, ...]:
    """Its operations, each once."""
    return tuple(dict.fromkeys(mixed.name for mixed in operation.mix)) or (operation.name,)


def payloads_of(operation: Operation) -> tuple[Mapping[str, Any], ...]:
    """What they carry."""
    return tuple(mixed.payload for mixed in operation.mix) or (operation.payload,)


def mix_shares(operation: Operation) -> tuple[float, ...]:
    """The share of each operation of a mix in all requests."""
    total = sum(mixed.weight for mixed in operation.mix)
    return tuple(mixed.weight / total for mixed in operation.mix)


def _mix(weights: list[int], operations: tuple[Operation, ...]) -> Operation:
    total = sum(weights)
    weighted = list(zip(weights, operations, strict=True))
    shares = [(f"{100 * weight / total:.6g}", operation) for weight, operation in weighted]
    content = [each.name for each in fields(Content)]
    return Operation(
        id="-".join(("mix", *(f"{share}-{operation.id}" for share, operation in shares))),
        name="mix",
        label=f"mix {', '.join(f'{share} % {operation.label}' for share, operation in shares)}",
        request_bytes=round(sum(weight * operation.request_bytes for weight, operation in weighted) / total),
        reply_bytes=round(sum(weight * operation.reply_bytes for weight, operation in weighted) / total),
        mix=tuple(Mixed(weight=weight, **{key: getattr(o, key) for key in content}) for weight, o in weighted),
    )
