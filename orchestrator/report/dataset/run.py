"""A run as it travels inside a report: analysis reads it as it reads a run folder, without a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator.analysis.expanded import expanded
from orchestrator.analysis.model.possible import require_possible
from orchestrator.analysis.summarise import judged, summarise
from orchestrator.analysis.summary import RunSummary
from orchestrator.errors import InvalidMeasurement, UsageError, on_one_line
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.reading import read_plan
from orchestrator.record_layout import COLUMNS
from orchestrator.report.dataset import container, rows
from orchestrator.report.dataset.container import Broken
from orchestrator.report.dataset.rows import FileOfRows
from orchestrator.results import sizes
from orchestrator.results.columns import read_numbers, require_rows
from orchestrator.results.documents import manifest_from_dict
from orchestrator.results.manifest import Manifest
from orchestrator.results.paths import samples_path
from orchestrator.results.plans import require_of_plan, require_turns_of_plan
from orchestrator.shapes import decode_json
from orchestrator.strict_json import parse_json

FORMAT = 1
_NOT_JUDGED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # of a summary that somebody wrote


@dataclass(frozen=True, kw_only=True)
class About:
    """What a dataset says of itself.

    `orch` and `program`: the version that wrote it, and the digest of its code (`program.digest`). `manifest_sha256`: of
    the run's own manifest.json, names and all; "" where there was none. `documents`: SHA-256 of the other entries as they
    are inside, so of the text without names unless `names_kept`.
    """

    format: int
    orch: str
    program: str
    run_id: str
    manifest_sha256: str
    remarks: tuple[str, ...]
    names_kept: bool
    documents: dict[str, str]
    rows: tuple[FileOfRows, ...]


@dataclass(frozen=True)
class Dataset:
    """An `analysis.evidence.Run` whose files are in memory. `columns`: by the path of each samples and baselines file."""

    about: About
    documents: dict[str, bytes]  # all entries but the first and the samples
    columns: dict[str, dict[str, npt.NDArray[Any]]] = field(repr=False)
    packed: bytes = field(repr=False)
    signed: dict[str, bytes] = field(default_factory=dict)  # what somebody signed, and the signature

    @property
    def path(self) -> Path:
        """What stands for a folder in messages: the run's id."""
        return Path(self.about.run_id)

    @property
    def inside(self) -> int:
        """How many samples are inside: rows of all files, warm-up and baselines included."""
        return sum(of.rows for of in self.about.rows)

    @property
    def of(self) -> int:
        """How many the run has."""
        return sum(of.of for of in self.about.rows)

    @property
    def is_whole(self) -> bool:
        """Whether all of them are inside, so that the figures can be computed again."""
        return self.inside == self.of

    @property
    def experiment(self) -> str:
        """The experiment file; "" where the run has none."""
        return self.documents.get(container.EXPERIMENT, b"").decode(errors="replace")

    def manifest(self) -> Manifest:
        """The run in one document."""
        return self._manifest

    def manifest_bytes(self) -> bytes:
        """Never there: the run's own manifest.json has names that are not inside."""
        raise InvalidMeasurement(f"{self.path}: manifest.json itself is not inside a report")

    def remarks(self) -> tuple[str, ...]:
        """What a reader had to know of the folder when this was made."""
        return self.about.remarks

    def samples(self, relative_path: str, columns: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
        """Columns of one file; InvalidMeasurement when they are not inside."""
        found = self.columns.get(relative_path, {})
        if not set(columns) <= found.keys():
            raise InvalidMeasurement(f"{relative_path}: its samples are not inside this report")
        return {name: found[name] for name in columns}

    def summary(self) -> RunSummary:
        """What the samples say; computed once.

        Where not all are inside: cells, floors, checks and rates as they were stored, and all else from these.
        """
        return self._summary

    @cached_property
    def _summary(self) -> RunSummary:
        if self.is_whole:
            return replace(summarise(self), manifest_sha256=self.about.manifest_sha256)
        try:
            found = RunSummary.from_json(self.documents[container.SUMMARY])
            if found.prediction is not None:
                require_possible(found.prediction, {cell.stack for cell in found.cells})
        except (KeyError, ValueError) as error:
            raise InvalidMeasurement(f"{self.path}: its summary is missing or damaged: {error}") from error
        plan, manifest = expanded(self.plan, self._manifest)
        searched = self.plan if any(cell.find is not None for cell in self.plan.cells) else None
        try:
            return judged(found, manifest, plan, searched)
        except _NOT_JUDGED as error:
            what = f"{type(error).__name__}: {on_one_line(str(error), 200)}"
            raise InvalidMeasurement(f"{self.path}: its summary is not one that orch makes: {what}") from error

    def core(self) -> bytes:
        """What a signature of the dataset covers: every document and every sample, by digest; nothing of the program."""
        about = self.about
        content = {
            "run_id": about.run_id,
            "manifest_sha256": about.manifest_sha256,
            "names_kept": about.names_kept,
            "documents": about.documents,
            "rows": [[of.path, of.rows, of.of, of.sha256] for of in about.rows],
        }
        return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()

    def to_bytes(self) -> bytes:
        """The content of the data block."""
        return container.zipped(
            {
                container.ABOUT: json.dumps(asdict(self.about), separators=(",", ":"), ensure_ascii=False).encode(),
                **self.documents,
                container.SAMPLES: self.packed,
                **self.signed,
            }
        )

    @cached_property
    def plan(self) -> Plan:
        """The plan of the run."""
        return read_plan(self._manifest.plan)

    @cached_property
    def _manifest(self) -> Manifest:
        return manifest_from_dict(parse_json(self.documents[container.MANIFEST]), self.path)


def opened(content: bytes, where: Path) -> Dataset:
    """The dataset in a data block from the page at `where`.

    InvalidMeasurement when it is damaged, or not what orch writes; UsageError when a newer orch wrote it.
    """
    try:
        entries = container.unzipped(content)
        about = _about(entries.pop(container.ABOUT), where)
        packed = entries.pop(container.SAMPLES)
        signed = {name: entries.pop(name) for name in (container.SIGNED, container.SIGNATURE) if name in entries}
        if entries.keys() != about.documents.keys():
            raise Broken("its documents are not those that it lists")
        for name, document in entries.items():
            if hashlib.sha256(document).hexdigest() != about.documents[name]:
                raise Broken(f"{name} is not as it was written")
        if (declared := sum(max(0, of.rows) for of in about.rows)) > sizes.DATASET_ROWS:
            raise Broken(f"it declares {declared:,} samples; there are never more than {sizes.DATASET_ROWS:,}")
        numbers = read_numbers(packed, where, rows.PACKED, declared)
        every = list(rows.unpack(about.rows, {name: of.astype(np.int64) for name, of in numbers.items()}))
        dataset = Dataset(about, entries, {of.path: columns for of, columns in every}, packed, signed)
        _require_possible(dataset, where)
    except Broken as error:
        raise error.error(where) from error
    except ValueError as error:
        raise Broken(str(error)).error(where) from error
    return dataset


def _about(content: bytes, where: Path) -> About:
    raw = parse_json(content)
    version = raw.get("format") if isinstance(raw, dict) else None
    if type(version) is not int:
        raise Broken("it does not say of which format it is")
    if version > FORMAT:
        raise UsageError(
            f"{where}: written by a newer orch (dataset format {version}; this one reads up to {FORMAT})",
            hint="install that orch to read it; the page itself can be read meanwhile",
        )
    about: About = decode_json(About, raw)
    return about


def _require_possible(dataset: Dataset, where: Path) -> None:
    """Broken, ValueError or InvalidMeasurement for a manifest without its plan, or samples that no trial has."""
    manifest, plan = dataset.manifest(), dataset.plan
    require_of_plan(plan, manifest.trials, manifest.baselines)
    require_turns_of_plan(plan, manifest.referee, manifest.turns)
    held = sizes.held(plan, manifest.trials, manifest.baselines)
    paths = [of.path for of in dataset.about.rows]
    if len(set(paths)) != len(paths) or set(paths) != set(manifest.files):
        raise Broken("the samples inside are not those of its trials")
    for of in dataset.about.rows:
        samples_path(where.parent, of.path)
        if of.rows > of.of or of.of > held.get(of.path, sizes.Held()).most_rows:
            raise Broken(f"{of.path} has more samples than its trial can have made")
        if not set(of.columns) <= set(COLUMNS) or not {"sequence", "phase", "status"} <= set(of.columns):
            raise Broken(f"{of.path} has other columns than orch writes")
        columns = dataset.columns[of.path]
        if rows.sha256_of(columns) != of.sha256:
            raise Broken(f"samples of {of.path} were changed: their digest is another one")
        require_rows(where / of.path, columns, held[of.path], is_whole=of.rows == of.of)
