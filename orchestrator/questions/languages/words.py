"""Whether the language of an end matters more than the protocol, in words: for answer, terminal and report."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.languages.find import QUESTION, FactorName, Matrix, Standing
from orchestrator.wording.phrasing import capital
from orchestrator.wording.tables.table import Table, text_table

_TITLES: Mapping[FactorName, str] = {
    "protocol": "protocol",
    "responder": "responder's language",
    "requester": "requester's language",
}
_HEADS = ("a change of", "ratio of medians", "95 % interval", "levels", "against the protocol")
_NOTE = (
    "A change of a factor: the root mean square ratio between two of its levels, whatever the others. They are of these"
    " implementations of these languages."
)
_AGAINST: Mapping[Standing, str] = {
    "more": "matters more than the protocol",
    "less": "matters less than the protocol",
    "not resolved": "does not differ significantly from the protocol",
}


def sentence(matrix: Matrix) -> str:
    """Return how far changes go, and whether a language matters more than the protocol."""
    far = sorted(matrix.changes, key=lambda change: -change.times)
    changes = quantities.listed([f"the {_TITLES[c.factor]} {quantities.ratio(c.times)}" for c in far])
    verdicts = [f"the {_TITLES[c.factor]} {_AGAINST[c.beyond]}" for c in matrix.changes if c.beyond is not None]
    return capital(f"{'; '.join(verdicts)} (a change of {changes})." if verdicts else f"a change of {changes}.")


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return the table of each setting: how far a change of each factor goes."""
    shown = []
    for matrix in QUESTION.of(summary):
        left_out = f"Left out, as not every combination has valid medians: {quantities.listed(matrix.left_out)}."
        notes = (_NOTE, *([left_out] if matrix.left_out else []))
        rows = []
        for c in matrix.changes:
            bounds, levels = " to ".join(quantities.bounds(c.interval)), quantities.listed(matrix.factors[c.factor])
            rows.append((_TITLES[c.factor], quantities.ratio(c.times), bounds, levels, c.beyond or "-"))
        shown.append(text_table(f"language and protocol · {matrix.setting}", _HEADS, rows, notes, texts=2))
    return tuple(shown)
