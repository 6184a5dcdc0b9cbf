"""How large each room of the house is: `make size`. Physical lines of tracked Python, its tests beside it."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_GOALS = {"orchestrator": 50_000, "services/python": 21_000, "tests": 55_000}
"""Most lines of the three parts."""
MOST_MODULES = 15
"""Modules in one folder of `orchestrator`."""


def tracked(pattern: str = "*.py") -> list[Path]:
    """Return the tracked files that match, relative to the root and without generated ones."""
    listed = subprocess.run(
        ["git", "ls-files", "--", pattern],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    paths = [Path(line) for line in listed if line]
    return [path for path in paths if "generated" not in path.parts and (_ROOT / path).is_file()]


def room(path: Path) -> str:
    """Return the room of a module: `orchestrator/checks`, `services/python/load`, `tests/cli`."""
    depth = 3 if path.parts[0] == "services" else 2
    return "/".join(path.parent.parts[:depth])


def _row(name: str, modules: str, lines: str, goal: str) -> str:
    return f"{name:40} {modules:>8} {lines:>8} {goal:>8}".rstrip()


def main() -> None:
    """Print lines and modules for each room, the sums with their goals, and folders that hold too many modules."""
    lines: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    folders: Counter[str] = Counter()
    for path in tracked():
        with (_ROOT / path).open("rb") as file:
            lines[room(path)] += sum(1 for _ in file)
        modules[room(path)] += 1
        folders[str(path.parent)] += path.name != "__init__.py"
    print(_row("room", "modules", "lines", "goal"))
    for name, goal in _GOALS.items():
        rooms = sorted(r for r in lines if r == name or r.startswith(f"{name}/"))
        for each in rooms:
            print(_row(each, f"{modules[each]:,}", f"{lines[each]:,}", ""))
        total = sum(lines[r] for r in rooms), sum(modules[r] for r in rooms)
        print(_row(name, f"{total[1]:,}", f"{total[0]:,}", f"{goal:,}"), end="\n\n")
    crowded = {f: n for f, n in folders.items() if f.startswith("orchestrator") and n > MOST_MODULES}
    for folder, count in sorted(crowded.items(), key=lambda item: -item[1]):
        print(f"{folder}: {count} modules, more than {MOST_MODULES}")


if __name__ == "__main__":
    main()
