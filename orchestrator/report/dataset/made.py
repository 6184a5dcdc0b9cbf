"""Packs a run folder into what its report carries, and writes the report that carries it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import jinja2
import numpy.typing as npt

from orchestrator import __version__
from orchestrator.analysis.evidence import Run
from orchestrator.analysis.summarise import summarise
from orchestrator.analysis.summary import RunSummary
from orchestrator.errors import InvalidMeasurement, on_one_line
from orchestrator.record_layout import COLUMNS
from orchestrator.report.dataset import block, container, names, program, rows, signed
from orchestrator.report.dataset.run import FORMAT, About, Dataset
from orchestrator.report.page import write_page
from orchestrator.report.render import Inside, render
from orchestrator.results import sizes
from orchestrator.results.documents import manifest_to_dict
from orchestrator.results.manifest import Manifest
from orchestrator.results.paths import inside, read_bytes

MOST_ROWS = 200_000
_PART = 0.3  # of that, of a run with more: a part only bounds its figures, where all samples give them again
_UNDRAWABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, jinja2.TemplateError)
_LEAST_OF_A_FILE = 20  # rows of each, where not all are inside
# What earlier runs' files lack of a record's columns.
_LAYOUTS = (COLUMNS, COLUMNS[:-2], COLUMNS[:-4])


class Folder(Run, Protocol):
    """What is packed: a `results.folder.RunFolder`, say."""

    @property
    def id(self) -> str:
        """The run's id."""

    def rows(self, relative_path: str) -> int:
        """How many rows a samples file declares; InvalidMeasurement where it declares more than it can hold."""


def write_report(folder: Folder, path: Path, *, keep_names: bool = False, summary: RunSummary | None = None) -> Path:
    """Write the report of a run with its samples inside, whole or not at all; errors as `packed` and `page.write_page`.

    `summary`: of the folder, where it is known already.
    """
    return write_page(page(packed(folder, keep_names=keep_names, summary=summary)), path)


def page(dataset: Dataset) -> str:
    """The report that carries this dataset; the same dataset gives the same text, but for what zlib does."""
    return block.with_block(bare_page(dataset), dataset.to_bytes())


def bare_page(dataset: Dataset) -> str:
    """The report without what it carries: what a reader sees.

    InvalidMeasurement where the summary of a part of the samples, which is drawn as it stands, is none that can be drawn.
    """
    summary = dataset.summary()
    inside = Inside(samples=dataset.inside, of=dataset.of, names_kept=dataset.about.names_kept)
    try:
        return render(summary, inside)
    except _UNDRAWABLE as error:
        if dataset.is_whole:
            raise
        raise InvalidMeasurement(
            f"{dataset.path}: its summary is not one that orch makes: {type(error).__name__}: "
            f"{on_one_line(str(error), 200)}",
            hint="somebody changed it: ask for the report as orch wrote it, or for the run folder",
        ) from error


