"""A run's cells along its axis: for each operation, the stacks at each value of the axis, and the floors beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.experiment.model.factor import Factor, Value
from orchestrator.experiment.model.factors import BY_NAME, FACTORS, OF_THE_CALL
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.findings.summary import CellSummary, FloorSummary, RunSummary

PLACEMENT = "placement"
_KEPT = "reuse"
_SIZES = ("bytes", "reply_bytes", "records", "per_second")
_OF_OPERATIONS = ("payload", "calls")
_OF_LOADS = ("concurrency", "rate", "think")
_AXES: tuple[str, ...] = (
    PLACEMENT,
    *_OF_OPERATIONS,
    *_OF_LOADS,
    *(factor.name for factor in OF_THE_CALL if factor.numbers is not None),
)
"""The factors that can be columns, in the order in which one is chosen."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A value of the axis; `kind` is a placement's.

    `rtt` is the round trip that ping measured in ms where the two ends are far apart, `distance` the one that was asked for.
    """

    value: Value
    name: str  # of a placement; else empty
    rtt: float | None
    distance: float | None
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A stack, called in one way, along the axis; `style` numbers the ways of one stack. None where nothing was measured."""

    stack: str  # id
    style: int
    call: tuple[tuple[str, Value], ...]
    cells: tuple[CellSummary | None, ...]

    @property
    def first(self) -> CellSummary:
        """The first cell that was measured."""
        return next(cell for cell in self.cells if cell is not None)


@dataclass(frozen=True, kw_only=True)
class FloorLine:
    """A floor along the axis; `policy` is that of the connections of tcp, empty of ping."""

    kind: str
    policy: str
    floors: tuple[FloorSummary | None, ...]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One operation, with everything else alike but stack, call and axis; `others` are values of further axes."""

    operation: str
    others: tuple[tuple[str, Value], ...]
    placement: str  # empty where placements are the axis
    places: tuple[Place, ...]
    lines: tuple[Line, ...]
    floors: tuple[FloorLine, ...]


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A run along an axis, a factor's name; `is_emulated` of distances that are."""

    axis: str
    panels: tuple[Panel, ...]
    is_emulated: bool

    @property
    def factor(self) -> Factor:
        """The axis."""
        return BY_NAME[self.axis]

    def position(self, cell: str) -> tuple[int, int] | None:
        """Return the number of a cell's panel and of its place there; None without one."""
        for number, panel in enumerate(self.panels):
            for line in panel.lines:
                for place, other in enumerate(line.cells):
                    if other is not None and other.id == cell:
                        return number, place
        return None

    def panel(self, cell: str) -> Panel | None:
        """The panel that a cell is in."""
        position = self.position(cell)
        return None if position is None else self.panels[position[0]]


def sweep(summary: RunSummary) -> Sweep | None:
    """The run along the first of its axes; None of a run without one, and of a search for rates."""
    if any(cell.find is not None for cell in summary.plan.cells):
        return None
    controls = {stack.id for stack in summary.plan.stacks if stack.control_of}
    cells = tuple(cell for cell in summary.cells if cell.stack not in controls)
    axes = [name for name in _AXES if _varies(name, cells)]
    if not axes:
        return None
    distances = Distances.of(summary.plan)
    panels: dict[tuple[object, ...], list[CellSummary]] = {}
    for cell in cells:
        panels.setdefault(_panel_key(axes[0], cell), []).append(cell)
    numbered = tuple(_panel(axes, members, summary, distances) for members in panels.values())
    return Sweep(axis=axes[0], panels=numbered, is_emulated=distances.is_emulated)


def _free(axis: str) -> tuple[str, ...]:
    """The factors that differ along an axis."""
    return (axis, *BY_NAME[axis].varies_with)


def _value(name: str, cell: CellSummary) -> Value:
    return cell.placement if name == PLACEMENT else cell.factors.get(name)


def _call(axis: str, cell: CellSummary) -> tuple[tuple[str, Value], ...]:
    """How requests are made, without the axis."""
    return tuple((f.name, cell.factors.get(f.name)) for f in OF_THE_CALL if f.name not in _free(axis))


def _panel_key(axis: str, cell: CellSummary) -> tuple[object, ...]:
    """What the cells of a panel have in common: the operation, the load and the placement, without the axis."""
    factors = tuple(
        (factor.name, _value(factor.name, cell))
        for factor in FACTORS
        if factor.belongs_to in ("operation", "load", "placement") and factor.name not in _free(axis)
    )
    work = "call" if cell.kind == "task" else cell.kind
    return (factors, work)


def _varies(axis: str, cells: Sequence[CellSummary]) -> bool:
    """Whether some stack was measured at two values of this axis, with all else alike."""
    values: dict[tuple[object, ...], set[Value]] = {}
    for cell in cells:
        key = (cell.stack, _call(axis, cell), _panel_key(axis, cell))
        values.setdefault(key, set()).add(_value(axis, cell))
    return any(len(of_stack - {None}) > 1 for of_stack in values.values())


