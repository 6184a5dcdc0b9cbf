"""What no reader of a page may miss, whichever sheet of it they hold: the distance was emulated, a check failed."""

from __future__ import annotations

from orchestrator.analysis.summary import RunSummary
from orchestrator.analysis.validity import invalid_cells, is_everywhere
from orchestrator.analysis.words import listed
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.report.verdicts import failed, failed_in_words

_MOST_NAMED = 3


def marks(summary: RunSummary) -> tuple[str, ...]:
    """What stands above everything else, a clause each; none for a valid run over the network that it names."""
    return tuple(text for text in (_distance(summary), _checks(summary)) if text)


def _distance(summary: RunSummary) -> str:
    """That the network between the ends was made up on one machine, and how long its round trips are."""
    provider = PROVIDERS.get(str(summary.plan.get("provider", "")))
    if provider is None or not (provider.makes_hosts and provider.hosts_are_this_machine):
        return ""
    links = {
        str(placement["name"]): (placement.get("link") or {}).get("rtt_ms")
        for placement in summary.plan.get("placements", ())
        if placement.get("kind") != "local"
    }
    if not links:
        return ""
    texts = [name if rtt_ms is None else f"{name} {rtt_ms:g} ms" for name, rtt_ms in links.items()]
    more = [f"{len(texts) - _MOST_NAMED} more"] if len(texts) > _MOST_NAMED else []
    return f"Emulated distance, no real network: {listed([*texts[:_MOST_NAMED], *more])}"


def _checks(summary: RunSummary) -> str:
    """Which checks failed, and whether any number is left that is valid."""
    names = list(dict.fromkeys(check.name for check in failed(summary)))
    if not names:
        return ""
    invalid = invalid_cells(summary.cells, summary.checks)
    which = "all numbers are invalid" if is_everywhere(summary.cells, invalid) else "some numbers are invalid"
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    said = failed_in_words(summary)
    return f"{said} ({listed([*names[:_MOST_NAMED], *more])})" + (f": {which}" if invalid else "")
