"""The shortest experiment there is, to be extended line by line, and what is said of one that is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.catalogue.offers import Protocol
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError, Problem

Write = Callable[[str], Path]
Known = dict[str, Protocol]

MINIMAL = """\
name: example
question: Which is quicker?
stacks: [rest, grpc]
operations: timestamp
"""


def refused(path: Path, known: Known | None = None, *overrides: str) -> list[Problem]:
    """All that is wrong with an experiment of which no plan can be made."""
    with pytest.raises(ExperimentError) as error:
        make_plan(path, overrides, known)
    assert error.value.exit_code == 2
    return list(error.value.problems)


def problems(path: Path, known: Known | None = None, *overrides: str) -> list[str]:
    """`refused`, each with its place."""
    return [f"{p.mark.line}:{p.mark.column}: {p.message}" for p in refused(path, known, *overrides)]


def planner(head: str, tail: str = "") -> Callable[[Path, str], Plan]:
    """What makes the plan of a file in a folder: `head`, the text that is given, and `tail`."""

    def planned(folder: Path, text: str) -> Plan:
        path = folder / "x.yaml"
        path.write_text(head + text + tail)
        return make_plan(path)

    return planned
