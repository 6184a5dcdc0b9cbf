"""A run says of what its programs were built and with what; two runs of other programs are compared, and it is said."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.between_runs.across import compare_runs
from orchestrator.between_runs.environments import are_alike
from orchestrator.findings.summary import RunSummary
from orchestrator.results.manifest import ProgramsRecord
from orchestrator.summarise import summarise
from tests.support.findings import measured
from tests.support.runs import a_run

RECORD = ProgramsRecord(
    title="Tiny",
    source="a" * 64,
    toolchain={"tinyc": "1.26.0"},
    platform="linux-x86_64",
    contract=2,
    artifacts={"build/respond": "c" * 64},
    runtimes={"requester-1": {"tinyvm": "20.1"}, "responder-1": {"tinyvm": "20.1"}},
)


def summary(name: str, seed: int, **changes: str) -> RunSummary:
    run = a_run(seed=seed)
    run.stored = replace(run.stored, programs={"tiny": replace(RECORD, **changes)})
    return measured(summarise(run), id=name)


def test_runs_of_other_programs_are_compared_and_what_differs_is_named() -> None:
    old, new, same = summary("old", 1), summary("new", 2, source="b" * 64), summary("same", 3)
    judgement = compare_runs(new, old, "median").differences
    described = (
        "built with tinyc 1.26.0, of source bbbbbbbbbbbb; run by tinyvm 20.1 against built with tinyc 1.26.0, of source"
    )
    assert any("what was built differs (Programs in Tiny: " + described in text for text in judgement), judgement
    assert not any("what was built" in text for text in compare_runs(same, old, "median").differences)
    assert are_alike(same.to_dict(), old.to_dict())
    assert not are_alike(new.to_dict(), old.to_dict())
