"""Reads a plan that may come from elsewhere: its shape, its ranges, and that its parts belong together."""

from __future__ import annotations

import re
import socket
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Literal

from orchestrator.experiment.model import factors
from orchestrator.experiment.model.address import is_askable, is_loopback, parse_address
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.goal import ERRORS, SHARES
from orchestrator.experiment.model.host_rules import MOST_INITIAL_WINDOW, MOST_RTT_S
from orchestrator.experiment.model.options import LONGEST_S, MAX_CONCURRENCY, MOST_PER_S, MOST_PROBES, MOST_RECORDS
from orchestrator.experiment.model.prediction import LEAST, MOST
from orchestrator.experiment.model.repeats import FEWEST
from orchestrator.experiment.plan.alone import NOBODY, refusal_of_load
from orchestrator.experiment.plan.cell_ids import cell_id
from orchestrator.experiment.plan.databases import has_no_driver
from orchestrator.experiment.plan.estimate import round_trip_s
from orchestrator.experiment.plan.external import is_elsewhere, several_distances
from orchestrator.experiment.plan.find import Find
from orchestrator.experiment.plan.mixed import Mixed
from orchestrator.experiment.plan.mixes import PER_UNIT
from orchestrator.experiment.plan.payloads import GENERATED
from orchestrator.experiment.plan.plan import (
    SCHEMA_VERSION,
    Cell,
    External,
    Link,
    Operation,
    PayloadFile,
    Plan,
    Shape,
    kind_of,
)
from orchestrator.experiment.plan.processes import FACTOR as PROCESSES
from orchestrator.experiment.plan.requesters import refusal_of_shares
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.experiment.plan.series import by_series, seal_all
from orchestrator.experiment.plan.timing_rules import refusal as refusal_of_timing_rules
from orchestrator.experiment.plan.timing_rules import strange_in as strange_timing_rules
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.shapes import decode
from services.python.contract.limits import MAX_PAYLOAD_BYTES, MOST_CALLS
from services.python.contract.lines import Load, Payload, Warmup
from services.python.contract.strict import decode as decode_part
from services.python.contract.timing_rules import TIMING_RULES

_ID = re.compile("[A-Za-z0-9][A-Za-z0-9._-]*")  # safe in a path
_MOST_SEED = 2**53 - 1  # as every reader of JSON keeps it
# What a plan says of each kind of payload; where its file lies is known when it has been copied there.
_PAYLOAD_KEYS = {
    "none": {"kind"},
    "bytes": {"kind", "size"},
    "records": {"kind", "count"},
    "json": {"kind", "sha256"},
    "image": {"kind", "size", "sha256", "full_decode"},
    "events": {"kind", "size", "per_second"},
    "transfer": {"kind", "size", "reply_size"},
    "evolution": {"kind", "count", "schema_change"},
}
_SHA256 = re.compile("[0-9a-f]{64}")
_FILE_NAME = re.compile("[a-z0-9][a-z0-9.-]{0,250}")  # as `payloads` makes them: no folder, nothing hidden
_RATES_MBIT = (1e-30, 1e9)  # less would take longer than a number can say
_FEWEST_MIXED = 2
_MOST_OF_A_LABEL = 5_000  # letters: far more than the names of files and hosts that labels are made of
_MARGIN = (0.001, 1.0)  # as `units.parse_margin`


@dataclass(frozen=True, kw_only=True)
class _OwnWork:
    """Work of a stack that is not its protocol's."""

    name: str = ""
    adds: str = ""
    without: str = ""
    omits: str = ""


@dataclass(frozen=True, kw_only=True)
class _Resolved:
    """What was resolved for a stack at plan time; other keys are only shown."""

    own_work: tuple[_OwnWork, ...] = ()
    parts: dict[str, str] | None = None
    documents: Literal["typed", "value"] | None = None
    round_trips_to_open: int = 1
    fields: str | None = None
    native: bool = False
    versions: dict[str, str] | None = None
    settings: dict[str, Any] | None = None
    languages: dict[str, str] | None = None


