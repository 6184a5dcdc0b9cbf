"""`orch plan` and the modules' own validation give the same answer to the same values, at every bound."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError

BASE = "name: x\nquestion: q\nstacks: rest\noperations: timestamp\nprovider: lab\n"
KEY = "ssh-ed25519 AAAA made for a test"


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A line of an experiment, and the same value as a module's input: `path` into the document, and what is put there."""

    line: str
    path: tuple[str | int, ...]
    value: object
    is_fit: bool


def far(**keys: str) -> str:
    return f"placements: {{{', '.join(f'{key}: {value}' for key, value in {'name': 'far', **keys}.items())}}}\n"


# Of a placement: the key of a module's link, and per text its value and whether it is fit.
LINKS: dict[str, tuple[str, dict[str, tuple[float, int]]]] = {
    "rtt": ("rtt_ms", {"10ms": (10, 1), "10s": (10_000, 1), "10.001s": (10_001, 0), "11s": (11_000, 0)}),
    "jitter": ("jitter_ms", {"9ms": (9, 1), "10ms": (10, 1), "11ms": (11, 0)}),
    "loss": ("loss", {"0 %": (0, 1), "99.9 %": (0.999, 1), "100 %": (1, 0)}),
    "initial_window": ("initial_window", {"1": (1, 1), "40": (40, 1), "0": (0, 0), "41": (41, 0)}),
    "rate": ("rate_mbit", {"0 Mbit/s": (0, 0), "1 kbit/s": (0.001, 1)}),
}
TTL = {
    "1s": (1, 1), "0.5s": (0.5, 0), "0s": (0, 0), "168h": (604_800, 1), "604801s": (604_801, 0),
    "2000h": (7_200_000, 0),
}  # fmt: skip
ZONES = {
    "us-central1-a": True, "us-central1-b": True, "A": False, "a": False, "us-central1": False, "us-central1-A": False,
    "us_central1-a": False, "-a": False, "1-a": False, "us-central1-ab": False, "us-central1-1": False, "ü-a": False,
}  # fmt: skip


def _bounds() -> Iterator[Bound]:
    for key, (name, cases) in LINKS.items():
        for text, (value, is_fit) in cases.items():
            line = far(**{"rtt": "10ms", key: text})
            yield Bound(line=line, path=("links", 0, name), value=value, is_fit=bool(is_fit))
    for text, (value, is_fit) in TTL.items():
        line = f"limits: {{wall: 1s, ttl: {text}}}\n"
        yield Bound(line=line, path=("ttl_seconds",), value=value, is_fit=bool(is_fit))
    for zone, is_zone in ZONES.items():
        line = f"placements: {{name: same-zone, from: {zone}}}\n"
        yield Bound(line=line, path=("hosts", "requester-1", "zone"), value=zone, is_fit=is_zone)
    for count in (64, 65):
        hosts = {f"h{n}": {"role": "requester", "zone": "a-b", "machine": "lab"} for n in range(count)}
        line = f"placements: same-zone\nrequesters: {count - 1}\nload: {{concurrency: 64, requests: 64}}\n"
        yield Bound(line=line, path=("hosts",), value=hosts, is_fit=count <= 64)


BOUNDS = list(_bounds())
CIDRS = {
    "203.0.113.7/32": True, "203.0.113.7/24": True, "35.235.240.0/20": True, "10.1.0.0/16": True, "10.0.0.0/15": False,
    "10.0.0.0/8": False, "0.0.0.0/0": False, "0.0.0.0/00": False, "0.0.0.0/": False, "1.2.3.4": False,
    "203.0.113.7/32,203.0.113.8/32": False, "203.0.113.7/33": False, "203.0.113.7/032": False, "256.0.0.0/16": False,
    "::/0": False, "2001:db8::1/128": False, "::ffff:10.0.0.1/32": False,
    "": False, "x/32": False, " 10.0.0.1/32": False, "10.0.0.1/32\n": False,
}  # fmt: skip


def allowed(folder: Path, line: str) -> bool:
    """Whether a plan can be made of the experiment with this line."""
    path = folder / "x.yaml"
    path.write_text(BASE + line)
    try:
        make_plan(path)
    except ExperimentError:
        return False
    return True


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.line.strip())
def test_a_plan_is_refused_on_the_far_side_of_each_bound(tmp_path: Path, bound: Bound) -> None:
    assert allowed(tmp_path, bound.line) is bound.is_fit


@pytest.mark.terraform
def test_the_modules_give_the_same_answers(infra: Path, run_terraform: Any, tmp_path: Path) -> None:
    cases = [(_document(bound.path, bound.value), bound.path[0], bound.is_fit) for bound in BOUNDS]
    cases += [(_document(("controller_cidr",), cidr), "controller_cidr", is_fit) for cidr, is_fit in CIDRS.items()]
    shutil.copy(infra / "lab" / "variables.tf", tmp_path)
    (tmp_path / "tests").mkdir()
    runs = [_run_block(number, *case) for number, case in enumerate(cases)]
    (tmp_path / "tests" / "bounds.tftest.hcl").write_text("\n".join(runs))
    assert run_terraform(tmp_path, "init", "-input=false").returncode == 0
    done = run_terraform(tmp_path, "test", "-no-color")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(cases)} passed, 0 failed" in done.stdout


def _document(path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """A module's input that is right but for the value at `path`."""
    document: dict[str, Any] = {
        "run_id": "bounds",
        "ttl_seconds": 60,
        "ssh_public_key": KEY,
        "hosts": {"requester-1": {"role": "requester", "zone": "us-west1-a", "machine": "lab"}},
        "host_keys": {},
        "links": [{"from_zone": "us-central1-a", "to_zone": "us-west1-a", "rtt_ms": 10}],
        "controller_cidr": "203.0.113.7/32",
    }
    *way, last = path
    holder: Any = document
    for step in way:
        holder = holder[step]
    holder[last] = value
    return document


def _run_block(number: int, document: Mapping[str, Any], variable: object, is_fit: bool) -> str:
    """One `run` of Terraform's own test language; JSON's values are HCL's."""
    values = "\n".join(f"    {name} = {_hcl(value)}" for name, value in document.items())
    fails = "" if is_fit else f"\n  expect_failures = [var.{variable}]"
    return f'run "case_{number}" {{\n  command = plan\n  variables {{\n{values}\n  }}{fails}\n}}\n'


def _hcl(value: object) -> str:
    return json.dumps(value).replace(": ", " = ") if isinstance(value, dict | list) else json.dumps(value)
