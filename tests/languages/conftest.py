"""The languages whose programs are given bad input: all of the catalogue, of which those that are not built are skipped."""

from __future__ import annotations

import pytest

from orchestrator.catalogue.read import catalogue
from tests.conformance.kit import Implementation
from tests.languages.bad_input import known


@pytest.fixture(params=sorted(catalogue().languages))
def language(request: pytest.FixtureRequest) -> Implementation:
    """One whose programs can be started here."""
    implementation, why = known(request.param)
    if why:
        pytest.skip(why)
    return implementation
