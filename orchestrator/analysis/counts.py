"""How many checks got which verdict: one count for terminal, report and JSON.

A check is counted once, by the worst verdict it gave in any cell. One that applies to nothing in the run has not passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from orchestrator.analysis.check_result import CheckResult, CheckVerdict

SCHEMA_VERSION = 1

WORST_FIRST: tuple[CheckVerdict, ...] = ("fail", "warn", "cannot tell", "pass", "not applicable")
_READ: tuple[tuple[CheckVerdict, str, str], ...] = (
    ("fail", "failed", "failed"),
    ("pass", "passed", "passed"),
    ("not applicable", "does not apply", "do not apply"),
    ("warn", "warning", "warnings"),
    ("cannot tell", "undecided", "undecided"),
)


def by_check(results: Iterable[CheckResult]) -> dict[str, CheckVerdict]:
    """Each check's worst verdict, in the order in which the checks came."""
    worst: dict[str, CheckVerdict] = {}
    for result in results:
        worst[result.name] = min(worst.get(result.name, result.verdict), result.verdict, key=WORST_FIRST.index)
    return worst


def counts(results: Iterable[CheckResult]) -> dict[CheckVerdict, int]:
    """How many checks got each verdict as their worst, every verdict named."""
    found = Counter(by_check(results).values())
    return {verdict: found[verdict] for verdict in WORST_FIRST}


def in_words(of: Mapping[CheckVerdict, int]) -> str:
    """Such counts as people read them: `14 passed, 3 do not apply, 2 warnings`; empty when no check was made."""
    return ", ".join(
        f"{of[verdict]} {one if of[verdict] == 1 else several}" for verdict, one, several in _READ if of.get(verdict)
    )


def checks_document(results: Iterable[CheckResult]) -> dict[str, Any]:
    """What `orch check --json` prints and `checks.json` holds."""
    results = tuple(results)
    return {
        "schema_version": SCHEMA_VERSION,
        "counts": counts(results),
        "checks": [asdict(result) for result in results],
    }
