"""What a reader must know of a plan before it is run: of the plan itself, and of what this machine's kernel lacks."""

from __future__ import annotations

from pathlib import Path

from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.experiment.read.units import format_duration
from services.python.contract.knobs import CONGESTION, TCP_WINDOW, USUAL

PROC = Path("/proc")
_ALLOWED, _AVAILABLE, _OWN = (f"sys/net/ipv4/tcp_{name}congestion_control" for name in ("allowed_", "available_", ""))
_LARGEST_BUFFER = "sys/net/core/rmem_max"


def warnings(plan: Plan, expected_s: float) -> list[str]:
    """Sentences about a plan whose run is expected to take so many seconds; none where nothing is to be said."""
    sentences = []
    if expected_s > plan.limits.wall_s:
        sentences.append(
            f"the run is expected to take {format_duration(expected_s)}, longer than limits.wall"
            f" ({format_duration(plan.limits.wall_s)}), which will end it early"
        )
    if len(plan.stacks) > 1 and next(pairs(plan), None) is None:
        sentences.append("nothing is compared: no other stack has a cell that matches one of the reference")
    for stack, facts in plan.resolved.items():
        missing = [package for package, version in facts["versions"].items() if version == "not installed here"]
        if missing and not PROVIDERS[plan.provider].makes_hosts:
            sentences.append(f"{stack} needs {', '.join(missing)}, not installed here: make setup")
    return sentences


def congestion_in_force(plan: Plan, proc: Path = PROC) -> str:
    """TCP's congestion control where cells leave it to the hosts; empty where none does, or nobody knows."""
    if BY_NAME[CONGESTION].default not in _values(plan, CONGESTION):
        return ""
    provider = PROVIDERS[plan.provider]
    if provider.hosts_are_given:
        return "each host's own"
    own, allowed = _read(proc / _OWN).strip(), _read(proc / _ALLOWED).split()
    if provider.makes_hosts and (not provider.hosts_are_this_machine or USUAL in allowed or not own):
        return f"{USUAL} on the hosts that orch makes, where their kernel has it"
    why = (
        f"; its namespaces may have {', '.join(allowed)} (net.ipv4.tcp_allowed_congestion_control)"
        if provider.makes_hosts
        else ""
    )
    return f"this machine's own, {own}{why}" if own else ""


def kernel_lacks(plan: Plan, proc: Path = PROC) -> list[str]:
    """What cells set of TCP and this machine's kernel does not have, as sentences; none where hosts are other machines.

    Both ends try it on their own hosts and refuse what cannot be (`services/python/probes/sockets.py`): this says it
    before anything is measured. A kernel may load an algorithm when root sets it.
    """
    if not PROVIDERS[plan.provider].hosts_are_this_machine:
        return []
    return [*_congestion(plan, proc), *_windows(plan, proc)]


def _congestion(plan: Plan, proc: Path) -> list[str]:
    available = _read(proc / _AVAILABLE).split()
    missing = [value for value in _set(plan, CONGESTION) if available and value not in available]
    if not missing:
        return []
    modules = " ".join(f"tcp_{value}" for value in missing)
    return [
        f"congestion: this machine's kernel has {', '.join(available)}, and not {', '.join(missing)}: such cells fail,"
        f" unless it can load what it lacks. Try `modprobe {modules}` as root, or ask for what it has"
    ]


def _windows(plan: Plan, proc: Path) -> list[str]:
    largest = _read(proc / _LARGEST_BUFFER).strip()
    beyond = [int(value) for value in _set(plan, TCP_WINDOW) if largest.isdecimal() and int(value) > int(largest)]
    if not beyond:
        return []
    numbers = BY_NAME[TCP_WINDOW].numbers
    assert numbers is not None  # noqa: S101 - narrows the type: windows are sizes
    return [
        f"tcp_window: the largest that this machine's kernel gives (net.core.rmem_max) is {int(largest):,} B, which is less"
        f" than {', '.join(map(numbers.text, beyond))}: such cells fail."
        f" Raise it as root, `sysctl net.core.rmem_max={max(beyond)}`, or ask for smaller ones"
    ]


def _set(plan: Plan, name: str) -> list[str]:
    """The values of a factor that cells have beside its default, each once."""
    return [str(value) for value in _values(plan, name) if value not in (None, BY_NAME[name].default)]


def _values(plan: Plan, name: str) -> list[object]:
    """The values of a factor in cells whose calls go over TCP, each once."""
    cells = (cell for cell in plan.cells if cell.kind != "codec" and not cell.is_over_quic)
    return list(dict.fromkeys(cell.factors.get(name) for cell in cells))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:  # no Linux
        return ""
