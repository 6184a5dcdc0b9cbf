"""`python -m tests.attacks [--write] [--only WORD] [--share 0.1]`: every attack, many times, and its table in the docs."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from tests.attacks.base import Attack, Tally
from tests.attacks.registry import ATTACKS
from tests.support.signals import as_from_a_terminal

ROOT = Path(__file__).parents[2]
STORED = ROOT / "benchmarks" / "results" / "attacks.json"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"


def main() -> int:
    """Run them and print a line each; with --write, store the counts and renew the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks")
    parser.add_argument("--write", action="store_true", help="store the counts, and renew docs/reliability.md")
    parser.add_argument("--only", default="", help="only attacks whose name holds this")
    parser.add_argument("--share", type=float, default=1.0, help="of each attack's full count")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    as_from_a_terminal()
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    broken = 0
    for attack in (a for a in ATTACKS if options.only in a.name):
        if attack.needs and not _is_there(attack):
            print(f"{attack.name}: left out, it needs {attack.needs}")
            continue
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="orch-attack-") as folder:
            tally = attack.run(max(1, round(attack.many * options.share)), options.seed, Path(folder))
        took_s = time.monotonic() - started
        print(f"{line(attack, tally)} in {took_s:.0f} s", flush=True)
        for what in tally.broken:
            print(f"    {what}")
        broken += len(tally.broken)
        stored[attack.name] = {
            **asdict(tally),
            "seed": options.seed,
            "seconds": round(took_s),
            "day": f"{datetime.now(UTC):%Y-%m-%d}",
            "system": f"{platform.system()} {platform.release()}, {os.cpu_count()} CPUs",
        }
    if options.write:
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        text = PAGE.read_text(encoding="utf-8")
        head, rest = text.split(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n{table(stored)}{END}{rest.split(END)[1]}", encoding="utf-8")
    return min(broken, 1)


def line(attack: Attack, tally: Tally) -> str:
    """One attack's counts in words."""
    counts = f"{tally.tried} tried, {tally.refused} refused, {tally.harmless} harmless, {len(tally.broken)} got through"
    return f"{attack.name}: {counts}"


def table(stored: dict[str, dict[str, object]]) -> str:
    """The table of docs/reliability.md, in the order of the registry."""
    rows = ["| attack | tried | refused | harmless | got through | day |", "| --- | --- | --- | --- | --- | --- |"]
    for attack in ATTACKS:
        if counts := stored.get(attack.name):
            broken = counts["broken"]
            assert isinstance(broken, list)
            rows.append(
                f"| {attack.name} | {counts['tried']} | {counts['refused']} | {counts['harmless']} "
                f"| {len(broken)} | {counts['day']} |"
            )
    return "\n".join(rows) + "\n"


def _is_there(attack: Attack) -> bool:
    if os.geteuid() != 0:
        return False
    return attack.needs != "lab" or bool(shutil.which("terraform") or shutil.which("tofu"))


if __name__ == "__main__":
    sys.exit(main())
