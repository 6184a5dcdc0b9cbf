"""Attacks on what reads experiments: mutated files, hostile strings, full and read-only disks."""

from __future__ import annotations

import copy
import io
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from orchestrator.analysis.summarise import summarise
from orchestrator.cli.console import Console
from orchestrator.cli.plan_text import plan_document, plan_lines
from orchestrator.errors import OrchError
from orchestrator.experiment.plan import store
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read import tree
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.hosts.local.machine_lock import VARIABLE
from orchestrator.report import render
from tests.attacks.base import Attack, Tally
from tests.support.runs import a_run

ROOT = Path(__file__).parents[2]
_SHIPPED = sorted((ROOT / "experiments").glob("*.yaml"))
_MOST_CPU_S = 2.0
_MOST_BYTES = 300 * 2**20

Mutation = Callable[[random.Random, str], str]


def mutated(count: int, seed: int, folder: Path) -> Tally:
    """A shipped experiment, changed in its bytes or in its values: refused with its place, or planned; never costly.

    The bounds are CPU seconds and the growth of this process's memory. ValueError of the C library and the like fail.
    """
    tally = Tally()
    source = random.Random(seed)
    path = folder / "mutated.yaml"
    make_plan(_SHIPPED[0])  # what is imported once is not counted
    for _ in range(count):
        original = source.choice(_SHIPPED)
        text = original.read_text(encoding="utf-8")
        mutation = source.choice(_MUTATIONS)
        changed = mutation(source, text)
        path.write_bytes(changed.encode("utf-8", "surrogateescape"))
        what = f"{original.name}, {mutation.__name__}: {_difference(text, changed)}"
        tally.note(_bounded(lambda: _outcome(path, folder)), what)
    return tally


def _outcome(path: Path, folder: Path) -> str:
    try:
        plan = make_plan(path)
        store.save(plan, folder / "plans")
        return "harmless"
    except ExperimentError as error:
        marks = [problem.mark for problem in error.problems]
        return "refused" if marks and all(m.line >= 1 and m.column >= 1 for m in marks) else "refused without a place"
    except Exception as error:  # noqa: BLE001 - any other end is what the attack looks for
        return f"{type(error).__name__}: {error}"


def _bounded(attempt: Callable[[], str]) -> str:
    """The outcome, or which bound it broke."""
    before = forget_peak()
    started = time.process_time()
    outcome = attempt()
    cpu_s, grown = time.process_time() - started, peak_bytes() - before
    if cpu_s > _MOST_CPU_S:
        return f"took {cpu_s:.1f} s of CPU"
    return outcome if grown < _MOST_BYTES else f"took {grown >> 20} MB"


