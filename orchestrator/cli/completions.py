"""What a shell offers while somebody types a call of orch: runs, stacks, experiment files, keys of `--set` and their values.

Verbs import this module, so it imports next to nothing; each function is called by the shell alone (`cli.shell`). Only
names of plain characters are offered: shells evaluate what they are given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from orchestrator.cli.here import WORKSPACE

if TYPE_CHECKING:
    from orchestrator.history.index import Index, Known

_MOST = 500  # folders or files that are looked at
_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.,/+@=-]*")
_EXPERIMENT = (".yaml", ".yml")
_NUMBER = re.compile(r"\d{1,4}")
_ITEM = "N"  # what stands for an item's number in `set_keys.json`


def runs(incomplete: str) -> list[str]:
    """Ids of runs, the newest first, and `latest`."""
    from orchestrator.results.names import run_folders

    names = [path.name for path in reversed(run_folders(WORKSPACE.results)[-_MOST:])]
    return _beginning(incomplete, ["latest", *names] if names else [])


def experiments(incomplete: str) -> list[str]:
    """Experiment files, and folders that may hold some, in the folder that was typed so far."""
    folder, _, name = incomplete.rpartition("/")
    before = incomplete[: len(incomplete) - len(name)]
    found = []
    with os.scandir(f"{folder}/" if before else ".") as entries:
        for _, entry in zip(range(_MOST), entries, strict=False):
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                found.append(f"{before}{entry.name}/")
            elif entry.name.endswith(_EXPERIMENT):
                found.append(f"{before}{entry.name}")
    return _beginning(incomplete, sorted(found))


def experiments_or_runs(ctx: typer.Context, incomplete: str) -> list[str]:
    """Experiment files; of a run that is to be resumed, its id."""
    return runs(incomplete) if ctx.params.get("resume") else experiments(incomplete)


def overrides(incomplete: str) -> list[str]:
    """`KEY=` for each key of an experiment, and behind one that is known, `KEY=VALUE` for each known value."""
    from orchestrator.cli.set_keys import read

    keys = read()
    key, sign, _ = incomplete.partition("=")
    if not sign:
        return _beginning(incomplete, [f"{_numbered(known, incomplete)}=" for known in keys])
    general = ".".join(_ITEM if _NUMBER.fullmatch(step) else step for step in key.split("."))
    known_values = dict.fromkeys([*keys.get(general, ()), *_named(general)])
    return _beginning(incomplete, [f"{key}={value}" for value in known_values])


def languages(incomplete: str) -> list[str]:
    """The languages that services are written in."""
    from orchestrator.catalogue.read import catalogue

    return _beginning(incomplete, sorted(catalogue().languages))


def providers(incomplete: str) -> list[str]:
    """Who makes hosts."""
    from orchestrator.experiment.providers import PROVIDERS

    return _beginning(incomplete, PROVIDERS)


def measured(condition: Known) -> Callable[[str], list[str]]:
    """What a condition of `orch runs` may be, by the index as it was last written."""

    def offered(incomplete: str) -> list[str]:
        with _index() as index:
            return _beginning(incomplete, index.known(condition))

    return offered


def cells(incomplete: str) -> list[str]:
    """Labels and ids of stacks that were measured; behind a stack's id, its cells."""
    with _index() as index:
        stacks = _beginning(incomplete, index.known("stack"))
        return stacks if stacks else _beginning(incomplete, [cell for cell, _, _, _ in index.cells()])


def validities(incomplete: str) -> list[str]:
    """What `--verdict` may be; one of two words, which shells would split, is left out."""
    from orchestrator.history.record import VALIDITIES

    return _beginning(incomplete, VALIDITIES)


def formats(incomplete: str) -> list[str]:
    """What `orch export` writes."""
    from orchestrator.exports.formats import FORMATS

    return _beginning(incomplete, FORMATS)


def load_generators(incomplete: str) -> list[str]:
    """The independent load generators."""
    from orchestrator.referee.tools import TOOLS

    return _beginning(incomplete, TOOLS)


@contextmanager
def _index() -> Iterator[Index]:
    """The index of runs; no folder is looked at, so that the prompt does not wait."""
    from orchestrator.history.keep import history

    with history(WORKSPACE, look=False) as (index, _):
        yield index


def _numbered(known: str, incomplete: str) -> str:
    """A key with the items' numbers that were typed so far; the first item's where none was."""
    typed = incomplete.split(".")
    steps = known.split(".")
    for place, step in enumerate(steps):
        if step == _ITEM:
            is_typed = place < len(typed) and _NUMBER.fullmatch(typed[place])
            steps[place] = typed[place] if is_typed else "0"
    return ".".join(steps)


def _named(key: str) -> Iterator[str]:
    """What the catalogue offers as the value of a key."""
    from orchestrator.catalogue.read import catalogue

    if key in ("stacks", f"stacks.{_ITEM}", f"stacks.{_ITEM}.protocol", "reference"):
        yield from catalogue().protocols
    elif key in ("operations", f"operations.{_ITEM}"):
        yield from catalogue().operations
    elif key in (f"stacks.{_ITEM}.responder", f"stacks.{_ITEM}.client"):
        for protocol in catalogue().protocols.values():
            ends = protocol.clients if key.endswith("client") else protocol.responders
            yield from (end.name for end in ends)


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    """The words that begin so and that no shell reads anything into."""
    return [word for word in words if word.startswith(incomplete) and _PLAIN.fullmatch(word)]
