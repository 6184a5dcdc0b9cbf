"""Which rows (protos/timings.md) the samples of each kind of work may have; everything else is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orchestrator.record_layout import KINDS
from services.python.contract.limits import MIX, Recorded

Columns = Mapping[str, npt.NDArray[np.int64]]

COLUMNS = ("sequence", "phase", "connection", "sent_ns", "received_ns", "status", "kind", "parent")
"""What of a row is looked at."""

OK = 0


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The kind of row that a sample has, and of those that belong to one, if any may.

    `is_in_parts`: what belongs to a sample is numbered 1, 2, 3, ..., and directly follows it: its
    steps, within its stamps, and one after the other unless made at once.
    """

    sample: str
    belonging: str | None = None
    is_in_parts: bool = False


OF_KIND: Mapping[Recorded, Rows] = {
    "call": Rows(sample="request"),
    "task": Rows(sample="task", belonging="part", is_in_parts=True),
    "codec": Rows(sample="codec", belonging="part", is_in_parts=True),
    "stream": Rows(sample="request", belonging="event"),
    "mix": Rows(sample="mixed"),
}


def sample_number(kind: Recorded) -> int:
    """The number of the row kind that a sample of that kind of work has."""
    return KINDS.index(OF_KIND[kind].sample)


def refusal(
    columns: Columns,
    kind: Recorded,
    *,
    parts: int | None = None,
    at_once: bool = False,
) -> str | None:
    """Why these rows are not those of a cell of that kind; None where they are. `columns` has `COLUMNS`.

    `parts`: how many a right sample has, of a mix how many operations, None where that is not known. `at_once`: they may
    overlap.
    """
    rules, kinds, parents = OF_KIND[kind], columns["kind"], columns["parent"]
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
    owners = _places_of_parents(columns["sequence"], is_sample, parents[~is_sample])
    if owners is None:
        return f"the parent of a row of kind {rules.belonging} is no {rules.sample} of this record, or several of them"
    if not rules.is_in_parts:
        return _strange_events(columns, rules, is_sample, owners)
    return _strange_parts(columns, rules, is_sample, owners, parts, at_once=at_once)


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
    columns: Columns, rules: Rows, is_sample: npt.NDArray[np.bool_], owners: npt.NDArray[np.intp]
) -> str | None:
    """Why these are not the events of these subscriptions; `owners` has the row of each event's subscription."""
    places = np.flatnonzero(~is_sample)
    for name in ("phase", "connection", "sent_ns"):
        if (columns[name][places] != columns[name][owners]).any():
            return f"a row of kind {rules.belonging} has another {name} than its {rules.sample}"
    if (columns["received_ns"][places] > columns["received_ns"][owners]).any():
        return f"a row of kind {rules.belonging} came when its {rules.sample} was over"
    return None


def _strange_parts(
    columns: Columns,
    rules: Rows,
    is_sample: npt.NDArray[np.bool_],
    owners: npt.NDArray[np.intp],
    parts: int | None,
    *,
    at_once: bool,
) -> str | None:
    """Why these are not the parts of these samples; `owners` has the row of each part's sample."""
    places = np.flatnonzero(~is_sample)
    order = np.lexsort((columns["sequence"][places], owners))
    places, owners = places[order], owners[order]
    begins = np.flatnonzero(np.diff(owners, prepend=-1))  # of each sample's parts, the first
    counted = np.arange(owners.size) - np.repeat(begins, np.diff(np.append(begins, owners.size)))
    if (columns["sequence"][places] != counted + 1).any():
        return f"the parts of a {rules.sample} are not numbered 1, 2, 3, ..."
    if (places != owners + counted + 1).any():
        return f"the parts of a {rules.sample} do not directly follow it"
    for name in ("phase", "connection"):
        if (columns[name][places] != columns[name][owners]).any():
            return f"a part is of another {name} than its {rules.sample}"
    sent, received = columns["sent_ns"], columns["received_ns"]
    if (sent[places] < sent[owners]).any() or (received[places] > received[owners]).any():
        return f"a part is not within the stamps of its {rules.sample}"
    follows = counted[1:] > 0
    if not at_once and (sent[places][1:] < received[places][:-1])[follows].any():
        return f"the parts of a {rules.sample} overlap, or are not in order"
    return _strange_endings(columns["status"], rules, is_sample, owners, places, parts)


def _strange_endings(
    status: npt.NDArray[np.int64],
    rules: Rows,
    is_sample: npt.NDArray[np.bool_],
    owners: npt.NDArray[np.intp],
    places: npt.NDArray[np.intp],
    parts: int | None,
) -> str | None:
    """Why samples that are right have other parts than those have, or one that failed more than all."""
    is_right = status == OK
    if (is_right[owners] & ~is_right[places]).any():
        return f"a {rules.sample} is right, and a part of it is not"
    if parts is None:
        return None
    had = np.bincount(owners, minlength=status.size)
    if (had[is_sample & is_right] != parts).any() or (had > parts).any():
        return f"a {rules.sample} has another number of parts than {parts}"
    return None