def forget_peak() -> int:
    """Set the peak of this process's memory back to what it uses now, where the kernel can (Linux); that much."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def peak_bytes() -> int:
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _difference(before: str, after: str) -> str:
    place = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    return f"from character {place}: {after[place : place + 60]!r}"


def flipped_bytes(source: random.Random, text: str) -> str:
    content = bytearray(text.encode())
    for _ in range(source.randint(1, 4)):
        content[source.randrange(len(content))] = source.randrange(256)
    return content.decode("utf-8", "surrogateescape")


def lost_and_doubled_lines(source: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    for _ in range(source.randint(1, 3)):
        place = source.randrange(len(lines))
        lines[place] = source.choice(["", lines[place] * source.choice([2, 50, 2000]), source.choice(lines)])
    return "".join(lines)


def cut_off(source: random.Random, text: str) -> str:
    return text[: source.randrange(len(text))]


def put_in(source: random.Random, text: str) -> str:
    place = source.randrange(len(text))
    return text[:place] + source.choice(_TOKENS) + text[place:]


def other_values(source: random.Random, text: str) -> str:
    """Values of the tree replaced, keys added and taken away; written again as JSON, which is YAML."""
    root: Any = tree.parse(tree.Source("shipped", text)).plain()
    for _ in range(source.randint(1, 3)):
        holder, key = source.choice(list(_places(root)))
        action = source.random()
        if action < 0.7:
            holder[key] = copy.deepcopy(source.choice(_VALUES))
        elif action < 0.85 and isinstance(holder, dict):
            holder[source.choice(_KEYS)] = copy.deepcopy(source.choice(_VALUES))
        else:
            holder[key] = [holder[key], copy.deepcopy(source.choice(_VALUES))]
    return json.dumps(root)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    for key, item in items:
        yield value, key
        yield from _places(item)


_MUTATIONS: tuple[Mutation, ...] = (flipped_bytes, lost_and_doubled_lines, cut_off, put_in, other_values, other_values)
_TOKENS = (
    "&a ", "*a", "[", "{", "]", "}", "- ", "? ", ": ", "!!python/object:os.system ", "|\n", ">\n", "\t", "\0", "\x1b[2J",
    "%YAML 9.9\n", "---\n", "...\n", '"\\ud800"', '"\\e"', "<<: *a\n", "[" * 3000, "{a: " * 3000, "- " * 3000, "9" * 5000,
    "\u202e", "\ufeff", "a: &a [*a, *a]\n", "[" + "1," * 40_000 + "1]", "&x [" + "0," * 900 + "]",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, [], {}, "", "x", True, -1, 0, 1, 10**9, 10**18, 1.5, "1" * 400 + "s", "0.5s", "0s", "2000h", "1e400 s", "1 B",
    "64 MiB", "999999999 GB", "1000000/s", "0/s", "0.000001/h", "100 %", "0 %", "all", ["all", "all"], "rest", "tcp", "gcp",
    "lab", "A", "../../etc/passwd", "/dev/zero", "/dev/stdin", "/proc/kmsg", "/proc/self/mem", "a\0b", "\x1b[31m", "ü",
    list(range(1, 1001)), list(range(40_000)), [f"{n} kB" for n in range(1, 1001)], [f"{n}/s" for n in range(1, 1001)],
    [f"{n} MiB" for n in range(1, 65)], {"name": "far", "rtt": "10ms"},
    [{"name": f"p{n}", "rtt": "1ms"} for n in range(900)],
    {"rate": "1000000/s", "duration": "168h"}, {"requests": 10**8}, {"image": {"bytes": ["64 MiB", "63 MiB", "62 MiB"]}},
    {"echo": {"json": "/dev/zero"}}, {"echo": {"records": list(range(1, 1001))}}, {"a": {"a": {"a": {"a": {}}}}},
)  # fmt: skip
_KEYS = (
    "load", "limits", "placements", "provider", "machine", "exclude", "repeats", "control", "warmup", "connection",
    "requesters", "operations", "stacks", "seed", "reference", "matters", "timeout", "rate", "duration", "bytes", "json",
)  # fmt: skip


def hostile_strings(count: int, seed: int, folder: Path) -> Tally:
    """A string that a terminal, a browser or a file system may act on, in a place that takes text.

    What is printed holds no control character, the report no element or attribute beyond its own, and nothing is written
    beside the plan.
    """
    tally = Tally()
    random.Random(seed)
    summary = summarise(a_run(blocks=3))
    _elements(render(summary))
    inside = folder / "inside"
    inside.mkdir()
    return tally


def _is_acted_on(character: str) -> bool:
    """Whether a terminal acts on it: controls, half characters, separators of lines, marks that reorder text."""
    is_control = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") and character != "\n"
    return is_control or unicodedata.bidirectional(character) in (
        "LRE",
        "RLE",
        "LRO",
        "RLO",
        "LRI",
        "RLI",
        "FSI",
        "PDI",
        "PDF",
    )


def _shown(path: Path, folder: Path) -> tuple[str, str]:
    """What `orch plan` prints of it, as bytes of UTF-8 could hold it; and whether it was refused."""
    out, outcome = io.StringIO(), "harmless"
    console = Console(out=out, err=out)
    try:
        plan = make_plan(path)
        document = {**plan_document(plan, store.save(plan, folder / "plans")), "terraform": None}
        for line in plan_lines(plan, document):
            console.result(line)
        console.as_json = True
        console.emit(document)
    except OrchError as error:
        console.error(error)
        outcome = "refused"
    out.getvalue().encode()
    return out.getvalue(), outcome


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, ...]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count elements with the names of their attributes, and every link that is a script."""
        links = [value or "" for name, value in attrs if name in ("href", "src")]
        is_script = any(link.strip().lower().startswith(("javascript:", "data:text")) for link in links)
        self.found.append((tag, *(name for name, _ in attrs), *(["script link"] if is_script else [])))


def _elements(page: str) -> dict[tuple[str, ...], int]:
    """How often each kind of element stands in a page, but for those that hold a verdict more, or text between backticks."""
    page.encode()
    parser = _Elements()
    parser.feed(page)
    return {
        kind: parser.found.count(kind)
        for kind in set(parser.found)
        if kind[0] not in ("li", "p", "b", "strong", "code")
    }


