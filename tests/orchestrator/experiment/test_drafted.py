"""Experiments that `orch predict` writes of a plan from elsewhere: its words stay values and comments."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from orchestrator.cli.results.drafts import Draft, to_fill_a_gap
from orchestrator.experiment.plan.plan import Plan
from tests.support.modelled_runs import a_map

WANTED = Draft(rtt=300.0, size=20_000, rate_mbit=None, in_flight=1)
EVIL = (
    "x\nrequesters: 50",
    "x\r\nlimits: {cost: 1000.00 USD}",
    "x}\nseed: 2",
    "x\u2028seed: 2",
    "x\x85seed: 2",
    "x: {y: z}",
    "x # y",
    "&a [*a]",
    "!!python/object/apply:os.system [id]",
    '"',
    "- x",
)


def forged(evil: str) -> Plan:
    """A plan in which every word that a draft takes over is that text."""
    plan = a_map()
    return replace(
        plan,
        machine=evil,
        stacks=tuple(replace(stack, protocol=evil, responder=evil, client=evil) for stack in plan.stacks),
        operations=tuple(replace(operation, name=evil) for operation in plan.operations),
        placements=tuple(replace(placement, from_zone=evil, to_zone=evil) for placement in plan.placements),
    )


@pytest.mark.parametrize("evil", EVIL)
@pytest.mark.parametrize("provider", ["lab", "gcp"])
def test_no_word_becomes_a_key(evil: str, provider: str) -> None:
    sound, hostile = (replace(plan, provider=provider) for plan in (a_map(), forged(evil)))
    expected = yaml.safe_load(to_fill_a_gap(sound, sound.cells, WANTED, "a-run"))
    found = yaml.safe_load(to_fill_a_gap(hostile, hostile.cells, WANTED, evil))
    assert found.keys() == expected.keys()
    assert found["machine"] == evil
    assert list(found["operations"]) == [evil]
    assert {tuple(stack.values()) for stack in found["stacks"]} == {(evil, evil, evil)}
    assert {name: found[name] for name in ("limits", "seed", "repeats")} == {
        name: expected[name] for name in ("limits", "seed", "repeats")
    }
