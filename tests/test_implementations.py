"""Every implementation that is declared keeps the promises of `protos/`: of languages that are built, those built here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.catalogue.read import catalogue
from tests.support.built import why_not

ROOT = Path(__file__).parents[1]
DECLARED = ROOT / "tests" / "conformance" / "implementations"
TESTED_ANYWAY = "python"  # `tests/conformance/promises` tests it where no other one is named


@pytest.mark.slow
@pytest.mark.busy
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", sorted({path.stem for path in DECLARED.glob("*.json")} - {TESTED_ANYWAY}))
def test_a_declared_implementation_keeps_every_promise(name: str) -> None:
    if why := why_not(name):
        pytest.skip(why)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "tests/conformance/promises"]
    every_end = ["--implementation", name, "--conformance-all", "--conformance-turns"]  # cases wait most of the time
    ran = subprocess.run([*command, *every_end], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-8000:]


def test_every_language_that_answers_or_asks_is_declared() -> None:
    assert {path.stem for path in DECLARED.glob("*.json")} >= catalogue().languages.keys()


def test_a_declaration_starts_what_its_manifest_starts() -> None:
    """What keeps the promises is what is measured."""
    for name, language in catalogue().languages.items():
        declared = json.loads((DECLARED / f"{name}.json").read_text(encoding="utf-8"))
        for role, argv in language.start.items():
            if role in declared:
                folder = f"services/{name}"
                assert declared[role] == [word.replace("{folder}", folder) for word in argv], f"{name}: {role}"
