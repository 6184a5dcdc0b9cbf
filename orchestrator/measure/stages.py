"""The one table of stages. The loop, `--resume`, and the words of its errors come from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A step of a run, in the order of `STAGES`.

    `needs` names the stages that must have ended well. `always`: it is made after a failure or an interrupt too, as
    long as what it needs was done, so that nothing measured is lost and nothing made is left.
    """

    name: str
    doing: str
    needs: tuple[str, ...] = ()
    always: bool = False


STAGES: tuple[Stage, ...] = (
    Stage(name="provision", doing="making the hosts"),
    Stage(name="deploy", doing="deploying both ends", needs=("provision",)),
    Stage(name="smoke", doing="trying every stack", needs=("deploy",)),
    Stage(name="measure", doing="measuring", needs=("smoke",)),
    Stage(name="collect", doing="collecting the samples", always=True),
    Stage(name="check", doing="checking the numbers", needs=("measure", "collect")),
    Stage(name="report", doing="writing the report", needs=("measure", "collect")),
    Stage(name="teardown", doing="taking everything down", always=True),
)


MEASURING = ("provision", "deploy", "smoke", "measure")
"""What a run does not do again whose blocks are all finished."""


def walk(
    steps: Mapping[str, Callable[[], None]], begin: Callable[[Stage], None], earlier: Collection[str] = ()
) -> None:
    """Make the stages of `steps` in order; `begin` is called for each before it is made. `earlier` ones are made already.

    After a failure only the stages that are `always` made follow, and then the first failure is raised, with the later
    ones as notes; but a failed teardown comes first: what is left may cost money.
    """
    done = set(earlier)
    failure: BaseException | None = None
    for stage in STAGES:
        if stage.name not in steps or not done.issuperset(stage.needs):
            continue
        if failure is not None and not stage.always:
            continue
        try:
            begin(stage)
            steps[stage.name]()
        except BaseException as error:  # noqa: BLE001 - raised below, once what must always be done is done
            failure = _worse(failure, error, stage)
        else:
            done.add(stage.name)
    if failure is not None:
        raise failure


def _worse(before: BaseException | None, error: BaseException, stage: Stage) -> BaseException:
    if before is None:
        return error
    if stage.name == "teardown":
        error.add_note(f"before that: {before}")
        return error
    before.add_note(f"then, while {stage.doing}: {error}")
    return before
