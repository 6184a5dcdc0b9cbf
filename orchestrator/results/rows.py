"""Which rows (protos/timings.md) the samples of each kind of work may have; everything else is refused by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orchestrator.record_layout import CLOCKS, COLUMNS, KINDS
from services.python.contract.limits import MIX, Recorded

Columns = Mapping[str, npt.NDArray[np.int64]]
Places = npt.NDArray[np.intp]

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


def columns_of(rows: bytes) -> dict[str, npt.NDArray[np.int64]]:
    """The columns of a record's rows, by name."""
    table = np.frombuffer(rows, dtype="<i8").reshape(-1, len(COLUMNS))
    return {name: table[:, place] for place, name in enumerate(COLUMNS)}


def refusal(rows: bytes, kind: Recorded, *, parts: int | None = None, at_once: bool = False) -> str | None:
    """Why these rows of a record are not those of a cell of that kind; None where they are.

    `parts`: how many a right sample has, of a mix how many operations, None where that is not known. `at_once`: they may
    overlap.
    """
    return next(_faults(columns_of(rows), kind, parts, at_once=at_once), None)


def _faults(columns: Columns, kind: Recorded, parts: int | None, *, at_once: bool) -> Iterator[str]:
    rules, kinds, parents = OF_KIND[kind], columns["kind"], columns["parent"]
    for clock in np.unique(columns["sender_clock"]).tolist():
        if not 0 <= clock < len(CLOCKS):
            yield f"a row's sender_clock is {clock}, which is no clock of {CLOCKS}"
    for number in np.unique(kinds).tolist():
        name = KINDS[number] if 0 <= number < len(KINDS) else f"number {number}"
        if name not in (rules.sample, rules.belonging):
            yield f"it holds rows of kind {name}, which no cell of kind {kind} has"
    if kind == MIX:
        if parts is not None and ((parents < 1) | (parents > parts)).any():
            yield f"a row of kind {rules.sample} is of none of the {parts} operations of the mix"
        return
    is_sample = kinds == sample_number(kind)
    if parents[is_sample].any():
        yield f"a row of kind {rules.sample} has a parent"
    if rules.belonging is None:
        return
    places = np.flatnonzero(~is_sample)
    owners = _places_of_parents(columns["sequence"], is_sample, parents[places])
    if owners is None:
        yield f"the parent of a row of kind {rules.belonging} is no {rules.sample} of this record, or several of them"
    else:
        yield from _faults_of_belonging(columns, rules, places, owners)
        if rules.is_in_parts:
            yield from _faults_of_parts(columns, rules.sample, places, owners, parts, at_once=at_once)


def _places_of_parents(
    sequences: npt.NDArray[np.int64], is_sample: npt.NDArray[np.bool_], parents: npt.NDArray[np.int64]
) -> Places | None:
    """The row of each parent; None where one is not there, or there twice."""
    rows = np.flatnonzero(is_sample)
    rows = rows[np.argsort(sequences[rows], kind="stable")]
    first, after = (np.searchsorted(sequences[rows], parents, side=side) for side in ("left", "right"))
    return None if (after - first != 1).any() else rows[first]


def _faults_of_belonging(columns: Columns, rules: Rows, places: Places, owners: Places) -> Iterator[str]:
    """Why these rows do not belong to these samples; `owners` has the row of each one's sample."""
    for name in ("phase", "connection"):
        if (columns[name][places] != columns[name][owners]).any():
            yield f"a row of kind {rules.belonging} has another {name} than its {rules.sample}"
    sent, received = columns["sent_ns"], columns["received_ns"]
    if (sent[places] < sent[owners]).any() or (received[places] > received[owners]).any():
        yield f"a row of kind {rules.belonging} is not within the stamps of its {rules.sample}"


def _faults_of_parts(
    columns: Columns, sample: str, places: Places, owners: Places, parts: int | None, *, at_once: bool
) -> Iterator[str]:
    """Why these are not the parts of these samples; `owners` has the row of each part's sample."""
    order = np.lexsort((columns["sequence"][places], owners))
    places, owners = places[order], owners[order]
    begins = np.flatnonzero(np.diff(owners, prepend=-1))  # of each sample's parts, the first
    counted = np.arange(owners.size) - np.repeat(begins, np.diff(np.append(begins, owners.size)))
    if (columns["sequence"][places] != counted + 1).any():
        yield f"the parts of a {sample} are not numbered 1, 2, 3, ..."
    if (places != owners + counted + 1).any():
        yield f"the parts of a {sample} do not directly follow it"
    sent, received = columns["sent_ns"], columns["received_ns"]
    follows = counted[1:] > 0
    if not at_once and (sent[places][1:] < received[places][:-1])[follows].any():
        yield f"the parts of a {sample} overlap, or are not in order"
    is_right = columns["status"] == OK
    if (is_right[owners] & ~is_right[places]).any():
        yield f"a {sample} is right, and a part of it is not"
    had = np.bincount(owners, minlength=is_right.size)
    is_sample = columns["kind"] == KINDS.index(sample)
    if parts is not None and ((had[is_sample & is_right] != parts).any() or (had > parts).any()):
        yield f"a {sample} has another number of parts than {parts}"
