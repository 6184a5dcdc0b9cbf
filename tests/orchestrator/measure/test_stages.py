from __future__ import annotations

import pytest

from orchestrator.errors import ProvisionError
from orchestrator.measure.stages import STAGES, Stage, walk

NAMES = [stage.name for stage in STAGES]


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
