"""The conditions of a benchmark, and the one file that keeps its raw numbers."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent.parent / "results"


def conditions() -> dict[str, Any]:
    """What a reader must know to believe a number: the processors, and how busy they are already."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpus": os.cpu_count(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
    }


def told(found: dict[str, Any]) -> str:
    """Conditions as one line."""
    load = ", ".join(f"{value:.2f}" for value in found["load_average"])
    return f"{found['cpus']} CPUs, load {load}; Python {found['python']}; {found['system']}; {found['at']}"


def keep(name: str, content: dict[str, Any]) -> Path:
    """Write the raw numbers; the file's path."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path