_TEXT_PLACES = (
    "name: x\nquestion: TEXT\nstacks: rest\noperations: timestamp\n",
    "name: x\nquestion: TEXT\nstacks: rest\noperations: timestamp\nprovider: gcp\n",
    "name: TEXT\nquestion: q\nstacks: rest\noperations: timestamp\n",
    "name: x\nquestion: q\nstacks: TEXT\noperations: timestamp\n",
    "name: x\nquestion: q\nstacks: {protocol: rest, client: TEXT}\noperations: timestamp\n",
    "name: x\nquestion: q\nstacks: rest\noperations: TEXT\n",
    "name: x\nquestion: q\nstacks: rest\noperations: {echo: {json: TEXT}}\n",
    "name: x\nquestion: q\nstacks: rest\noperations: timestamp\nreference: TEXT\n",
    "name: x\nquestion: q\nstacks: rest\noperations: timestamp\nprovider: lab\nmachine: TEXT\n",
    "name: x\nquestion: q\nstacks: rest\noperations: timestamp\nprovider: lab\nplacements: {name: TEXT, rtt: 1ms}\n",
    "name: x\nquestion: q\nstacks: rest\noperations: timestamp\nprovider: lab\nplacements: {name: a, from: TEXT}\n",
    "name: x\nquestion: q\nstacks: rest\noperations: timestamp\ntimeout: TEXT\n",
    "name: x\nquestion: q\nstacks: rest\noperations: timestamp\nexclude: {protocol: TEXT}\n",
    "name: x\nquestion: q\nstacks: rest\noperations: timestamp\n? TEXT\n: 1\n",
)
_SEEDS = (
    "\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\x00", "\r", "\x08\x08", "\x7f", "\ud800", "\udfff\ud800", "\u202egnp.exe",
    "\u2066", "\u2028", "\u200b", "\ufeff", "א", "é" * 40, "💥", "<script>alert(1)</script>",
    "</script><script>x()</script>",
    '"><img src=x onerror=alert(1)>', "<svg/onload=alert(1)>", "javascript:alert(1)", "<!--", "]]>", "{{7*7}}", "{% x %}",
    "${jndi:x}", "%s%n%d", "{0.__class__}", "../../../etc/passwd", "/etc/passwd", "..\\..\\x", "~/.ssh/id", "-rf", "--help",
    "; rm x", "$(id)", "`id`", "|id", "a\nplan 0 is current", "'", '"', "\\", "x" * 5000, "con", ".", "..", "", " ", "*",
    "&a", "!!x", "@x", "%x", "/dev/zero", "/proc/self/environ", "\u0301" * 200, "\uffff", "\U0010ffff",
)  # fmt: skip


def _hostile(source: random.Random) -> str:
    return "".join(source.choice(_SEEDS) for _ in range(source.choice([1, 1, 2, 3])))


def refusing_disks(count: int, seed: int, folder: Path) -> Tally:
    """`.orch`, `results`, `reports` full, read-only, or a file: one line that names the place, exit 2 or 3, no traceback.

    What is full is a small tmpfs, what is read-only one that is mounted so: root writes to everything else.
    """
    tally = Tally()
    for number, (name, state) in enumerate(_DISKS[:count]):
        home = folder / f"disk-{number}"
        home.mkdir()
        with _refusing(home / name, state):
            tally.note(_refused_by(home, name), f"{name or 'the whole folder'}, {state}")
    return tally


_DISKS = [(name, state) for name in (".orch", "results", "") for state in ("full", "read-only")]
_DISKS += [(name, "a file") for name in (".orch", "results", "reports")]
_TINY = """\
name: tiny
question: q
stacks: rest
operations: timestamp
repeats: 1
load: {requests: 20}
warmup: {requests: 1, at_least: 0s}
"""


def _refused_by(home: Path, name: str) -> str:
    """What a run said while the disk refused it, judged; and that no hint names --resume where no run has begun."""
    experiment = home.parent / "tiny.yaml"
    experiment.write_text(_TINY)
    done = _orch(home, "run", str(experiment))
    said = done.stdout + done.stderr
    if "Traceback" in said or "orch failed:" in said or done.returncode not in (2, 3):
        return f"exit {done.returncode}: {said[-300:]}"
    if name and name not in said:
        return f"the place is not named: {said[-300:]}"
    has_begun = (home / "results").is_dir() and any((home / "results").glob("*/journal.jsonl"))
    if "--resume" in said and not has_begun:
        return f"a hint names --resume, but no run has begun: {said[-300:]}"
    return "refused"


def _orch(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from orchestrator.cli.main import main; main()", *words]
    return subprocess.run(
        command,
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: str(home.parent / "machine.lock")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@contextmanager
def _refusing(place: Path, state: str) -> Iterator[None]:
    """A place that is full, read-only, or a file, until the block ends."""
    if state == "a file":
        place.write_text("in the way")
        yield
        return
    place.mkdir(exist_ok=True)
    size = "16k" if state == "full" else "1m"
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        if state == "full":
            with (place / "ballast").open("wb", buffering=0) as ballast:
                _fill(ballast)
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


def _fill(ballast: io.RawIOBase | Any) -> None:
    try:
        while ballast.write(bytes(4096)):
            pass
    except OSError:
        return


ATTACKS = (
    Attack(name="a mutated experiment", many=2000, few=60, run=mutated),
    Attack(name="a hostile string in an experiment", many=300, few=30, run=hostile_strings),
    Attack(name="a full or read-only disk", many=len(_DISKS), few=len(_DISKS), run=refusing_disks, needs="root"),
)