def read_plan(raw: Any) -> Plan:
    """The plan in a JSON document; ValueError names the place that is not as `orch plan` writes it."""
    plan: Plan = decode(Plan, raw)
    require(plan.schema_version == SCHEMA_VERSION, "schema_version", plan.schema_version)
    require(_MARGIN[0] <= plan.matters <= _MARGIN[1], "matters", plan.matters)
    require(plan.repeats >= 1, "repeats", plan.repeats)
    if plan.until is not None:
        require(_MARGIN[0] <= plan.until.within <= _MARGIN[1], "until.within", plan.until.within)
        require(plan.until.at_most == plan.repeats, "until.at_most", plan.until.at_most)
        require(FEWEST <= plan.until.at_least < plan.repeats, "until.at_least", plan.until.at_least)
        require(all(cell.find is None for cell in plan.cells), "until", plan.until)
    require(0 <= plan.seed <= _MOST_SEED, "seed", plan.seed)
    stacks, operations, placements, cells = (
        _by_id(name, getattr(plan, name)) for name in ("stacks", "operations", "placements", "cells")
    )
    for name, key in (("stacks", "label"), ("operations", "label"), ("placements", "name")):
        for number, part in enumerate(getattr(plan, name)):
            text = getattr(part, key)
            require(len(text) <= _MOST_OF_A_LABEL, f"{name}.{number}.{key}", text)
    for number, stack in enumerate(plan.stacks):
        require(stack.control_of is None or stack.control_of in stacks, f"stacks.{number}.control_of", stack.control_of)
        if stack.external is not None:
            _require_external(f"stacks.{number}.external", plan, stack.external)
    _require_one_distance(plan)
    for number, placement in enumerate(plan.placements):
        _require_link(f"placements.{number}.link", placement.link)
    _require_payloads(plan, operations)
    require(plan.reference is None or plan.reference in stacks, "reference", plan.reference)
    for number, operation in enumerate(plan.operations):
        require(1 <= operation.calls <= MOST_CALLS, f"operations.{number}.calls", operation.calls)
        once = replace(
            operation, id=operation.id.removesuffix(f"-{operation.calls}-calls"), label=operation.asked, calls=1
        )
        for name in ("id", "label"):
            expected = getattr(once.in_task(operation.calls), name) if operation.calls > 1 else getattr(operation, name)
            require(getattr(operation, name) == expected, f"operations.{number}.{name}", getattr(operation, name))
    _require_contrasts(plan, stacks)
    for number, operation in enumerate(plan.operations):
        _require_shape(f"operations.{number}.shape", operation.shape)
    for number, cell in enumerate(plan.cells):
        parts: dict[str, Any] = {}
        for name, known in (("stack", stacks), ("operation", operations), ("placement", placements)):
            require(getattr(cell, name) in known, f"cells.{number}.{name}", getattr(cell, name))
            parts[name] = known[getattr(cell, name)]
        _require_factors(f"cells.{number}.factors", cell, parts)
        is_codec = parts["stack"].responder == NOBODY
        expected = "codec" if is_codec else kind_of(parts["operation"], cell.factors)
        require(cell.kind == expected, f"cells.{number}.kind", cell.kind)
        require(cell.mixed == len(parts["operation"].mix), f"cells.{number}.mixed", cell.mixed)
        require(is_codec or expected != "codec", f"cells.{number}.kind", cell.kind)
        require(cell.kind != "stream" or cell.load.duration_s is not None, f"cells.{number}.load.duration_s", None)
        require(0 < cell.timeout_s <= LONGEST_S, f"cells.{number}.timeout_s", cell.timeout_s)
        _require_of_the_contract(f"cells.{number}.load", Load, vars(cell.load))
        _require_of_the_contract(f"cells.{number}.warmup", Warmup, vars(cell.warmup))
        is_possible = 1 <= cell.load.concurrency <= MAX_CONCURRENCY
        require(is_possible, f"cells.{number}.load.concurrency", cell.load.concurrency)
        require((cell.find is None) == (plan.cells[0].find is None), f"cells.{number}.find", cell.find)
        if cell.find is not None:
            _require_search(f"cells.{number}.find", cell, cell.find)
        if is_codec:
            require(refusal_of_load(cell.load, cell.calls) is None, f"cells.{number}.load", cell.load)
        refused = refusal_of_shares(cell.factors, cell.load, cell.kind)
        require(refused is None, f"cells.{number}.factors.{PROCESSES}", refused)
        refused = refusal_of_timing_rules(
            parts["operation"], cell.factors, cell.load, cell.warmup, is_search=cell.find is not None
        )
        require(refused is None, f"cells.{number}.factors.{TIMING_RULES}", refused)
        for name in ("requests", "duration_s", "rate_per_s"):
            value = getattr(cell.load, name)
            require(value is None or value > 0, f"cells.{number}.load.{name}", value)
        has_no_rest = cell.load.rate_per_s is not None or cell.kind in ("stream", "codec")
        require(not (has_no_rest and cell.load.think_s), f"cells.{number}.load.think_s", cell.load.think_s)
        expected = cell_id(
            stack=cell.stack,
            operation=cell.operation,
            placement=cell.placement,
            values=cell.factors,
            load=cell.load,
            find=cell.find,
        )
        require(cell.id == expected, f"cells.{number}.id", cell.id)
    if (strange := strange_timing_rules(plan)) is not None:
        require(False, *strange)
    require(plan.hold_out == 0 or LEAST <= plan.hold_out <= MOST, "hold_out", plan.hold_out)
    require(bool(plan.sealed) == (plan.hold_out > 0), "sealed", plan.sealed)
    require(len(plan.trials) > 0, "trials", "none")
    for number, trial in enumerate(plan.trials):
        require(trial.cell in cells, f"trials.{number}.cell", trial.cell)
        require(trial.index == number, f"trials.{number}.index", trial.index)
        require(0 <= trial.block < plan.blocks, f"trials.{number}.block", trial.block)
        require(0 <= trial.seed <= _MOST_SEED, f"trials.{number}.seed", trial.seed)
    if plan.hold_out:
        _require_sealed(plan)
    for name, resolved in plan.resolved.items():
        _shaped(f"resolved.{name}", resolved)
    return plan