def _panel(axes: Sequence[str], members: Sequence[CellSummary], summary: RunSummary, distances: Distances) -> Panel:
    axis, *others = axes
    firsts: dict[Value, CellSummary] = {}
    for cell in members:
        firsts.setdefault(_value(axis, cell), cell)
    values = sorted(firsts, key=lambda value: _order(axis, firsts, distances)(firsts[value]))
    lines: dict[tuple[object, ...], dict[Value, CellSummary]] = {}
    for cell in members:
        lines.setdefault((cell.stack, _call(axis, cell)), {}).setdefault(_value(axis, cell), cell)
    shown, styles = [], dict[str, int]()
    for by_value in lines.values():
        first = next(iter(by_value.values()))
        style = styles[first.stack] = styles.get(first.stack, -1) + 1
        cells = tuple(by_value.get(value) for value in values)
        shown.append(Line(stack=first.stack, style=style, call=_call(axis, first), cells=cells))
    columns = [[line.cells[place] for line in shown] for place in range(len(values))]
    first = members[0]
    return Panel(
        operation=first.labels.operation if axis not in _OF_OPERATIONS else str(first.factors["operation"]),
        others=tuple((name, first.factors.get(name)) for name in _others(axis, others)),
        placement=first.labels.placement if PLACEMENT in others else "",
        places=tuple(_place(axis, firsts[value], distances) for value in values),
        lines=tuple(shown),
        floors=tuple(_floors(summary.floors, columns)),
    )


def _others(axis: str, others: Sequence[str]) -> Iterator[str]:
    """The further axes of the load, each thing once: no number in flight beside the rate that it belongs to."""
    loads = [name for name in others if name in _OF_LOADS and name not in _free(axis)]
    yield from (name for name in loads if not any(name in BY_NAME[other].varies_with for other in loads))


def _order(
    axis: str, firsts: Mapping[Value, CellSummary], distances: Distances
) -> Callable[[CellSummary], tuple[float, ...]]:
    """What places are sorted by: the round trip, the sizes or the number; the plan's order where one is not known."""
    if axis == PLACEMENT:
        trips = [distances.rtt(cell) for cell in firsts.values() if distances.kinds.get(cell.placement) != "local"]
        if any(trip is None for trip in trips):
            return lambda _: ()
        return lambda cell: (distances.rtt(cell) or 0.0,)
    if axis == "payload":
        return lambda cell: tuple(_number(cell.factors.get(name)) for name in _SIZES)
    return lambda cell: (_number(cell.factors.get(axis)),)


def _number(value: Value) -> float:
    """A number as it is; a level (`each`, `library`) first."""
    return float(value) if isinstance(value, int | float) else -1.0


def _place(axis: str, cell: CellSummary, distances: Distances) -> Place:
    rtt = distances.far(cell)
    return Place(
        value=_value(axis, cell),
        name=cell.labels.placement if axis == PLACEMENT else "",
        rtt=rtt if rtt is None or cell.floors.ping is None else cell.floors.ping,
        distance=rtt,
        kind=distances.kinds.get(cell.placement, "") if axis == PLACEMENT else "",
    )


def _floors(floors: Sequence[FloorSummary], columns: Sequence[Sequence[CellSummary | None]]) -> Iterator[FloorLine]:
    """The tcp floors of each policy, then ping."""
    policies = sorted(
        {floor.policy for floor in floors if floor.kind == "tcp"}, key=lambda policy: (policy != _KEPT, policy)
    )
    for kind, policy in (*(("tcp", policy) for policy in policies), ("ping", "")):
        alike = [floor for floor in floors if floor.kind == kind and policy in ("", floor.policy)]
        beside = tuple(next((f for f in alike if _is_beside(f, cells)), None) for cells in columns)
        if any(beside):
            yield FloorLine(kind=kind, policy=policy, floors=beside)


def _is_beside(floor: FloorSummary, cells: Sequence[CellSummary | None]) -> bool:
    is_known = floor.distribution is not None and floor.distribution.median is not None
    return is_known and any(cell is not None and floor.is_beside(cell.placement, cell.id) for cell in cells)


_FAR_MS = 1.0  # from here on a round trip is worth a word


@dataclass(frozen=True)
class Distances:
    """The wanted round trip in ms and the kind of each placement, by its id, and whether distance is emulated."""

    is_emulated: bool
    kinds: Mapping[str, str]
    wanted: dict[str, float | None]

    @classmethod
    def of(cls, plan: Plan) -> Distances:
        """Return the distances of a plan."""
        return cls(
            is_emulated=PROVIDERS[plan.provider].distance == "emulated",
            kinds={place.id: place.kind for place in plan.placements},
            wanted={place.id: place.link.rtt_ms for place in plan.placements},
        )

    def is_local(self, cell: CellSummary) -> bool:
        """Whether both ends run on one machine."""
        return self.kinds.get(cell.placement) == "local"

    def rtt(self, cell: CellSummary) -> float | None:
        """Return the wanted round trip in ms, else the one that ping measured; None with both ends on one machine."""
        return None if self.is_local(cell) else self.wanted.get(cell.placement) or cell.floors.ping

    def far(self, cell: CellSummary) -> float | None:
        """Return the round trip where it is at least 1 ms."""
        rtt = self.rtt(cell)
        return rtt if rtt is not None and rtt >= _FAR_MS else None
