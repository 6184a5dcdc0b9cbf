"""The run folder: `manifest.py` says what lies in it. Everything that reads or writes a run goes through here."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from orchestrator import __version__, clock
from orchestrator.disk import DiskFull, writing
from orchestrator.errors import InvalidMeasurement, MissingError, UsageError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.results import derive
from orchestrator.results.documents import (
    ALTERED,
    Damaged,
    digest,
    inside,
    name_in_id,
    sealed,
    unsealed,
    whole_file,
    write_json,
)
from orchestrator.results.journal import Journal, is_held, try_hold
from orchestrator.results.manifest import Manifest
from orchestrator.results.names import JOURNAL, LATEST, MANIFEST, is_run, not_one, run_folders
from orchestrator.results.records import STAGING, raw_path
from orchestrator.shapes import decode
from orchestrator.strict_json import parse_json, read_json

if TYPE_CHECKING:
    import numpy.typing as npt

_AGAIN = "start the run again"


class RunFolder:
    """One run on disk, which one process at a time may write.

    What a killed run left is put in order by whoever reads it next.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journal = Journal(path / JOURNAL)
        self._hold: BinaryIO | None = None
        self._manifest: Manifest | None = None

    @classmethod
    def create(cls, plan: Plan, *, command: Sequence[str], root: Path, now: clock.Clock = clock.SYSTEM) -> RunFolder:
        """A new folder with the plan in it and the journal begun. Its id sorts by time: `<date>-<time>-<name>-<hex>`."""
        path = root / f"{now.stamp()}-{name_in_id(plan.name)}-{secrets.token_hex(2)}"
        folder = cls(path)
        with writing(path, _AGAIN):
            root.mkdir(parents=True, exist_ok=True)
            path.mkdir()
        try:
            with writing(folder.path, _AGAIN):
                folder._begin(plan, {"command": list(command), "at": now.iso()})
        except MissingError as error:  # a run that has not begun leaves no folder, and cannot be resumed
            folder.release()
            shutil.rmtree(folder.path, ignore_errors=True)
            raise DiskFull(error.where, _AGAIN, kept="") if isinstance(error, DiskFull) else error from error
        return folder

    def _begin(self, plan: Plan, about: Mapping[str, Any]) -> None:
        write_json(self.path / "plan.json", plan.to_dict())
        files = {"plan.json": digest(self.path / "plan.json")}
        experiment = Path(plan.experiment_path)
        if plan.experiment_path and experiment.is_file():
            shutil.copyfile(experiment, self.path / "experiment.yaml")
            files["experiment.yaml"] = digest(self.path / "experiment.yaml")
        begin = {"event": "begin", "run_id": self.id, "plan_id": plan.id, "orch_version": __version__, "files": files}
        self.append({**begin, **about})
        self.hold()

    @classmethod
    def open(cls, run: str | Path, *, root: Path | None = None) -> RunFolder:
        """The run of that id, unique beginning of an id, path, or `latest`, the newest; without a root, of that path.

        UsageError names the runs there are.
        """
        word, ids, matches = str(run), list[str](), list[str]()
        if root is not None and "/" not in word:
            ids = [path.name for path in run_folders(root)]
            wanted = ids[-1] if word == LATEST and ids else word
            matches = [wanted] if wanted in ids else [name for name in ids if name.startswith(wanted)]
            if len(matches) == 1:
                return cls(root / matches[0])
        if is_run(Path(run)):
            return cls(Path(run))
        if root is None or "/" in word:
            raise UsageError(f"{run} is not a run folder", hint="name one by its path")
        raise not_one(word, root, matches, ids)

    @property
    def id(self) -> str:
        """The run's id."""
        return self.path.resolve().name

    def plan(self) -> Plan:
        """The frozen plan; InvalidMeasurement when it, or another file the run began with, is missing or has changed."""
        path = self.path / "plan.json"
        try:
            plan: Plan = decode(Plan, read_json(path))
        except (OSError, ValueError) as error:
            raise InvalidMeasurement(
                f"{path}: cannot be read: {error}",
                hint="bring it back from a copy; without it the run cannot be judged",
            ) from error
        self._require_begun_as_written()
        return plan

    def _require_begun_as_written(self) -> None:
        begin = next(self.events(), {})
        for name in dict.fromkeys(("plan.json", *begin.get("files", {}))):
            self.require_as_written(name, begin)

    def append(self, event: dict[str, Any], *, sync: bool = True) -> None:
        """Write one line to the journal, on the disk when this returns; MissingError when the disk is full."""
        self._journal.append(event, sync=sync)

    def events(self) -> Iterator[dict[str, Any]]:
        """The journal, oldest first."""
        return self._journal.events()

    def journal_state(self) -> derive.JournalState:
        """What the journal says; InvalidMeasurement when it is damaged."""
        try:
            return derive.read(self.events())
        except ValueError as error:
            raise Damaged(self._journal.path, f"cannot be read: {error}") from error

    def write_json(self, name: str, document: Any) -> None:
        """Replace a document of the run folder, whole or not at all."""
        write_json(self.path / name, document)

    def log(self, name: str, text: str) -> None:
        """Keep the last words of something that failed under logs/."""
        with whole_file(inside(self.path, f"logs/{name}")) as partial:
            partial.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")

    def hold(self) -> None:
        """Make this process the run's only writer; UsageError when it has another one."""
        if self._hold is None:
            self._hold = try_hold(self._journal.path)
            if self._hold is None:
                raise UsageError(
                    f"run {self.id} is still in progress in another orch process", hint="wait until it has ended"
                )

    def release(self) -> None:
        """Let others write."""
        if self._hold is not None:
            self._hold.close()
            self._hold = None

    def discard(self) -> None:
        """Remove a folder that holds nothing yet."""
        self.release()
        shutil.rmtree(self.path)

    def manifest(self) -> Manifest:
        """The run in one document, derived from plan and journal; after a kill the records left in staging count too.

        InvalidMeasurement names a file that is not as it was written.
        """
        if self._manifest is None:
            stored = self._stored()
            if stored is None and self.journal_state().state != "running":
                raise Damaged(self.path / MANIFEST, "the file is missing, and the journal says that the run has ended")
            is_current = stored is not None and stored[0].journal == self._journal.end()
            if stored is not None and is_current and stored[0].state != "running":
                self._require_begun_as_written()
                self._manifest, _ = stored
            else:
                self._manifest = self._recovered()
        return self._manifest

    def samples(self, relative_path: str, columns: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
        """Columns of one samples or baselines file, verified against the manifest's SHA-256.

        InvalidMeasurement names a file that is missing, truncated or altered.
        """
        from orchestrator.results.columns import read_columns

        path, sha256 = inside(self.path, relative_path), self.manifest().files.get(relative_path)
        if sha256 is None:
            raise Damaged(path, "the manifest does not list this file")
        return read_columns(path, columns, sha256=sha256)

    def raw_path(self, samples: str) -> Path:
        """Return where the raw record waits that will become `samples`."""
        return raw_path(self.path, samples)

    def convert(self) -> None:
        """Turn every record that waits and counts into its Parquet file, and note its digest.

        MissingError when the disk is full: what is converted stays, what waits keeps waiting.
        """
        from orchestrator.results.convert import convert_waiting

        convert_waiting(self.path, self._journal, self.journal_state(), self.plan())

    def drop_repeated(self) -> None:
        """Remove files of repeated blocks: samples/ and baselines/ hold what counts."""
        counted = self.journal_state().samples
        for path in (path for folder in ("samples", "baselines") for path in (self.path / folder).rglob("*.parquet")):
            if path.relative_to(self.path).as_posix() not in counted:
                path.unlink()

    def write_manifest(self) -> Manifest:
        """Derive the manifest anew and replace manifest.json."""
        self._manifest = self._derived()
        self.write_json(MANIFEST, sealed(asdict(self._manifest)))
        return self._manifest

    def finish(self, state: Literal["interrupted", "complete"], *, at: str) -> Manifest:
        """Convert what waits, note how the run ended, write the manifest, and remove staging from a complete run."""
        self.convert()
        self.drop_repeated()
        if not (self.path / MANIFEST).exists():  # so that one that is missing from a run that has ended was removed
            self.write_manifest()
        self.append({"event": "end", "state": state, "at": at})
        manifest = self.write_manifest()
        if state == "complete":
            shutil.rmtree(self.path / STAGING, ignore_errors=True)
        return manifest

    def manifest_bytes(self) -> bytes:
        """The content of manifest.json, where that is what figures are made from.

        InvalidMeasurement when there is none, or the journal continues after it.
        """
        if (stored := self._stored()) is None:
            raise Damaged(self.path / MANIFEST, "the file is missing")
        manifest, content = stored
        self._require_begun_as_written()
        if manifest.journal != self._journal.end() or not self._journal.is_whole:
            raise Damaged(self._journal.path, "not as it was when manifest.json was written: it continues after that")
        return content

    def _stored(self) -> tuple[Manifest, bytes] | None:
        """InvalidMeasurement when it is not as it was written, or the journal has lost lines that it is derived from."""
        stored = stored_manifest(self.path)
        if stored is not None and not self._journal.has(stored[0].journal):
            raise Damaged(
                self._journal.path, "shorter than it was, or another run's: manifest.json is of a later state"
            )
        return stored

    def _derived(self, state: derive.State | None = None) -> Manifest:
        """What plan and journal give; `state` counts only of a run that was cut before it could say how it ended."""
        journal_state = self.journal_state()
        if not journal_state.begin:
            raise Damaged(self._journal.path, "damaged: it does not say how the run began")
        if journal_state.state != "running":
            state = None
        return derive.manifest(journal_state, self.plan(), state=state, journal=self._journal.end())

    def _recovered(self) -> Manifest:
        """The manifest of a run that is still in progress, or was killed; then what it left is put in order first."""
        hold = try_hold(self._journal.path) if self._hold is None else None
        if hold is None:
            return self._derived()
        with hold:
            self._derived()
            self.convert()
            self.drop_repeated()
            manifest = self._derived("interrupted")
            self.write_json(MANIFEST, sealed(asdict(manifest)))
            return manifest

    def require_as_written(self, name: str, begin: Mapping[str, Any]) -> None:
        """InvalidMeasurement when one of the files that the run began with has changed since."""
        if begin and digest(inside(self.path, name)) != begin.get("files", {}).get(name):
            raise Damaged(self.path / name, "not as it was written when the run began")

    @property
    def is_in_progress(self) -> bool:
        """Whether a process of this machine writes the run right now."""
        return is_held(self._journal.path)


def verify(folder: RunFolder) -> tuple[str, ...]:
    """Read every file of a run and hold it against what was written down; return the files' paths.

    InvalidMeasurement names the first file that is missing or not as it was written. UsageError while the run is in
    progress.
    """
    if folder.journal_state().state == "running" and folder.is_in_progress:
        raise UsageError(f"run {folder.id} is still in progress", hint="wait until it has ended")
    manifest = folder.manifest()
    folder.manifest_bytes()
    journal_state = folder.journal_state()
    begun = tuple(journal_state.begin.get("files", {}))
    for samples in sorted(journal_state.samples - manifest.files.keys()):
        raise Damaged(inside(folder.path, samples), "no SHA-256 of it was ever written down")
    printed = {turn.raw: turn.sha256 for turn in journal_state.turns if turn.sha256}
    for name, sha256 in {**manifest.files, **printed}.items():
        if digest(path := inside(folder.path, name)) != sha256:
            raise Damaged(path, ALTERED)
    return ("journal.jsonl", "manifest.json", *begun, *manifest.files, *printed)


def stored_manifest(folder: Path) -> tuple[Manifest, bytes] | None:
    """Return manifest.json, and its bytes; None where there is none. InvalidMeasurement when it is not as it was written."""
    if (content := manifest_content(folder)) is None:
        return None
    try:
        plain, _ = unsealed(parse_json(content))
        manifest: Manifest = decode(Manifest, plain)
    except ValueError as error:
        raise Damaged(folder / MANIFEST, f"not as this orch writes it: {error}") from error
    return manifest, content


def manifest_content(folder: Path) -> bytes | None:
    """Return the bytes of manifest.json; None where there is none."""
    path = folder / MANIFEST
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Damaged(path, f"cannot be read: {error.strerror}") from error


def runs(root: Path) -> list[RunFolder]:
    """Every run under `root`, oldest first."""
    return [RunFolder(path) for path in run_folders(root)]


def newest(root: Path) -> RunFolder | None:
    """The newest run, damaged or not; None where there is none."""
    return next(reversed(runs(root)), None)