def _require_sealed(plan: Plan) -> None:
    """ValueError unless the seed that chooses the sealed cells is the one that put the trials in order.

    Whoever seals other cells once all are measured must find a seed for them, and the order of the trials has another one.
    """
    require(all(cell.find is None for cell in plan.cells), "hold_out", plan.hold_out)
    rtts_s = {placement.id: round_trip_s(placement) for placement in plan.placements}
    series = by_series(plan.cells, plan.stacks, plan.operations, plan.placements, rtts_s)
    if plan.sealed != seal_all(series, plan.hold_out, plan.seed):
        raise ValueError("sealed: these are not the cells that the plan's seed chooses")
    is_so_many = len(plan.trials) == len(plan.cells) * plan.repeats
    if not is_so_many or plan.trials != schedule(plan.cells, plan.repeats, plan.seed):
        raise ValueError(
            "trials: they are not in the order that the plan's seed gives, by which cells were sealed, too"
        )


def _require_search(place: str, cell: Cell, find: Find) -> None:
    """ValueError unless it is a search that a plan can have."""
    require(cell.kind in ("call", "task"), f"{place}", cell.kind)
    require(len(find.goals) > 0, f"{place}.goals", "none")
    for number, goal in enumerate(find.goals):
        require(goal.statistic in (*SHARES, ERRORS), f"{place}.goals.{number}.statistic", goal.statistic)
        require(0 < goal.below <= LONGEST_S, f"{place}.goals.{number}.below", goal.below)
    require(0 < find.lowest < find.highest <= MOST_PER_S, f"{place}.lowest", find.lowest)
    require(1 <= find.steps <= 2**MOST_PROBES - 2, f"{place}.steps", find.steps)
    require(cell.load.rate_per_s == find.highest, f"{place}.highest", find.highest)
    require(cell.load.duration_s is not None and cell.load.requests is None, f"{place}.load", cell.load)
    is_possible = find.concurrency is None or 1 <= find.concurrency <= MAX_CONCURRENCY
    require(is_possible, f"{place}.concurrency", find.concurrency)


