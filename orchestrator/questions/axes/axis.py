"""The numeric axes along which a run may show curves: distances between the two ends, and every factor that is a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from orchestrator import quantities
from orchestrator.experiment.model.factor import Factor, Value
from orchestrator.experiment.model.factors import BY_NAME, CALLS, FACTORS, OF_THE_CALL, is_in_pieces, of_load, phrases
from orchestrator.experiment.plan.plan import Cell, Link, Operation, Placement
from orchestrator.experiment.read.units import format_size
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.axes.crossing import Scale

DISTANCE, _BOTH_SIZES = "distance", "both sizes"
_EFFORT = ("requests", "duration_s")  # of a load: how much was measured, not what
_LOG_FROM = 10.0  # the largest place over the smallest, from which on a logarithmic axis is easier to read


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One axis; `text` is a place on it in words.

    `factor` is the factor whose value the place is; `link` the part of the link, for those that belong to the placement.
    """

    name: str
    title: str
    unit: str
    text: Callable[[float], str]
    factor: Factor
    link: str = ""

    @property
    def _free(self) -> tuple[Factor, ...]:
        return (self.factor, *(BY_NAME[name] for name in self.factor.varies_with))

    def at(self, cell: Cell, placement: Placement, summary: CellSummary) -> float | None:
        """A cell's place; None where it has none."""
        value: Value = None
        if self.name == DISTANCE:  # what ping measured; the wanted one where it could not
            if placement.kind not in ("local", "external"):
                value = placement.link.rtt_ms if summary.floors.ping is None else summary.floors.ping
        elif self.link:
            value = None if placement.kind == "local" else getattr(placement.link, self.link)
        elif self.name == _BOTH_SIZES:
            sent, returned = cell.factors.get("bytes"), cell.factors.get("reply_bytes")
            value = sent if sent == returned else None
        else:
            value = cell.factors.get(self.factor.name)
        if not isinstance(value, int | float):
            return None
        return float(value) * 1000 if self.name == "think" else float(value)

    def scale(self, places: Iterable[float]) -> Scale:
        """How the places are best drawn."""
        ordered = sorted(places)
        is_wide = self.name != DISTANCE and ordered[0] > 0 and ordered[-1] / ordered[0] >= _LOG_FROM
        return "log" if is_wide else "linear"

    def setting(self, cell: Cell, placement: Placement, *, has_call: bool) -> tuple[object, ...]:
        """What the cells of one picture have in common: all but the stack, the axis, what varies with it, and the effort.

        Without `has_call`, how requests are made belongs to the stack.
        """
        free = [factor.name for factor in self._free]
        attributes = [*_EFFORT, *(factor.attribute for factor in self._free if factor.belongs_to == "load")]
        load = tuple((key, value) for key, value in vars(cell.load).items() if key not in attributes)
        # How many calls there are is then a matter of `fetch`, which says how requests are made.
        derived = (CALLS,) if is_in_pieces(cell.factors) else ()
        factors = tuple(
            (factor.name, 1 if factor.name in derived else cell.factors.get(factor.name))
            for factor in FACTORS
            if factor.name not in free and factor.belongs_to in ("operation", "load", *(["call"] if has_call else []))
        )
        operation = () if self.factor.belongs_to == "operation" else (cell.operation,)
        work = "call" if cell.kind == "task" else cell.kind
        link = {key: value for key, value in vars(placement.link).items() if key not in (self.link, "source")}
        return (load, factors, operation, work, *(link.items() if self.link else [placement.id]))

    def parts(self, cell: Cell, operation: Operation, placement: Placement, *, has_call: bool) -> tuple[str, ...]:
        """What `setting` is, in words; each part has the same place for all cells."""
        free = [factor.name for factor in self._free]
        operation_text = operation.name if self.factor.belongs_to == "operation" else operation.label
        operation_text = " ".join((operation_text, *self._other_options(cell)))
        if self.factor.name == "calls":
            operation_text = operation.asked
        called = {factor.name: cell.factors.get(factor.name) for factor in OF_THE_CALL if factor.name not in free}
        load = [
            quantities.count(value, "client")
            if cell.kind == "stream" and name == "concurrency" and isinstance(value, int)
            else BY_NAME[name].text(value)
            for name in (() if cell.kind == "codec" else ("concurrency", "rate"))
            if name not in free and (value := cell.factors.get(name)) is not None
        ]
        load += of_load(cell.factors, free)
        return (
            operation_text,
            ", ".join(link_parts(placement.link, self.link)) if self.link else placement.name,
            ", ".join(phrases(called)) if has_call else "",
            ", ".join(load),
        )

    def _other_options(self, cell: Cell) -> Iterator[str]:
        """What stays the same along an axis of another number of the operation."""
        if self.factor.belongs_to != "operation" or self.factor.name == "calls":
            return
        free = [factor.name for factor in self._free]
        has_reply = cell.factors.get("reply_bytes") is not None
        for name, form in (("bytes", "request {}" if has_reply else "{}"), ("reply_bytes", "reply {}")):
            value = cell.factors.get(name)
            if name not in free and isinstance(value, int):
                yield form.format(format_size(value))
        change = cell.factors.get("schema_change")
        if "schema_change" not in free and change is not None:
            yield f"with {BY_NAME['schema_change'].briefly(change)}"


