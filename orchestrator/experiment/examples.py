"""The shipped experiments as rows: the question of each, how long it takes, and what it needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from orchestrator.experiment.plan.cells import ask_postgresql
from orchestrator.experiment.plan.estimate import estimate
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.topology import needed_languages
from orchestrator.experiment.providers import PROVIDERS

_BAR = r"\|"  # within a cell of Markdown
_HEAD = """\
# Shipped experiments

`orch run experiments/NAME.yaml` runs one; `orch init --from NAME` copies one to change. This file is made by
`make schema`.

| Question | Experiment | Minutes | Needs |
| --- | --- | ---: | --- |
"""
FOLDER = Path(__file__).resolve().parents[2] / "experiments"


@dataclass(frozen=True, kw_only=True)
class Example:
    """One shipped experiment; `needs` beside a machine with Python: a provider, a database, programs to build."""

    name: str
    question: str
    minutes: int
    needs: tuple[str, ...]


def examples() -> tuple[Example, ...]:
    """Return the shipped experiments: first those that need nothing more, then by name."""
    plans = {path.stem: make_plan(path, needs_programs=False) for path in FOLDER.glob("*.yaml")}
    rows = [
        Example(
            name=name, question=plan.question, minutes=math.ceil(estimate(plan).duration_s / 60), needs=_needs(plan)
        )
        for name, plan in plans.items()
    ]
    return tuple(sorted(rows, key=lambda row: (bool(row.needs), row.name)))


def markdown(rows: tuple[Example, ...]) -> str:
    """Return the rows as `experiments/README.md` has them."""
    lines = []
    for row in rows:
        question = row.question.replace("|", _BAR)
        lines.append(f"| {question} | [{row.name}]({row.name}.yaml) | {row.minutes} | {', '.join(row.needs)} |\n")
    return _HEAD + "".join(lines)


def _needs(plan: Plan) -> tuple[str, ...]:
    """What is not on every machine: the provider of hosts, PostgreSQL, languages whose programs are built."""
    makes_hosts = PROVIDERS[plan.provider].makes_hosts
    return (
        *([plan.provider] if makes_hosts else []),
        *(["PostgreSQL"] if ask_postgresql(plan.cells) and not makes_hosts else []),
        *(language.title for language in needed_languages(plan) if language.build),
    )