def _require_shape(place: str, shape: Shape | None) -> None:
    if shape is not None:
        is_digest = not shape.proto_sha256 or _SHA256.fullmatch(shape.proto_sha256) is not None
        require(is_digest, f"{place}.proto_sha256", shape.proto_sha256)
        require(0 <= shape.typed <= shape.values, f"{place}.typed", shape.typed)


def _require_external(place: str, plan: Plan, external: External) -> None:
    """ValueError unless it is one address, of a run on this machine."""
    require(not PROVIDERS[plan.provider].makes_hosts, "provider", plan.provider)
    require(is_askable(external.host), f"{place}.host", external.host)
    given = f"{external.given}:{external.port}"
    try:
        parse_address(given)
    except ValueError:
        require(False, place, given)
    try:
        stands_for = socket.inet_ntoa(socket.inet_aton(external.given))  # an address in figures stands for itself alone
    except OSError:
        is_here = external.given.lower() != "localhost" or is_loopback(external.host)
        require(is_here, f"{place}.host", external.host)
    else:
        require(external.host == stands_for, f"{place}.host", external.host)


def _require_link(place: str, link: Link) -> None:
    """ValueError unless a link was asked for what an experiment may ask."""
    most_ms = MOST_RTT_S * 1000
    require(link.rtt_ms is None or 0 <= link.rtt_ms <= most_ms, f"{place}.rtt_ms", link.rtt_ms)
    require(0 <= link.jitter_ms <= most_ms, f"{place}.jitter_ms", link.jitter_ms)
    is_rate = link.rate_mbit is None or _RATES_MBIT[0] <= link.rate_mbit <= _RATES_MBIT[1]
    require(is_rate, f"{place}.rate_mbit", link.rate_mbit)
    require(0 <= link.loss < 1, f"{place}.loss", link.loss)
    is_window = link.initial_window is None or 1 <= link.initial_window <= MOST_INITIAL_WINDOW
    require(is_window, f"{place}.initial_window", link.initial_window)


def _require_one_distance(plan: Plan) -> None:
    """ValueError unless all stacks answer from one machine, where the placements say they do."""
    for number, reason in several_distances([stack.external for stack in plan.stacks]):
        raise ValueError(f"stacks.{number}.external: {reason}")
    is_away = is_elsewhere(stack.external for stack in plan.stacks if stack.external is not None)
    require(not is_away or len(plan.placements) == 1, "placements", len(plan.placements))
    for number, placement in enumerate(plan.placements):
        require((placement.kind == "external") == is_away, f"placements.{number}.kind", placement.kind)


def _require_payloads(plan: Plan, operations: Container[str]) -> None:
    """ValueError unless every payload is one that plans have, and its file, if it needs one, is among the plan's."""
    files: dict[str, PayloadFile] = {}
    for number, file in enumerate(plan.payload_files):
        place = f"payload_files.{number}"
        require(file.operation in operations and file.operation not in files, f"{place}.operation", file.operation)
        require(_FILE_NAME.fullmatch(file.name) is not None, f"{place}.name", file.name)
        require(_SHA256.fullmatch(file.sha256) is not None, f"{place}.sha256", file.sha256)
        require(0 <= file.bytes <= MAX_PAYLOAD_BYTES, f"{place}.bytes", file.bytes)
        require(file.source == GENERATED or _is_within(file.source), f"{place}.source", file.source)
        files[file.operation] = file
    for number, operation in enumerate(plan.operations):
        _require_payload(f"operations.{number}.payload", operation, files.get(operation.id))
        for of, mixed in enumerate(operation.mix):
            _require_mixed(f"operations.{number}.mix.{of}", mixed)
        is_mix = (
            len(operation.mix) >= _FEWEST_MIXED and operation.calls == 1 if operation.mix else operation.name != "mix"
        )
        require(is_mix, f"operations.{number}.mix", len(operation.mix))


