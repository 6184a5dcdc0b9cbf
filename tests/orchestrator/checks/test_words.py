"""Checks find kinds and numbers, and every kind has its words; nothing below wording makes a sentence."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.checks import CHECKS
from orchestrator.wording.checks.sentences import ANY, WORDS

ORCHESTRATOR = Path(__file__).parents[3] / "orchestrator"
KIND_AT = {"of": (1,), "untroubled": (1, 3)} | dict.fromkeys(
    ("point", "passes", "warns", "fails", "cannot_tell", "not_applicable"), (0,)
)
"""Which arguments of what makes findings are kinds."""
MOST_WORDS = 5
"""Of a text that is no sentence: the name of a check, or of a column."""


def kinds(tree: ast.Module) -> Iterator[str]:
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        for place in KIND_AT.get(name, ()):
            yield from _texts(call.args[place]) if place < len(call.args) else ()


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


@pytest.mark.parametrize("module", [*(ORCHESTRATOR / "checks").rglob("*.py")], ids=lambda path: str(path.stem))
def test_every_kind_has_words(module: Path) -> None:
    known = {kind for words in (ANY, *WORDS.values()) for kind in words}
    assert set(kinds(ast.parse(module.read_text(encoding="utf-8")))) <= known


def test_words_are_of_a_check_that_is_there_and_of_a_kind_that_it_finds() -> None:
    assert WORDS.keys() <= {check.name for check in CHECKS}
    modules = [ast.parse(path.read_text(encoding="utf-8")) for path in ORCHESTRATOR.rglob("*.py")]
    texts = {node.value for tree in modules for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert {kind for words in WORDS.values() for kind in words} <= texts


@pytest.mark.parametrize("room", ["checks", "findings", "statistics"])
def test_no_room_below_wording_has_a_sentence(room: str) -> None:
    sentences = [
        f"{path.name}: {node.value}"
        for path in sorted((ORCHESTRATOR / room).rglob("*.py"))
        for node in _outside_of_errors(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) > MOST_WORDS
    ]
    assert sentences == []


def _outside_of_errors(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but docstrings and what a `raise` says."""
    for child in ast.iter_child_nodes(node):
        is_docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        if not is_docstring and not isinstance(child, ast.Raise):
            yield child
            yield from _outside_of_errors(child)
