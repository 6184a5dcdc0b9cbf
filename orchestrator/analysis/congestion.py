"""Which congestion control was in force at both ends, and where it was not what a reader takes for granted. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from orchestrator.analysis import words
from orchestrator.analysis.evidence import CellEvidence, RunEvidence
from orchestrator.experiment.model.factors import BY_NAME
from services.python.contract.knobs import CONGESTION, IN_FORCE, USUAL

_OF_KERNELS = re.compile(r"[A-Za-z0-9_.-]{1,15}")  # Linux keeps 16 bytes, the last one 0

Ends = tuple[str, str]
"""Of a trial: the responder's and the requester's, empty where it was not told."""


def lines(run: RunEvidence) -> Iterator[tuple[str, str]]:
    """What, value: of cells that leave it to the hosts, and of those that ask for one."""
    for value, cells in _by_value(run.cells).items():
        if found := sorted(_told(cells)):
            asked = "" if value == BY_NAME[CONGESTION].default else f" where {value} was asked for"
            yield f"Congestion control{asked}", "; ".join(map(_words, found))


def remarks(run: RunEvidence) -> Iterator[str]:
    """A sentence where hosts between which there is a distance had another one than cubic, and no cell asked for it."""
    apart = [cell for cell in run.cells if cell.placement.kind in ("same-zone", "cross-region")]
    own = _by_value(apart).get(BY_NAME[CONGESTION].default, [])
    if other := sorted(ends for ends in _told(own) if any(end not in ("", USUAL) for end in ends)):
        yield (
            f"TCP's congestion control was {words.listed(list(map(_words, other)))}, and not {USUAL} at both ends, where no"
            f" cell asked for one: it is the hosts' own. `{CONGESTION}: {USUAL}` asks for it, where their"
            " kernel has it."
        )
    for value, cells in _by_value(run.cells).items():
        unlike = sorted(ends for ends in _told(cells) if any(end not in ("", value) for end in ends))
        if unlike and value != BY_NAME[CONGESTION].default:
            found = words.listed(list(map(_words, unlike)))
            yield f"`{CONGESTION}: {value}` was asked for, and was not in force at both ends: {found}."


def _by_value(cells: Iterable[CellEvidence]) -> dict[object, list[CellEvidence]]:
    found: dict[object, list[CellEvidence]] = {}
    for cell in cells:
        if cell.cell.kind != "codec":
            found.setdefault(cell.cell.factors.get(CONGESTION, BY_NAME[CONGESTION].default), []).append(cell)
    return found


def _told(cells: Iterable[CellEvidence]) -> set[Ends]:
    trials = [trial for cell in cells for trial in cell.trials]
    ends = {
        (
            "" if trial.record.ready is None else _name(trial.record.ready.settings.get(IN_FORCE, "")),
            _name(part.done.settings.get(IN_FORCE, "")),
        )
        for trial in trials
        for part in trial.parts
    }
    return {each for each in ends if any(each)}


def _name(told: str) -> str:
    """What an end told, which may be anything, where it can be the name of one."""
    return told if not told or _OF_KERNELS.fullmatch(told) else "no name of a congestion control"


def _words(ends: Ends) -> str:
    responder, requester = ends
    if responder == requester:
        return f"{responder} at both ends"
    return f"{responder or 'not told'} at the responder, {requester or 'not told'} at the requester"