def _require_payload(place: str, operation: Operation, file: PayloadFile | None) -> None:
    payload = _require_of_the_contract(place, Payload, operation.payload)
    require(payload.kind in _PAYLOAD_KEYS, f"{place}.kind", payload.kind)
    for key, value in operation.payload.items():
        require(key in _PAYLOAD_KEYS[payload.kind], f"{place}.{key}", value)
    require(payload.size <= MAX_PAYLOAD_BYTES, f"{place}.size", payload.size)
    require(payload.reply_size <= MAX_PAYLOAD_BYTES, f"{place}.reply_size", payload.reply_size)
    require(payload.count <= MOST_RECORDS, f"{place}.count", payload.count)
    needs_file = payload.kind in ("json", "image")
    require((file is not None) == needs_file, f"{place}.kind", payload.kind)
    if file is not None:
        require(payload.sha256 == file.sha256, f"{place}.sha256", payload.sha256)
        is_picture = payload.kind == "image"
        require((file.source == GENERATED) == is_picture, f"{place}.kind", payload.kind)
        require(not is_picture or payload.size == file.bytes, f"{place}.size", payload.size)


def _require_mixed(place: str, mixed: Mixed) -> None:
    """ValueError unless an operation of a mix is a call that needs no file."""
    require(1 <= mixed.weight <= PER_UNIT, f"{place}.weight", mixed.weight)
    alone = Operation(id=mixed.name, name=mixed.name, label=mixed.label, payload=mixed.payload)
    require(kind_of(alone) == "call", f"{place}.payload.kind", mixed.payload.get("kind"))
    _require_payload(f"{place}.payload", alone, None)


def _is_within(source: str) -> bool:
    """Whether it is a file's path within a folder, as far as its text tells; links are followed when it is read."""
    path = PurePosixPath(source)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in source


def _require_of_the_contract(place: str, kind: type[Any], raw: object) -> Any:
    try:
        return decode_part(kind, raw)
    except ValueError as error:
        raise ValueError(f"{place}.{error}") from error


def _require_factors(place: str, cell: Cell, parts: dict[str, Any]) -> None:
    """ValueError unless a cell's factors are those of its parts, and those of its call have one of their values."""
    expected = factors.values(**parts, load=cell.load, call=cell.factors)
    require(cell.factors.keys() == expected.keys(), place, sorted(cell.factors.keys() ^ expected.keys()))
    for name, value in expected.items():
        require(cell.factors[name] == value, f"{place}.{name}", cell.factors[name])
    for factor in factors.OF_THE_CALL:
        value = cell.factors[factor.name]
        is_none = value is None and (cell.kind == "codec" or has_no_driver(factor.name, cell.factors))
        require(is_none or (cell.kind != "codec" and factor.takes(value)), f"{place}.{factor.name}", value)


def _require_contrasts(plan: Plan, stacks: Container[Value]) -> None:
    """ValueError unless each contrast is by something that cells can differ in, to values that cells have."""
    require(len(plan.contrasts) > 0, "contrasts", "none")
    for number, contrast in enumerate(plan.contrasts):
        place = f"contrasts.{number}"
        require(contrast.factor in (factors.STACK, *factors.BY_NAME), f"{place}.factor", contrast.factor)
        if contrast.factor == factors.STACK:
            known: Container[Value] = stacks
        else:
            known = [cell.factors.get(contrast.factor) for cell in plan.cells]
            require(len(contrast.references) > 0, f"{place}.references", "none")
        for value in contrast.references:
            require(value in known, f"{place}.references", value)


def _by_id(name: str, parts: Iterable[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, part in enumerate(parts):
        require(part.id not in found and _ID.fullmatch(part.id) is not None, f"{name}.{number}.id", part.id)
        found[part.id] = part
    require(bool(found), name, "none")
    return found


def _shaped(place: str, resolved: Any) -> None:
    if not isinstance(resolved, dict):
        raise ValueError(f"{place}: it is not an object")
    known = {key: resolved[key] for key in _Resolved.__dataclass_fields__ if key in resolved}
    try:
        decode(_Resolved, known)
    except ValueError as error:
        raise ValueError(f"{place}.{error}") from error


def require(is_so: bool, place: str, value: object) -> None:
    """ValueError names the place unless it `is_so`."""
    if not is_so:
        raise ValueError(f"{place}: not as `orch plan` writes it: {value!r:.60}")
