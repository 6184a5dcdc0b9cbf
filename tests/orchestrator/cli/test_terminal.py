"""The whole terminal output of verbs that read runs, compared with the files in `terminal/`.

`REWRITE=1 python -m pytest tests/orchestrator/cli/test_terminal.py` writes the files anew, to be reviewed as a difference.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.called import orch
from tests.support.runs import S, a_run, host_counters, write_run

GOLDEN = Path(__file__).parent / "terminal"
AUDITS = Path(__file__).parents[3] / "experiments" / "audits"


def impossible(draft: Any) -> None:
    draft.columns["received_ns"] = draft.columns["sent_ns"] + 1_000


def loud(draft: Any) -> None:
    draft.done["host_after"] = host_counters(10 * S, steal=50)


def overloaded(draft: Any) -> None:
    span_s = draft.done["measured_s"]
    draft.done["host_after"] = host_counters(int(span_s * S), pressure_us=int(span_s * 0.9e6))
    draft.done["host_after"]["cpu_ticks"] = None  # who had it is not known


def lost(draft: Any) -> None:
    if "grpc" in draft.cell.stack:
        draft.done["wire"] |= {"retransmits": 400, "segments_sent": 2000}


RUNS: dict[str, dict[str, Any]] = {
    "old": {},
    "new": {"seed": 2, "base_us": {"grpc": 300.0}, "spoil": lost},
    "broken": {"spoil": impossible},
    "loud": {"spoil": loud, "stacks": ("rest", "grpc", "http+avro", "http+cbor", "graphql")},
    "busy-old": {"spoil": overloaded},
    "busy-new": {"spoil": overloaded, "seed": 2},
}
CALLS = [
    "runs check old",
    "runs check broken",
    "runs check loud",
    "runs check loud --all",
    "compare old",
    "compare new old",
    "compare new old --statistic throughput",
    "compare new old --fail-if-slower 5%",
    "compare busy-new busy-old",
    "runs",
    "runs trend",
    "runs trend grpc-thin",
    "runs verify old",
    *(f"audit {path.name} --figures" for path in sorted(AUDITS.glob("*.yaml"))),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs, judged, and the published figures that are shipped."""
    root = tmp_path_factory.mktemp("terminal")
    for name, knobs in RUNS.items():
        write_run(a_run(**knobs), root / "results" / name)
        orch("runs", "check", name, "--json", cwd=root)  # which leaves the summary
    for path in AUDITS.glob("*.yaml"):
        (root / path.name).write_bytes(path.read_bytes())
    return root


@pytest.mark.parametrize("call", CALLS)
def test_a_terminal_shows_what_its_file_holds(call: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80" if call.startswith("audit") else "140")
    done = orch(*call.split(), cwd=root)
    text = f"$ orch {call}\n{done.stdout}{done.stderr}exit {done.returncode}\n"
    file = GOLDEN / f"{call.replace(' ', '_').replace('%', '')}.txt"
    if os.environ.get("REWRITE"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
