"""The suite works on processes alone: it knows no implementation's code."""

from __future__ import annotations

import ast
from pathlib import Path

FOLDER = Path(__file__).parent


def test_it_imports_nothing_of_an_implementation_or_of_the_orchestrator():
    found = set()
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found |= {name for name in names if name.split(".")[0] in ("services", "orchestrator", "infra")}
            found |= {name for name in names if name.startswith("tests.") and not name.startswith("tests.conformance")}
    assert found == set()