def link_parts(link: Link, without: str = "") -> list[str]:
    """What a link was asked for, in words, but for one of its keys."""
    parts = {
        "rtt_ms": f"{link.rtt_ms:g} ms round trip" if link.rtt_ms is not None else "",
        "jitter_ms": f"± {link.jitter_ms:g} ms" if link.jitter_ms else "",
        "rate_mbit": f"{link.rate_mbit:g} Mbit/s" if link.rate_mbit else "",
        "loss": f"{link.loss * 100:.3g} % of packets lost" if link.loss else "",
        "initial_window": f"initial window of {link.initial_window} segments" if link.initial_window else "",
    }
    return [text for key, text in parts.items() if text and key != without]


def _bytes(at: float) -> str:
    return format_size(round(at))


def _numeric(name: str, title: str, unit: str) -> Axis:
    factor = BY_NAME[name]

    def text(at: float) -> str:
        space = "" if unit.startswith("/") else " "
        name = unit.removesuffix("s") if at == 1 else unit
        return _bytes(at) if factor.kind == "bytes" else f"{at:,.6g}{space}{name}"

    return Axis(name=name, title=title, unit=unit, text=text, factor=factor)


def _of_link(name: str, title: str, unit: str, key: str, text: Callable[[float], str]) -> Axis:
    return Axis(name=name, title=title, unit=unit, text=text, factor=BY_NAME["placement"], link=key)


_SIZE_EACH_WAY = "payload of the request, and of the reply"
_LOST = "share of packets lost in each direction, as asked of the link"

AXES: tuple[Axis, ...] = (
    _of_link(DISTANCE, "measured round trip", "ms", "rtt_ms", quantities.ms),
    _of_link("jitter", "jitter asked of the link", "ms", "jitter_ms", quantities.ms),
    _of_link("loss", _LOST, "", "loss", lambda at: f"{at * 100:.3g} %"),
    _of_link("link rate", "rate of the link", "Mbit/s", "rate_mbit", lambda at: f"{at:g} Mbit/s"),
    _of_link(
        "initial window", "TCP's initial congestion window", "segments", "initial_window", lambda at: f"{at:g} segments"
    ),
    _numeric("bytes", "payload", "B"),
    _numeric("reply_bytes", "payload of the reply", "B"),
    Axis(name=_BOTH_SIZES, title=_SIZE_EACH_WAY, unit="B", text=_bytes, factor=BY_NAME["payload"]),
    _numeric("records", "payload", "records"),
    _numeric("per_second", "events offered to each client", "/s"),
    _numeric("calls", "calls of a task", "calls"),
    _numeric("concurrency", "requests in flight", "in flight"),
    _numeric("rate", "requests offered", "/s"),
    Axis(name="think", title="think time", unit="ms", text=quantities.ms, factor=BY_NAME["think"]),
    _numeric("processes", "requester processes", "processes"),
    _numeric("workers", "responder workers", "workers"),
)
