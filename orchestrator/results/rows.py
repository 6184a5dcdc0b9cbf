"""Which rows (protos/timings.md) the samples of each kind of work may have; everything else is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orchestrator.record_layout import KINDS
from services.python.contract.limits import MIX, Recorded
from services.python.contract.timing_rules import RULES

Columns = Mapping[str, npt.NDArray[np.int64]]

COLUMNS = ("sequence", "phase", "connection", "sent_ns", "received_ns", "status", "kind", "parent")
"""What of a row is looked at."""

OK = 0


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The kind of row that a sample has, and of those that belong to one, if any may.

    `is_in_parts`: what belongs to a sample is numbered 1, 2, 3, ..., and directly follows it. `are_steps`: these are its
    steps, within its stamps, and one after the other unless made at once.
    """

    sample: str
    belonging: str | None = None
    is_in_parts: bool = False
    are_steps: bool = False


OF_KIND: Mapping[Recorded, Rows] = {
    "call": Rows(sample="request"),
    "task": Rows(sample="task", belonging="part", is_in_parts=True, are_steps=True),
    "codec": Rows(sample="codec", belonging="part", is_in_parts=True, are_steps=True),
    "stream": Rows(sample="request", belonging="event"),
    "mix": Rows(sample="mixed"),
}

WITH_MISLEADING = Rows(sample="request", belonging="misleading", is_in_parts=True)
"""Of a call that is timed by rules that mislead, too: only where a plan says so, which then says how many."""


def rows_of(kind: Recorded, parts: int | None) -> Rows:
    """Those of a cell of that kind whose right samples have so many parts."""
    return WITH_MISLEADING if kind == "call" and parts else OF_KIND[kind]


def sample_number(kind: Recorded) -> int:
    """The number of the row kind that a sample of that kind of work has."""
    return KINDS.index(OF_KIND[kind].sample)


def refusal(
    columns: Columns,
    kind: Recorded,
    *,
    parts: int | None = None,
    at_once: bool = False,
    in_order: bool = False,
) -> str | None:
    """Why these rows are not those of a cell of that kind; None where they are. `columns` has `COLUMNS`.

    `parts`: how many a right sample has, of a mix how many operations, None where that is not known. `at_once`: they may
    overlap. `in_order`: rows stand as they were stored, so that a sample's parts directly follow it.
    """
    rules, kinds, parents = rows_of(kind, parts), columns["kind"], columns["parent"]
    sample, belonging = sample_number(kind), KINDS.index(rules.belonging) if rules.belonging else None
    for number in sorted({*np.unique(kinds).tolist()} - {sample, belonging}):
        return f"it holds rows of kind {_named(number)}, which no cell of kind {kind} has"
    is_sample = kinds == sample
    if kind == MIX:
        is_of_one = parts is None or not parents.size or bool(parents.min() >= 1 and parents.max() <= parts)
        return None if is_of_one else f"a row of kind {rules.sample} is of none of the {parts} operations of the mix"
    if parents[is_sample].any():
        return f"a row of kind {rules.sample} has a parent"
    if belonging is None:
        return None
    of = _places_of_parents(columns["sequence"], is_sample, parents[~is_sample])
    if of is None:
        return f"the parent of a row of kind {rules.belonging} is no {rules.sample} of this record, or several of them"
    if not rules.is_in_parts:
        return _strange_events(columns, rules, is_sample, of)
    return _strange_parts(columns, rules, is_sample, of, parts, at_once=at_once, in_order=in_order)


def _named(number: int) -> str:
    return KINDS[number] if 0 <= number < len(KINDS) else f"number {number}"


def _places_of_parents(
    sequences: npt.NDArray[np.int64], is_sample: npt.NDArray[np.bool_], parents: npt.NDArray[np.int64]
) -> npt.NDArray[np.intp] | None:
    """The row of each parent; None where one is not there, or there twice."""
    rows = np.flatnonzero(is_sample)
    rows = rows[np.argsort(sequences[rows], kind="stable")]
    first, after = (np.searchsorted(sequences[rows], parents, side=side) for side in ("left", "right"))
    return None if (after - first != 1).any() else rows[first]


