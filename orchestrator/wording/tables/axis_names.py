"""What the axis, its places, its panels and its lines are called, in every table, chart and sentence."""

from __future__ import annotations

from orchestrator import quantities
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import BY_NAME, of_load, said
from orchestrator.findings.grid import PLACEMENT, Line, Panel, Place, Sweep
from orchestrator.findings.summary import CellSummary

_CONNECTIONS = {"reuse": "keep-alive", "per-request": "new connections"}
_ZONES = {"same-zone": "within a zone", "cross-region": "between the regions"}


def unit(along: Sweep, metric: str) -> quantities.Unit:
    """The unit of every table and chart of the run: of latencies by the medians of its stacks."""
    cells = [cell for panel in along.panels for line in panel.lines for cell in line.cells if cell is not None]
    if metric == "throughput":
        return quantities.Unit(name=quantities.per_second(cell.kind for cell in cells), per_ms=1.0, decimals=0)
    return quantities.unit_for(cell.distribution.median for cell in cells if cell.distribution)


def head(along: Sweep, panel: Panel, place: Place) -> str:
    """A place as the head of a column: `local`, `10 kB`, `4 in flight`; of an operation without payload `median`."""
    has_value = place.value is not None and place.value != panel.operation
    return place.name or (along.factor.briefly(place.value) if has_value else "median")


def at(along: Sweep, place: Place) -> str:
    """A place in a sentence: `on one host`, `between the regions`, `over an emulated 35 ms`, `at 10 kB`."""
    if along.axis != PLACEMENT:
        return along.factor.compared(place.value)
    if place.kind == "local":
        return "on one host"
    distance = "" if place.distance is None else quantities.ms(place.distance)
    if place.name in _ZONES and place.name == place.kind:
        return f"{_ZONES[place.name]}{f', an emulated {distance}' if along.is_emulated and distance else ''}"
    if not distance:
        return f"at {place.name}"
    return f"over {'an emulated ' if along.is_emulated else ''}{distance}"


def setting(panel: Panel) -> str:
    """What a sentence says of a panel behind its operation: ` with 4 in flight`; empty without a further axis."""
    where = [f"at {panel.placement}"] if panel.placement else []
    return "".join(f" {text}" for text in (*where, *(BY_NAME[name].compared(value) for name, value in panel.others)))


def title(panel: Panel) -> str:
    """The panel as the title of its table and chart: operation, placement, load, and the call that all lines share."""
    first = panel.lines[0].first
    shared = {call for line in panel.lines if (call := _call(line))}
    loads = [BY_NAME[name].text(value) for name, value in panel.others] or _common_load(panel)
    parts = (
        panel.operation,
        panel.placement,
        *loads,
        *of_load(first.factors, ()),
        *(shared if is_alike(panel) else ()),
    )
    return " · ".join(part for part in parts if part)


def is_alike(panel: Panel) -> bool:
    """Whether all lines make their requests in one way, which the title then says."""
    return len({_call(line) for line in panel.lines}) == 1


def _common_load(panel: Panel) -> list[str]:
    """The number in flight, or the rate, where all cells of the panel have the same."""
    cells = [cell for line in panel.lines for cell in line.cells if cell is not None]
    if any(cell.kind in ("codec", "stream") for cell in cells):
        return []
    name = "concurrency" if all(cell.factors.get("rate") is None for cell in cells) else "rate"
    values = {cell.factors.get(name) for cell in cells} - {None}
    return [BY_NAME[name].text(value) for value in values] if len(values) == 1 else []


def ends(cell: CellSummary) -> str:
    """Server and client: `grpcio ← grpcio`; of a codec alone its library."""
    return cell.client if cell.kind == "codec" else f"{cell.responder} ← {cell.client}"


def detail(panel: Panel, line: Line) -> str:
    """What stands below a line's label: both ends, and how it calls where that differs."""
    return ", ".join(filter(None, (ends(line.first), "" if is_alike(panel) else _call(line))))


def name(panel: Panel, line: Line) -> str:
    """A line by itself: its stack, and how it calls where the stack has several ways."""
    several = sum(other.stack == line.stack for other in panel.lines) > 1
    return f"{line.first.labels.stack}, {_call(line)}" if several else line.first.labels.stack


def connection(policy: Value) -> str:
    """A connection policy: `keep-alive`."""
    return _CONNECTIONS.get(str(policy), str(policy))


def _call(line: Line) -> str:
    """How a line makes its requests: `keep-alive, gzip`; empty of what has no connection."""
    values = [(factor, value) for factor, value in said(dict(line.call)) if value is not None]
    return ", ".join(
        connection(value) if factor.name == "connection" else factor.briefly(value) for factor, value in values
    )
