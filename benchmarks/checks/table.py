"""The table of docs/reference/checks.md: its words are written by hand, its last two columns from the stored results."""

from __future__ import annotations

from typing import Any

BEGIN, END = "<!-- benchmarks.checks: begin -->", "<!-- benchmarks.checks: end -->"
_BY_HAND = 3
_HEAD = ("check", "fails when", "warns when", "finds nine times in ten", "false alarms: synthetic, real")
_UNKNOWN = "not measured"


def written(text: str, results: dict[str, Any]) -> str:
    """The document with its two columns anew; ValueError without markers, or for a row that is not a table's."""
    before, found, rest = text.partition(BEGIN)
    table, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"no table between {BEGIN} and {END}")
    rows = [_cells(line) for line in table.strip().splitlines()][2:]
    lines = [_line(_HEAD), _line(["---"] * len(_HEAD))]
    lines += [_line([*row[:_BY_HAND], _finds(row[0], results), _alarms(row[0], results)]) for row in rows]
    return f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}"


def names(text: str) -> list[str]:
    """The checks that have a row."""
    table = text.partition(BEGIN)[2].partition(END)[0]
    return [_cells(line)[0] for line in table.strip().splitlines()[2:]]


def _cells(line: str) -> list[str]:
    if not line.startswith("|") or line.count("|") < _BY_HAND + 1:
        raise ValueError(f"no row of a table: {line!r}")
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _finds(name: str, results: dict[str, Any]) -> str:
    entries = [power for power in results["power"] if power["check"] == name]
    told = [p["smallest"] or f"none up to {p['largest_tried']}" for p in entries]
    return "; ".join(told) or _UNKNOWN


def _alarms(name: str, results: dict[str, Any]) -> str:
    return ", ".join(_counted(name, results.get(kind)) for kind in ("synthetic", "real"))


def _counted(name: str, alarms: dict[str, Any] | None) -> str:
    found = (alarms or {}).get("checks", {}).get(name)
    if alarms is None or found is None:
        return _UNKNOWN
    kinds = [f"{found[key]} {word}" for key, word in (("failed", "failed"), ("warned", "warned")) if found[key]]
    return f"{' and '.join(kinds) or '0'} of {found['judged']}" if found["judged"] else "does not apply"
