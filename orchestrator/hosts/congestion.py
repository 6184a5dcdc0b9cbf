"""TCP's congestion control on this machine: its own, and what its kernel lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS
from services.python.contract.knobs import CONGESTION, USUAL

SETTINGS = Path("/proc/sys/net/ipv4")
_ALLOWED = "tcp_allowed_congestion_control"


def sentence(plan: Plan, settings: Path = SETTINGS) -> str:
    """What is in force where cells leave it to the hosts; empty where none does, or nobody knows."""
    if not any(value == BY_NAME[CONGESTION].default for value in _asked(plan)):
        return ""
    provider = PROVIDERS[plan.provider]
    own = _words(settings / "tcp_congestion_control")
    allowed = _words(settings / _ALLOWED)
    if provider.makes_hosts and (not provider.hosts_are_this_machine or USUAL in allowed or not own):
        return f"{USUAL} on the hosts that orch makes, where their kernel has it"
    why = f"; its namespaces may have {', '.join(allowed)} (net.ipv4.{_ALLOWED})" if provider.makes_hosts else ""
    return f"this machine's own, {own[0]}{why}" if own else ""


def lacked(plan: Plan, settings: Path = SETTINGS) -> Iterator[str]:
    """A warning for each that cells ask for and this machine's kernel, which is that of the hosts, does not list."""
    provider = PROVIDERS[plan.provider]
    has = _words(settings / "tcp_available_congestion_control")
    if not has or (provider.makes_hosts and not provider.hosts_are_this_machine):
        return
    for value in dict.fromkeys(_asked(plan)):
        if value not in (None, BY_NAME[CONGESTION].default, *has):
            yield (
                f"{CONGESTION}: {value}: this machine's kernel does not list it (it has {', '.join(has)}): cells that ask"
                f" for it fail, unless it is loaded by then (modprobe tcp_{value})"
            )


def _asked(plan: Plan) -> Iterable[object]:
    return [cell.factors.get(CONGESTION) for cell in plan.cells if cell.kind != "codec" and not cell.is_over_quic]


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:  # no Linux
        return []
