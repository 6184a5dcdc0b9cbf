from __future__ import annotations

import pytest

from orchestrator.errors import ProvisionError
from orchestrator.measure.stages import STAGES, Stage, walk

NAMES = [stage.name for stage in STAGES]


def made_when(fails: str | None) -> list[str]:
    """The stages that are made when one of them fails."""
    made: list[str] = []

    def step(name: str) -> None:
        made.append(name)
        if name == fails:
            raise ProvisionError(name)

    steps = {name: (lambda name=name: step(name)) for name in NAMES}
    if fails is None:
        walk(steps, lambda stage: None)
    else:
        with pytest.raises(ProvisionError, match=fails):
            walk(steps, lambda stage: None)
    return made


def test_stages_are_made_in_the_order_of_the_table():
    assert made_when(None) == NAMES


def test_every_stage_needs_only_stages_before_it():
    for place, stage in enumerate(STAGES):
        assert set(stage.needs) <= set(NAMES[:place])


@pytest.mark.parametrize("fails", ["provision", "deploy", "smoke", "measure"])
def test_a_failure_still_collects_and_tears_down(fails):
    until = NAMES[: NAMES.index(fails) + 1]
    assert made_when(fails) == [*until, "collect", "teardown"]


def test_a_failure_to_collect_still_tears_down():
    assert made_when("collect")[-1] == "teardown"
    assert "report" not in made_when("collect")


def fail(name: str) -> None:
    raise ProvisionError(name)


def test_a_later_failure_is_a_note_on_the_first():
    steps = {name: (lambda name=name: fail(name)) for name in ("provision", "collect")}
    with pytest.raises(ProvisionError, match="provision") as caught:
        walk(steps, lambda stage: None)
    assert caught.value.__notes__ == ["then, while collecting the samples: collect"]


def test_a_failed_teardown_comes_before_what_failed_earlier():
    steps = {name: (lambda name=name: fail(name)) for name in ("provision", "teardown")}
    with pytest.raises(ProvisionError, match="teardown") as caught:
        walk(steps, lambda stage: None)
    assert caught.value.__notes__ == ["before that: provision"]


def test_a_stage_that_may_not_begin_counts_as_failed():
    made: list[str] = []

    def begin(stage: Stage) -> None:
        if stage.name == "measure":
            raise ProvisionError("not now")

    with pytest.raises(ProvisionError, match="not now"):
        walk({name: (lambda name=name: made.append(name)) for name in NAMES}, begin)
    assert made == ["provision", "deploy", "smoke", "collect", "teardown"]