def packed(
    folder: Folder, *, keep_names: bool = False, summary: RunSummary | None = None, most_rows: int = MOST_ROWS
) -> Dataset:
    """What a report of this run carries.

    Of a run with more than `most_rows` samples it is 30 % as many, the same share of each trial, and the summary of all.
    InvalidMeasurement when a file of the run is damaged, or no trial has finished.
    """
    manifest = folder.manifest()
    document, experiment, remarks = _told(folder)
    of, columns = _columns(folder, manifest, most_rows)
    if not keep_names:
        known = _names_in(folder, document, experiment, remarks)
        document["plan"]["experiment_path"] = names.own_file(document["plan"].get("experiment_path", ""))
        document, experiment, remarks = (known.document(text) for text in (document, experiment, remarks))
        of, columns = ({known.text(path): value for path, value in each.items()} for each in (of, columns))  # type: ignore[assignment]
        if experiment:
            document["plan"]["experiment_sha256"] = hashlib.sha256(experiment.encode()).hexdigest()
    documents = {container.MANIFEST: _json(document)} | (
        {container.EXPERIMENT: experiment.encode()} if experiment else {}
    )
    about, samples = rows.pack(columns, of)
    if sum(of.values()) > sum(part.rows for part in about):
        whole = (summary or summarise(folder)).to_dict()
        whole["repeat_command"] = whole["repeat_command"] if keep_names else known.text(whole["repeat_command"])
        documents[container.SUMMARY] = _json(whole if keep_names else known.document(whole))
    made = Dataset(
        About(
            format=FORMAT,
            orch=__version__,
            program=program.digest(),
            run_id=document["run_id"],
            manifest_sha256=_manifest_sha256(folder),
            remarks=tuple(remarks),
            names_kept=keep_names,
            documents={name: hashlib.sha256(content).hexdigest() for name, content in documents.items()},
            rows=about,
        ),
        documents,
        columns,
        samples,
    )
    return signed.with_signature(made, folder.path)


def names_of(*folders: Folder) -> names.Names:
    """The names that runs hold, as their reports leave them out; errors as `packed`."""
    told = [document for folder in folders for document in _told(folder)]
    words = set[str]().union(*(names.words_of(folder.manifest().plan) for folder in folders))
    return names.Names(told, words=words, known=names.of_this_machine())


def without_names(folder: Folder, summary: RunSummary) -> RunSummary:
    """The summary of a run with the names replaced that its report leaves out; errors as `packed`."""
    return RunSummary.from_dict(names_of(folder).document(summary.to_dict()))


def _told(folder: Folder) -> tuple[Any, str, list[str]]:
    """What a run says of itself: its manifest as plain data, its experiment file, and remarks on the folder."""
    document = json.loads(json.dumps(manifest_to_dict(folder.manifest()), allow_nan=False))
    return document, _experiment(folder), list(folder.remarks())


def _names_in(folder: Folder, *documents: Any) -> names.Names:
    return names.Names(documents, words=names.words_of(folder.manifest().plan), known=names.of_this_machine())


def _columns(
    folder: Folder, manifest: Manifest, most_rows: int
) -> tuple[dict[str, int], dict[str, dict[str, npt.NDArray[Any]]]]:
    """How many rows each file has, and those of its columns that are packed."""
    layouts: dict[str, tuple[str, ...]] = {}  # of samples, and of baselines
    for path in manifest.files:
        if _kind(path) not in layouts:
            layouts[_kind(path)] = _layout(folder, path)
    of = {path: folder.rows(path) for path in manifest.files}
    total = sum(of.values())
    found = {}
    for path, count in of.items():
        most = (
            count if total <= most_rows else max(min(count, _LEAST_OF_A_FILE), int(count / total * _PART * most_rows))
        )
        places = rows.chosen(count, most)
        columns = folder.samples(path, layouts[_kind(path)])
        if columns["sequence"].size != count:
            raise InvalidMeasurement(f"{folder.path / path}: it holds another number of rows than it declares")
        found[path] = {name: values[places] for name, values in columns.items()}
    return of, found


def _kind(path: str) -> str:
    return path.partition("/")[0]


def _layout(folder: Folder, path: str) -> tuple[str, ...]:
    """The columns that a file has; those of an earlier orch have fewer."""
    for layout in _LAYOUTS[:-1]:
        with suppress(InvalidMeasurement):
            folder.samples(path, layout)
            return layout
    return _LAYOUTS[-1]


def _experiment(folder: Folder) -> str:
    with suppress(FileNotFoundError):
        return read_bytes(inside(folder.path, container.EXPERIMENT), sizes.EXPERIMENT).decode(errors="replace")
    return ""


def _manifest_sha256(folder: Folder) -> str:
    try:
        return hashlib.sha256(folder.manifest_bytes()).hexdigest()
    except InvalidMeasurement:
        return ""


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
