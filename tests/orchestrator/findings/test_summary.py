"""A run's summary is read back as it was written, and nothing else is taken for one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from orchestrator.errors import UsageError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.summary import SCHEMA_VERSION, RunSummary
from orchestrator.questions.registry import QUESTIONS
from orchestrator.summarise import summary_of
from tests.support import summaries

_PLAIN: dict[Any, some.SearchStrategy[Any]] = {
    str: some.text(some.characters(exclude_categories=["Cs"]), max_size=5),
    int: some.integers(-(2**63), 2**63 - 1),
    float: some.floats(allow_nan=False, allow_infinity=False),
    bool: some.booleans(),
    NoneType: some.none(),
}
_PLAIN[Any] = some.recursive(
    some.one_of(*_PLAIN.values()),
    lambda inner: some.lists(inner, max_size=2) | some.dictionaries(_PLAIN[str], inner, max_size=2),
    max_leaves=3,
)
_PLAIN[Plan] = some.just(summaries.PLAN)


def of(hint: Any) -> some.SearchStrategy[Any]:
    """Any value of a type that a summary's fields have."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    if is_dataclass(hint) and isinstance(hint, type):
        hints = get_type_hints(hint)
        parts = {field.name: of(hints[field.name]) for field in fields(hint) if field.name != "schema_version"}
        return some.builds(hint, **parts)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return some.sampled_from(inner)
    if origin in (Union, UnionType):
        return some.one_of(*map(of, inner))
    if origin is tuple:
        is_long = inner[-1] is Ellipsis
        return some.lists(of(inner[0]), max_size=1).map(tuple) if is_long else some.tuples(*map(of, inner))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return some.sampled_from(list(hint))
    assert origin in (dict, Mapping), hint
    return some.dictionaries(of(inner[0]), of(inner[1]), max_size=1)


FINDINGS = some.fixed_dictionaries({}, optional={question.name: of(question.type) for question in QUESTIONS})


@given(of(RunSummary), FINDINGS)
@settings(max_examples=30, suppress_health_check=list(HealthCheck), deadline=None)
def test_any_summary_is_read_back_as_it_was(summary: RunSummary, findings: dict[str, Any]) -> None:
    summary = replace(summary, findings=findings)
    assert summary_of(json.loads(summary.to_json())).to_dict() == summary.to_dict()


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1])
def test_another_version_is_refused_by_its_number(version: int) -> None:
    other = replace(summaries.a_run(), schema_version=version)
    with pytest.raises(UsageError, match=f"of version {version}; this orch reads version {SCHEMA_VERSION}"):
        summary_of(json.loads(other.to_json()))