def _strange_events(
    columns: Columns, rules: Rows, is_sample: npt.NDArray[np.bool_], of: npt.NDArray[np.intp]
) -> str | None:
    """Why these are not the events of these subscriptions; `of` has the row of each event's subscription."""
    places = np.flatnonzero(~is_sample)
    for name in ("phase", "connection", "sent_ns"):
        if (columns[name][places] != columns[name][of]).any():
            return f"a row of kind {rules.belonging} has another {name} than its {rules.sample}"
    if (columns["received_ns"][places] > columns["received_ns"][of]).any():
        return f"a row of kind {rules.belonging} came when its {rules.sample} was over"
    return None


def _strange_parts(
    columns: Columns,
    rules: Rows,
    is_sample: npt.NDArray[np.bool_],
    of: npt.NDArray[np.intp],
    parts: int | None,
    *,
    at_once: bool,
    in_order: bool,
) -> str | None:
    """Why these are not the parts of these samples; `of` has the row of each part's sample."""
    places = np.flatnonzero(~is_sample)
    order = np.lexsort((columns["sequence"][places], of))
    places, of = places[order], of[order]
    begins = np.flatnonzero(np.diff(of, prepend=-1))  # of each sample's parts, the first
    counted = np.arange(of.size) - np.repeat(begins, np.diff(np.append(begins, of.size)))
    if (columns["sequence"][places] != counted + 1).any():
        return f"the parts of a {rules.sample} are not numbered 1, 2, 3, ..."
    if in_order and (places != of + counted + 1).any():
        return f"the parts of a {rules.sample} do not directly follow it"
    for name in ("phase", "connection"):
        if (columns[name][places] != columns[name][of]).any():
            return f"a part is of another {name} than its {rules.sample}"
    if not rules.are_steps:
        strange = _strange_endings(columns["status"], rules, is_sample, of, places, parts)
        return strange or _strange_rules(columns, rules, places, of)
    sent, received = columns["sent_ns"], columns["received_ns"]
    if (sent[places] < sent[of]).any() or (received[places] > received[of]).any():
        return f"a part is not within the stamps of its {rules.sample}"
    follows = counted[1:] > 0
    if not at_once and (sent[places][1:] < received[places][:-1])[follows].any():
        return f"the parts of a {rules.sample} overlap, or are not in order"
    return _strange_endings(columns["status"], rules, is_sample, of, places, parts)


def _strange_rules(columns: Columns, rules: Rows, places: npt.NDArray[np.intp], of: npt.NDArray[np.intp]) -> str | None:
    """Why these are not what misleading rules say of right requests; `of` has the row of each one's request."""
    if (columns["status"][of] != OK).any():
        return f"a {rules.sample} failed, and a rule says something of it"
    sent, received, number = (columns[name][places] for name in ("sent_ns", "received_ns", "sequence"))
    begun, ended = columns["sent_ns"][of], columns["received_ns"][of]
    for place, rule in enumerate(RULES, start=1):
        is_strange = sent > ended
        if rule.begins == "within":
            is_strange |= sent < begun
        if rule.ends == "within":
            is_strange |= (received < begun) | (received > ended)
        if rule.ends != "anywhere":
            is_strange |= received < sent
        if (is_strange & (number == place)).any():
            return f"a row of kind {rules.belonging} has stamps that {rule.name} does not take"
    return None


def _strange_endings(
    status: npt.NDArray[np.int64],
    rules: Rows,
    is_sample: npt.NDArray[np.bool_],
    of: npt.NDArray[np.intp],
    places: npt.NDArray[np.intp],
    parts: int | None,
) -> str | None:
    """Why samples that are right have other parts than those have, or one that failed more than all."""
    is_right = status == OK
    if (is_right[of] & ~is_right[places]).any():
        return f"a {rules.sample} is right, and a part of it is not"
    if parts is None:
        return None
    had = np.bincount(of, minlength=status.size)
    if (had[is_sample & is_right] != parts).any() or (had > parts).any():
        return f"a {rules.sample} has another number of parts than {parts}"
    return None
