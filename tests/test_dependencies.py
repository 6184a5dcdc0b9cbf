"""Every library that is imported is declared where it is needed, and every declared one does work."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {"orch", "orchestrator", "services", "tests", "benchmarks", "orchlab"}
NOT_OURS = {"generated", "build", "target", "node_modules"}

# What works here without an import statement of ours, and as what.
NOT_IMPORTED = {
    "ansible-core": "the program ansible-playbook",
    "h2": "httpx speaks HTTP/2 with it",
    "httptools": "uvicorn parses HTTP with it",
    "protobuf": "what protoc writes imports it",
    "ansible-lint": "a program of `make lint`",
    "detect-secrets": "a program of `make scan-secrets`",
    "mypy": "a program of `make lint`",
    "mypy-protobuf": "types of generated code",
    "pandas-stubs": "types",
    "pytest-randomly": "a plugin of pytest",
    "pytest-timeout": "a plugin of pytest",
    "pytest-xdist": "a plugin of pytest",
    "ruff": "a program of `make lint`",
    "types-protobuf": "types",
    "types-pyyaml": "types",
    "types-requests": "types",
}


def names(requirements: list[str]) -> set[str]:
    return {_normal(re.split(r"[\[<>=!~; ]", requirement)[0]) for requirement in requirements}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


CORE = names(PROJECT["dependencies"])
SERVICES = names(PROJECT["optional-dependencies"]["services"])
DEV = names(PROJECT["optional-dependencies"]["dev"])


def imported(*folders: str) -> dict[str, str]:
    """Distributions that the modules under these folders import, each with one of those modules."""
    return {name: path for folder in folders for name, path in _imported(folder).items()}


@cache
def _imported(folder: str) -> dict[str, str]:
    known, paths = _installed(), dict[str, str]()
    ours = sys.stdlib_module_names | OURS | {"google"}
    ours |= {path.stem for place in ("infra", "tests") for path in (ROOT / place).rglob("*.py")}
    for path in sorted((ROOT / folder).rglob("*.py")):
        if NOT_OURS.intersection(path.relative_to(ROOT).parts):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                modules = [f"{node.module}.{alias.name}" for alias in node.names]
            for module in modules:
                top = module.split(".")[0]
                if top not in ours:
                    assert top in known, f"{path.relative_to(ROOT)}: {module} is not installed"
                    paths[_normal(known[top][0])] = str(path.relative_to(ROOT))
    return paths


_installed = cache(packages_distributions)


@pytest.mark.parametrize(
    ("folders", "declared"),
    [
        (("orchestrator", "orch"), CORE),
        (("services",), SERVICES | DEV),
        (("tests", "benchmarks"), CORE | SERVICES | DEV),
    ],
    ids=["orchestrator", "services", "tests"],
)
def test_what_is_imported_is_declared(folders: tuple[str, ...], declared: set[str]) -> None:
    assert {name: path for name, path in imported(*folders).items() if name not in declared} == {}


def test_what_is_declared_is_used() -> None:
    used = imported("orchestrator", "services", "infra", "tests", "benchmarks").keys() | NOT_IMPORTED.keys()
    # google-auth shares its top level with other distributions, and is found by its own path.
    text = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "infra").rglob("*.py"))
    used |= {"google-auth"} if "google.auth" in text else set()
    assert (CORE | SERVICES | DEV) - used == set()


def test_what_the_services_import_needs_no_tool_of_developers() -> None:
    found = imported("services")
    assert {name: path for name, path in found.items() if name not in SERVICES and "generate" not in path} == {}
