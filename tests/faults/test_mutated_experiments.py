"""A shipped experiment whose bytes or values are changed is refused with its place, or planned; nothing else happens."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment import store
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read import tree
from orchestrator.experiment.read.problems import ExperimentError

SHIPPED = sorted((Path(__file__).parents[2] / "experiments").glob("*.yaml"))
TRIES = 12

Mutation = Callable[[random.Random, str], str]


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
    return text[:place] + source.choice(TOKENS) + text[place:]


def other_values(source: random.Random, text: str) -> str:
    """Values of the tree replaced, keys added and taken away; written again as JSON, which is YAML."""
    root: Any = tree.parse(tree.Source("shipped", text)).plain()
    for _ in range(source.randint(1, 3)):
        holder, key = source.choice(list(places(root)))
        action = source.random()
        if action < 0.7:
            holder[key] = copy.deepcopy(source.choice(VALUES))
        elif action < 0.85 and isinstance(holder, dict):
            holder[source.choice(KEYS)] = copy.deepcopy(source.choice(VALUES))
        else:
            holder[key] = [holder[key], copy.deepcopy(source.choice(VALUES))]
    return json.dumps(root)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    for key, item in items:
        yield value, key
        yield from places(item)


TOKENS = (
    "&a ", "*a", "[", "{", "]", "}", "- ", "? ", ": ", "!!python/object:os.system ", "|\n", ">\n", "\t", "\0", "\x1b[2J",
    "%YAML 9.9\n", "---\n", "...\n", '"\\ud800"', '"\\e"', "<<: *a\n", "[" * 3000, "{a: " * 3000, "- " * 3000, "9" * 5000,
    "\u202e", "\ufeff", "a: &a [*a, *a]\n", "[" + "1," * 40_000 + "1]", "&x [" + "0," * 900 + "]",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, [], {}, "", "x", True, -1, 0, 1, 10**9, 10**18, 1.5, "1" * 400 + "s", "0.5s", "0s", "2000h", "1e400 s", "1 B",
    "64 MiB", "999999999 GB", "1000000/s", "0/s", "0.000001/h", "100 %", "0 %", "all", ["all", "all"], "rest", "tcp", "gcp",
    "lab", "A", "../../etc/passwd", "/dev/zero", "/dev/stdin", "/proc/kmsg", "/proc/self/mem", "a\0b", "\x1b[31m", "ü",
    list(range(1, 1001)), list(range(40_000)), [f"{n} kB" for n in range(1, 1001)], [f"{n}/s" for n in range(1, 1001)],
    [f"{n} MiB" for n in range(1, 65)], {"name": "far", "rtt": "10ms"},
    [{"name": f"p{n}", "rtt": "1ms"} for n in range(900)],
    {"rate": "1000000/s", "duration": "168h"}, {"requests": 10**8}, {"image": {"bytes": ["64 MiB", "63 MiB", "62 MiB"]}},
    {"echo": {"json": "/dev/zero"}}, {"echo": {"records": list(range(1, 1001))}}, {"a": {"a": {"a": {"a": {}}}}},
)  # fmt: skip
KEYS = (
    "load", "limits", "placements", "provider", "machine", "exclude", "repeats", "control", "warmup", "connection",
    "requesters", "operations", "stacks", "seed", "reference", "matters", "timeout", "rate", "duration", "bytes", "json",
)  # fmt: skip


@pytest.mark.parametrize("mutation", [flipped_bytes, lost_and_doubled_lines, cut_off, put_in, other_values])
def test_a_changed_experiment_is_refused_with_its_place_or_planned(mutation: Mutation, tmp_path: Path) -> None:
    source = random.Random(7)
    path = tmp_path / "mutated.yaml"
    for _ in range(TRIES):
        changed = mutation(source, source.choice(SHIPPED).read_text(encoding="utf-8"))
        path.write_bytes(changed.encode("utf-8", "surrogateescape"))
        try:
            store.save(make_plan(path), tmp_path / "plans")
        except ExperimentError as error:
            marks = [problem.mark for problem in error.problems]
            assert marks
            assert all(mark.line >= 1 and mark.column >= 1 for mark in marks), changed[:500]
