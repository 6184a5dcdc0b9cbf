"""Every publication of the collection is judged as its first lines say, and for the reason they give.

`# expect: clean`, `# expect: <verdict> (<rule>)`, or `# expect: refused at <line>: <words>`, and `# because: ...`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestrator.audit.assessment import ACCUSING, Assessment
from orchestrator.audit.examine import examine
from orchestrator.audit.model import AuditFile, read
from orchestrator.experiment.read.problems import ExperimentError

PUBLICATIONS = Path(__file__).parent / "publications"
KINDS = ("honest", "mutated", "malformed")
MISSED_MUTATIONS = 1 / 20


def of_kind(kind: str) -> dict[str, str]:
    """The publications of a kind by name: `--- # <name>` separates them in its file."""
    _, *parts = re.split(r"^--- # (.+)\n", (PUBLICATIONS / f"{kind}.yaml").read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[::2], parts[1::2], strict=True))


HONEST, MUTATED, MALFORMED = map(of_kind, KINDS)


def expected(text: str) -> str:
    first, second, *_ = text.splitlines()
    assert second.startswith("# because: ")
    return first.removeprefix("# expect: ")


def accusations(file: AuditFile) -> list[Assessment]:
    return [f for f in examine(file).assessments if f.verdict in ACCUSING]


def judged(text: str, folder: Path) -> str:
    """What came of a publication, in the words of its expectation."""
    path, want = folder / "published.yaml", expected(text)
    path.write_text(text, encoding="utf-8")
    try:
        reasons = accusations(read(path))
    except ExperimentError as error:
        at = re.match(r"refused at (\d+): (.*)", want)
        fits = at and f"{path}:{at[1]}:" in error.message and at[2] in error.message
        return want if fits else f"refused: {error.message}"
    for assessment in reasons:
        assert assessment.tolerance, assessment.rule
        assert assessment.honest_explanation, assessment.rule
    verdicts = {f"{f.verdict} ({f.rule})" for f in reasons}
    return want if want in verdicts else "; ".join(sorted(verdicts)) or "clean"


@pytest.mark.parametrize("text", [*HONEST.values(), *MALFORMED.values()], ids=[*HONEST, *MALFORMED])
def test_no_honest_publication_is_accused_and_no_malformed_one_accepted(text: str, tmp_path: Path) -> None:
    assert judged(text, tmp_path) == expected(text)


def test_at_most_one_mutation_in_twenty_is_missed(tmp_path: Path) -> None:
    results = {name: judged(text, tmp_path) for name, text in MUTATED.items()}
    missed = {name: result for name, result in results.items() if result != expected(MUTATED[name])}
    assert len(missed) <= MISSED_MUTATIONS * len(MUTATED), missed
