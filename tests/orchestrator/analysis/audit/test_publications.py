"""Every publication of the collection is judged as its first lines say, and for the reason they give.

`# expect: clean`, `# expect: <verdict> (<rule>)`, or `# expect: refused at <line>: <words>`, and `# because: ...`.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from orchestrator.analysis.audit import claims, examine, load, network, shape, tables
from orchestrator.analysis.audit.finding import ACCUSING, Finding, Rule
from orchestrator.analysis.audit.model import AuditFile
from orchestrator.analysis.audit.read import read
from orchestrator.experiment.problems import ExperimentError
from tests.orchestrator.analysis.audit import tools

PUBLICATIONS = Path(__file__).parent / "publications"
KINDS = {"honest": 30, "mutated": 30, "malformed": 30}
MISSED_MUTATIONS = 1 / 20


def of_kind(kind: str) -> list[Path]:
    return sorted((PUBLICATIONS / kind).glob("*.yaml"))


def expected(path: Path) -> str:
    first, second, *_ = path.read_text(encoding="utf-8").splitlines()
    assert second.startswith("# because: ")
    return first.removeprefix("# expect: ")


def accusations(file: AuditFile) -> list[Finding]:
    return [f for f in examine(file).findings if f.verdict in ACCUSING]


def judged(path: Path) -> str:
    """What came of a publication, in the words of its expectation."""
    want = expected(path)
    try:
        found = accusations(read(path))
    except ExperimentError as error:
        at = re.match(r"refused at (\d+): (.*)", want)
        fits = at and f"{path}:{at[1]}:" in error.message and at[2] in error.message
        return want if fits else f"refused: {error.message}"
    said = {f"{f.verdict} ({f.rule})": f.arithmetic for f in found}
    if want in said:
        return want
    return "; ".join(f"{verdict}: {why}" for verdict, why in said.items()) or "clean"


@pytest.mark.parametrize(("kind", "least"), KINDS.items())
def test_there_are_enough_publications_of_each_kind(kind: str, least: int) -> None:
    assert len(of_kind(kind)) >= least


@pytest.mark.parametrize("path", [*of_kind("honest"), *of_kind("malformed")], ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_no_honest_publication_is_accused_and_no_malformed_one_accepted(path: Path) -> None:
    assert judged(path) == expected(path)


def test_at_most_one_mutation_in_twenty_is_missed() -> None:
    missed = {path.stem: judged(path) for path in of_kind("mutated") if judged(path) != expected(path)}
    assert len(missed) <= MISSED_MUTATIONS * len(of_kind("mutated")), missed


@pytest.mark.parametrize("path", of_kind("mutated"), ids=lambda p: p.stem)
def test_every_accusation_names_its_tolerance_and_an_honest_explanation(path: Path) -> None:
    for finding in accusations(read(path)):
        assert finding.rule
        assert finding.tolerance
        assert finding.honest_explanation


@pytest.mark.parametrize("tool", tools.TOOLS)
@pytest.mark.parametrize("seed", range(10))
def test_figures_as_a_tool_prints_them_are_not_accused(tool: str, seed: int) -> None:
    rows = []
    for number, (concurrency, typical_ms) in enumerate([(1, 0.4), (16, 3.0), (16, 4.1), (64, 60.0)]):
        load = tools.closed_loop(
            1_000 * seed + number, concurrency=concurrency, typical_ms=typical_ms, requests=3_000 + 500 * seed
        )
        rows.append({"name": f"r{number}", "protocol": f"p{number}", **tools.TOOLS[tool](load)})
    stated = {"tool": tool, "mode": "closed loop", "repeats": 1}
    assert accusations(AuditFile.model_validate({"title": tool, "stated": stated, "results": rows})) == []


@pytest.mark.parametrize("requests", [1_000, 20_000])
def test_independent_samples_of_one_shape_are_rarely_called_a_template(requests: int) -> None:
    rng = np.random.default_rng(requests)
    accused = 0
    for _ in range(100):
        rows = []
        for number, mean in enumerate([0.8, 1.3, 1.9, 2.8, 4.4]):
            drawn = rng.lognormal(0, 0.4, requests) * mean
            at = np.percentile(drawn, [50, 95, 99])
            figures = {"mean": drawn.mean(), "sd": drawn.std(), "median": at[0], "p95": at[1], "p99": at[2]}
            figures |= {"min": drawn.min(), "max": drawn.max()}
            known = {"name": f"s{number}", "protocol": f"p{number}", "samples": requests}
            rows.append(known | {name: round(float(value), 3) for name, value in figures.items()})
        accused += bool(accusations(AuditFile.model_validate({"title": "t", "results": rows})))
    assert accused <= 3


def every_rule() -> list[Rule]:
    modules = (claims, load, network, shape, tables)
    return [value for module in modules for value in vars(module).values() if isinstance(value, Rule)]


@pytest.mark.parametrize("rule", every_rule(), ids=lambda rule: rule.name)
def test_every_rule_stands_in_the_documentation_as_it_is_applied(rule: Rule) -> None:
    page = " ".join((Path(__file__).parents[4] / "docs" / "audit.md").read_text(encoding="utf-8").split())
    assert f"| {rule.name} |" in page
    assert rule.tolerance in page
    assert rule.honest in page
