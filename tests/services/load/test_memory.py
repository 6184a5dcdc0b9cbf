"""How much memory is taken for replies: a share of what is free, by the narrowest bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.python.load.memory import LEAST_BYTES, MOST_BYTES, room_for_replies

MIB = 1 << 20


def machine(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def meminfo(mib: int) -> dict[str, str]:
    return {"proc/meminfo": f"MemTotal:  99999999 kB\nMemAvailable:   {mib * 1024} kB\n"}


@pytest.mark.parametrize(
    ("files", "room"),
    [
        ({}, LEAST_BYTES),
        (meminfo(600), 75 * MIB),
        (meminfo(100), LEAST_BYTES),
        (meminfo(24_000), MOST_BYTES),
        (
            meminfo(24_000)
            | {
                "proc/self/cgroup": "0::/user/one\n",
                "sys/fs/cgroup/user/memory.max": f"{900 * MIB}\n",
                "sys/fs/cgroup/user/memory.current": f"{100 * MIB}\n",
                "sys/fs/cgroup/user/one/memory.max": "max\n",
            },
            100 * MIB,
        ),
        (
            meminfo(24_000)
            | {
                "proc/self/cgroup": "4:memory:/elsewhere\n1:cpu:/\n0::/\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{1000 * MIB}",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{200 * MIB}",
            },
            100 * MIB,
        ),
    ],
)
def test_an_eighth_of_what_is_free_is_taken_within_bounds(tmp_path: Path, files: dict[str, str], room: int):
    assert room_for_replies(machine(tmp_path, files)) == room
