"""What cells ask of TCP that this machine's kernel does not have: a warning before anything is measured, never a failure.

The ends try it themselves, on their own hosts, and refuse what cannot be (`services/python/probes/sockets.py`). This is for
hosts that are this machine, and says sooner what they will say. A kernel may load an algorithm when root asks for it.
"""

from __future__ import annotations

from pathlib import Path

from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS
from services.python.contract.knobs import CONGESTION, TCP_WINDOW

_PROC = Path("/proc")
_AVAILABLE = "sys/net/ipv4/tcp_available_congestion_control"
_LARGEST_BUFFER = "sys/net/core/rmem_max"


def warnings(plan: Plan, proc: Path = _PROC) -> list[str]:
    """What is asked for and not there, as sentences; none where the hosts are other machines, or nothing can be read."""
    if not PROVIDERS[plan.provider].hosts_are_this_machine:
        return []
    return [*_congestion(plan, proc), *_windows(plan, proc)]


def _congestion(plan: Plan, proc: Path) -> list[str]:
    asked = _asked(plan, CONGESTION)
    available = _read(proc / _AVAILABLE).split()
    missing = [value for value in asked if available and value not in available]
    if not missing:
        return []
    modules = " ".join(f"tcp_{value}" for value in missing)
    return [
        f"congestion: this machine's kernel has {', '.join(available)}, and not {', '.join(missing)}: such cells fail,"
        f" unless it can load what it lacks. Try `modprobe {modules}` as root, or ask for what it has"
    ]


def _windows(plan: Plan, proc: Path) -> list[str]:
    largest = _read(proc / _LARGEST_BUFFER)
    if not largest.isdecimal():
        return []
    beyond = [value for value in _asked(plan, TCP_WINDOW) if int(value) > int(largest)]
    if not beyond:
        return []
    numbers = BY_NAME[TCP_WINDOW].numbers
    assert numbers is not None  # noqa: S101 - narrows the type: windows are sizes
    shown = ", ".join(numbers.text(int(value)) for value in beyond)
    most = max(int(value) for value in beyond)
    return [
        f"tcp_window: the largest that this machine's kernel gives (net.core.rmem_max) is {int(largest):,} B, which is less"
        f" than {shown}: such cells fail. Raise it as root, `sysctl net.core.rmem_max={most}`, or ask for smaller ones"
    ]


def _asked(plan: Plan, name: str) -> list[str]:
    """The values of a factor that cells have beside its default, each once."""
    default = BY_NAME[name].default
    values = [value for cell in plan.cells if (value := cell.factors.get(name)) is not None and value != default]
    return list(dict.fromkeys(map(str, values)))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
