"""What becomes of small experiments: what a person reads where one is refused, and what the plan of another has.

`refusals.txt` and `plans.txt` have experiments with their answers; `python -m tests.orchestrator.experiment.test_refusals`
writes the answers anew, for review as a diff. A case lacks the keys of `USUAL` unless it is about them; it is `whole` where
one of these is missing on purpose.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from orchestrator.experiment.model.factors import knobs, resources
from orchestrator.experiment.plan.contrasts import compared, pairs
from orchestrator.experiment.plan.loads import describe_search
from orchestrator.experiment.plan.plan import Cell, Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.topology import topology
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.quantities import of_load

FILES = tuple(Path(__file__).with_name(name) for name in ("refusals.txt", "plans.txt"))
USUAL = {"name": "refused", "question": "What is refused?", "stacks": "rest", "operations": "timestamp"}
TITLE, ANSWER, SET, WHOLE = "# ", "=> ", "--set ", "whole"


def groups(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Title and cases of each group; a case is its lines."""
    for part in text.split("\n" + TITLE):
        title, *lines = part.removeprefix(TITLE).split("\n")
        yield title, [list(case) for is_case, case in groupby(lines, bool) if is_case]


def answered(case: Sequence[str], folder: Path) -> list[str]:
    """A case with what is wrong with it, or else with what its plan has."""
    given = [line for line in case if not line.startswith(ANSWER)]
    lines = [line for line in given if not line.startswith(SET) and line != WHOLE]
    keys = {line.partition(":")[0] for line in lines}
    usual = [] if WHOLE in given else [f"{key}: {value}" for key, value in USUAL.items() if key not in keys]
    path = folder / "refused.yaml"
    path.write_text("\n".join([*lines, *usual, ""]), encoding="utf-8")
    overrides = [line.removeprefix(SET) for line in given if line.startswith(SET)]
    try:
        answers = list(in_lines(make_plan(path, overrides)))
    except ExperimentError as error:
        problems = [(problem.mark, problem.message.replace(str(folder), "FOLDER")) for problem in error.problems]
        answers = [f"{mark.line}:{mark.column} {message}" for mark, message in problems]
    return [*given, *(f"{ANSWER}{answer}" for answer in answers)]


def in_lines(plan: Plan) -> Iterator[str]:
    """What a plan has, a line for each part of it."""
    yield from (f"stack {stack.id}: {stack.label}" for stack in plan.stacks)
    yield from (
        f"operation {each.id}: {each.label}, {each.request_bytes:,} B out, {each.reply_bytes:,} B back"
        for each in plan.operations
    )
    for placement in plan.placements:
        zones = f", {placement.from_zone} to {placement.to_zone}" if placement.to_zone else ""
        link = [f"{name} {value:g}" for name, value in vars(placement.link).items() if value and name != "source"]
        yield f"placement {placement.id}: {', '.join([placement.kind + zones, *link, placement.pin or plan.pin])}"
    if PROVIDERS[plan.provider].makes_hosts:
        wanted = topology(plan)
        yield from (f"host {host.name}: {host.role} in {host.zone}" for host in wanted.hosts)
        for name, ends in wanted.ends.items():
            yield f"ends {name}: {', '.join(ends.requesters)} to {ends.responder}{f', {ends.store}' if ends.store else ''}"
        yield from (f"link {' to '.join(each.zones)}: {each.link.rtt_ms} ms" for each in wanted.links)
    yield from (f"cell {cell.id}: {_of_cell(cell)}" for cell in plan.cells)
    yield from (f"{pair.factor}: {pair.cell.id} against {pair.reference.id}" for pair in pairs(plan))
    if plan.until is not None:
        yield f"until {plan.until.within}, {plan.until.at_least} to {plan.until.at_most} blocks"
    yield f"{len(plan.trials):,} trials in {plan.blocks} blocks, compared: {compared(plan)}"


def _of_cell(cell: Cell) -> str:
    load = (
        describe_search(cell.find, cell.load)
        if cell.find
        else of_load(cell.load, cell.kind, cell.calls, at_once=cell.is_at_once)
    )
    settings = [f"{name} {value}" for name, value in (knobs(cell.factors) | resources(cell.factors)).items()]
    probes = [f"{cell.find.probes} probes"] if cell.find else []
    calls = [f"{cell.in_a_row} of {cell.calls} calls in a row, {cell.connections_each} connections"]
    return ", ".join([cell.kind, load, *probes, *settings, *(calls if cell.calls > 1 else [])])


CASES = [
    pytest.param(file, title, cases, id=title) for file in FILES for title, cases in groups(file.read_text("utf-8"))
]


@pytest.mark.parametrize(("file", "title", "cases"), CASES)
def test_an_experiment_is_answered_in_these_words(
    file: Path, title: str, cases: list[list[str]], tmp_path: Path
) -> None:
    assert cases, title
    assert [answered(case, tmp_path) for case in cases] == cases
    is_planned = [f"{ANSWER}stack " in "\n".join(case) for case in cases]
    assert is_planned == [file.stem == "plans"] * len(cases)


if __name__ == "__main__":
    for golden in FILES:
        with tempfile.TemporaryDirectory() as place:
            parts = [
                TITLE + "\n\n".join([title, *("\n".join(answered(case, Path(place))) for case in cases)])
                for title, cases in groups(golden.read_text("utf-8"))
            ]
        golden.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
