"""From a YAML file to a plan: `make_plan`, and `materialise` for its payload files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.experiment.plan.plan import Plan


def make_plan(path: Path, overrides: Sequence[str] = (), *, needs_programs: bool = True) -> Plan:
    """The plan of an experiment file, with `--set` overrides applied; see `planning.make_plan`."""
    # Imported at the call: who only reads plans need not load pydantic.
    from orchestrator.experiment.plan.planning import make_plan as resolve

    return resolve(path, overrides, needs_programs=needs_programs)


def materialise(plan: Plan, folder: Path) -> list[Path]:
    """Make or copy the plan's payload files into `folder`; see `payloads.materialise`."""
    from orchestrator.experiment.plan.payloads import materialise as write

    return write(plan, folder)
