"""The run folder: `manifest.py` says what lies in it. Everything that reads or writes a run goes through here."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from orchestrator import __version__, clock
from orchestrator.disk import writing
from orchestrator.errors import KEPT, InvalidMeasurement, MissingError, UsageError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.reading import read_plan
from orchestrator.results import derive, ownership, sizes, stored_manifest
from orchestrator.results.documents import manifest_to_dict, sha256_of, whole_file, write_json
from orchestrator.results.hold import is_held, try_hold
from orchestrator.results.journal import Journal, Tail
from orchestrator.results.manifest import Manifest
from orchestrator.results.names import is_run, not_one, run_folders
from orchestrator.results.paths import ALTERED, damaged, digest, inside, name_in_id, samples_path
from orchestrator.results.records import sha256_of_rows
from orchestrator.results.stored_manifest import NAME, Holder, Stored
from orchestrator.strict_json import read_json

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_IDS = 1000
LATEST = "latest"


class RunFolder:
    """One run on disk. `create` and `resume` make it writable by this process alone; `open` only reads.

    `root` is the folder of runs that it may have been made in. A folder that was not made there, or is opened without one,
    is never written to: what a killed run left is put in order in a temporary folder, while this object lives.
    """

    def __init__(self, path: Path, *, root: Path | None = None) -> None:
        self.path = path
        self._root = root
        self._journal = Journal(path / "journal.jsonl", announce=self._note_end)
        self._is_new = False  # made by this object
        self._is_noted = False  # made here, as was found out before anything was written
        self._hold: BinaryIO | None = None
        self._stored_manifest = Holder(path, self._journal, self.plan)
        self._manifest: Manifest | None = None
        self._held: dict[str, sizes.Held] | None = None  # by each samples file
        self._recovered_files: dict[str, Path] = {}  # of a killed run from elsewhere: in the temporary folder
        self._rows_for_nothing: dict[str, int] = {}  # of each samples file that was read, beyond one for each byte
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def create(cls, plan: Plan, *, command: Sequence[str], root: Path, now: clock.Clock = clock.SYSTEM) -> RunFolder:
        """A new folder with the plan in it and the journal begun. Its id sorts by time: `<date>-<time>-<name>-<hex>`."""
        folder = cls._made(root, f"{now.stamp()}-{name_in_id(plan.name)}")
        try:
            with writing(folder.path, "start the run again"):
                folder._begin(plan, {"command": list(command), "at": now.iso()})
        except MissingError as error:  # a run that has not begun leaves no folder, and cannot be resumed
            folder.release()
            shutil.rmtree(folder.path, ignore_errors=True)
            with suppress(OSError):
                ownership.forget(root, folder.path)
            hint = (error.hint or "").replace("`orch run --resume`", "start the run again")
            raise MissingError(error.message.removesuffix(f"; {KEPT}"), hint=hint) from error
        return folder

    @classmethod
    def _made(cls, root: Path, begin: str) -> RunFolder:
        """A new, empty folder under `root` whose name begins so; another run's is never taken, nor touched."""
        for attempt in range(_MOST_IDS):
            path = root / f"{begin}-{secrets.token_hex(2)}{attempt or ''}"
            with writing(path, "start the run again"):
                root.mkdir(parents=True, exist_ok=True)
                try:
                    path.mkdir()
                except FileExistsError:
                    continue
            folder = cls(path, root=root)
            folder._is_new = True
            return folder
        raise MissingError(f"{root / begin}-...: {_MOST_IDS} names are taken", hint="start the run again")

    def _begin(self, plan: Plan, about: Mapping[str, Any]) -> None:
        """Write the plan and the journal's first line, and note that the folder is ours."""
        write_json(self.path / "plan.json", plan.to_dict())
        files = {"plan.json": sha256_of(self.path / "plan.json")}
        experiment = Path(plan.experiment_path)
        if plan.experiment_path and experiment.is_file():
            shutil.copyfile(experiment, self.path / "experiment.yaml")
            files["experiment.yaml"] = sha256_of(self.path / "experiment.yaml")
        begin = {"event": "begin", "run_id": self.id, "plan_id": plan.id, "orch_version": __version__, "files": files}
        self.append({**begin, **about})
        self.hold()

    @classmethod
    def open(cls, run: str | Path, *, root: Path | None = None, even_empty: bool = False) -> RunFolder:
        """The run of that path, id, unique beginning of an id, or `latest` (one with a trial, unless `even_empty`).

        A word without a slash names a run under `root` first; without a root only a path names one, and it is only read.
        UsageError names the runs there are.
        """
        direct, is_word = Path(run), "/" not in str(run)
        is_below = root is not None and is_word and (str(run) == LATEST or is_run(root / run))
        if not is_below and is_run(direct):
            return cls(direct, root=root)
        if root is None:
            raise UsageError(f"{run} is not a run folder", hint="name one by its path")
        ids = [folder.path.name for folder in runs(root)]
        matches = [name for name in ids if name == str(run)] or [name for name in ids if name.startswith(str(run))]
        if is_word and not matches and str(run) != LATEST and os.path.isdir(root / run):  # noqa: PTH112 - any text is asked
            raise UsageError(f"{root / run} holds no run: there is no journal", hint="`orch runs` shows what it is")
        if not ids:
            raise UsageError(f"no run {str(run)!r}: there is none under {root}/", hint="`orch run FILE` makes one")
        if str(run) == LATEST:
            return cls(root / ownership.latest(root, ids, even_empty=even_empty), root=root)
        if len(matches) == 1:
            return cls(root / matches[0], root=root)
        raise not_one(str(run), root, matches, ids, LATEST)

    @property
    def id(self) -> str:
        """The run's id."""
        return self.path.resolve().name

    @property
    def staging(self) -> Path:
        """Raw records on their way; gone when the run is complete."""
        return self.path / "staging"

    @property
    def is_ours(self) -> bool:
        """Whether this very folder was made here and is as this orch left it; any other one is only read."""
        return self.why_not_ours() is None

    def why_not_ours(self) -> str | None:
        """What speaks against it, as a clause; None where it is ours."""
        try:
            return ownership.why_not_ours(self._root, self.path, self._journal.end)
        except InvalidMeasurement as error:
            return f"its journal is damaged: {error.message}"

    def origin(self) -> str:
        """What tells a folder from elsewhere from every other one, 12 characters of 0-9 and a-f; "" where it is ours."""
        if self.is_ours:
            return ""
        return hashlib.sha256(f"{self.path.resolve()}\0{self._journal.end()}".encode(errors="replace")).hexdigest()[:12]

    def require_ours(self, what: str) -> None:
        """UsageError when the folder was not made here: `what` ("resume", say) acts on what it says."""
        why = self.why_not_ours()
        if why is not None:
            raise UsageError(
                f"cannot {what} run {self.id}: {why}",
                hint="`orch report` and `orch check` read it; start a new run of its experiment.yaml with `orch run FILE`",
            )

    def plan(self) -> Plan:
        """The frozen plan; InvalidMeasurement when it, or another file the run began with, is missing or has changed."""
        path = self.path / "plan.json"
        try:
            plan = read_plan(read_json(path, sizes.PLAN))
        except (OSError, ValueError) as error:
            raise InvalidMeasurement(
                f"{path}: cannot be read: {error}",
                hint="bring it back from a copy; without it the run cannot be judged",
            ) from error
        begin = self.journal_state().begin
        for name in dict.fromkeys(("plan.json", *begin.get("files", {}))):
            self.require_as_written(name, begin)
        return plan

    def append(self, event: dict[str, Any], *, sync: bool = True) -> None:
        """One line to the journal, on the disk when this returns; MissingError when the disk is full.

        UsageError for a folder that was not made here.
        """
        if not self._is_noted:
            if not self._is_new:
                self.require_ours("write to")
            self._is_noted = True
        self._journal.append(event, sync=sync)

    def _note_end(self, before: str, after: str) -> None:
        ownership.note(self._root, self.path, (before, after))

    def events(self) -> Iterator[dict[str, Any]]:
        """The journal, oldest first."""
        return self._journal.events()

    def tail(self) -> Tail:
        """The journal from its beginning, for who follows what another process adds to it."""
        return Tail(self._journal.path)

    def journal_state(self) -> derive.JournalState:
        """What the journal says; InvalidMeasurement when it is damaged."""
        return self._read(derive.read, self.events())

    def own_journal_in_brief(self) -> derive.JournalState:
        """As `derive.in_brief`, of a run that is ours; InvalidMeasurement when its journal is damaged."""
        return self._read(derive.in_brief, self._journal.told(derive.BRIEF))

    def _read(self, read: Callable[..., derive.JournalState], events: Iterable[dict[str, Any]]) -> derive.JournalState:
        try:
            return read(events)
        except ValueError as error:
            raise damaged(self._journal.path, f"cannot be read: {error}") from error

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
        """Remove a folder that was made here and holds nothing yet."""
        self.require_ours("discard")
        self.release()
        ownership.forget(self._root, self.path)
        shutil.rmtree(self.path)

    def manifest(self) -> Manifest:
        """The run in one document, derived from plan and journal; after a kill the records left in staging count too.

        InvalidMeasurement names a file that is not as it was written. UsageError names the manifest when it is of a newer
        schema version.
        """
        if self._manifest is None:
            stored = self._stored()
            if stored is None and self.journal_state().state != "running":
                raise damaged(self.path / NAME, "the file is missing, and the journal says that the run has ended")
            is_current = stored is not None and stored.manifest.journal == self._journal.end()
            is_kept = stored is not None and is_current and stored.manifest.state != "running"
            self._manifest = stored.manifest if stored and is_kept else self._recovered()
        return self._manifest

    def samples(self, relative_path: str, columns: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
        """Columns of one samples or baselines file, verified against the manifest's SHA-256.

        InvalidMeasurement names a file that is missing, truncated, altered, or not one of ours, and the one at which the
        run holds more rows than its bytes can.
        """
        from orchestrator.results.columns import read_columns

        path, expected = self._file(relative_path)
        found = read_columns(path, columns, self.held(relative_path), sha256=expected)
        rows = max((column.size for column in found.values()), default=0)
        self._rows_for_nothing[relative_path] = max(0, rows - path.stat().st_size)
        if sum(self._rows_for_nothing.values()) > sizes.FREE_ROWS:
            raise damaged(path, "the files so far hold more rows than measured times fit into so few bytes")
        return found

    def rows(self, relative_path: str) -> int:
        """How many rows a samples file declares; what it holds, `samples` tells. InvalidMeasurement as there."""
        from orchestrator.results.columns import declared_rows

        return declared_rows(self._file(relative_path)[0], self.held(relative_path))

    def raw_path(self, samples: str) -> Path:
        """Where the raw record waits that will become `samples`."""
        samples_path(self.path, samples)
        return inside(self.path, f"staging/records/{samples.replace('/', '~')}.timings")

    def record_digests(self, samples: Iterable[str]) -> dict[str, str]:
        """The SHA-256 of the rows of each raw record that waits, by the samples that it becomes.

        It takes a moment of a processor's time, so nothing may be measured meanwhile.
        """
        return {path: sha256_of_rows(self.raw_path(path)) for path in samples}

    def convert(self) -> None:
        """Turn every record that waits into its Parquet file, and note its digest; those of repeated blocks too.

        MissingError when the disk is full: what is converted stays, what waits keeps waiting.
        """
        from orchestrator.results.convert import convert_waiting

        convert_waiting(self)

    def set_aside(self) -> None:
        """Move files of repeated blocks from samples/ and baselines/ to superseded/: those folders hold what counts."""
        counted = self.journal_state().samples
        for folder in ("samples", "baselines"):
            for path in sorted(inside(self.path, folder).rglob("*.parquet")):
                relative = path.relative_to(self.path)
                if relative.as_posix() not in counted:
                    target = inside(self.path, f"superseded/{relative.as_posix()}")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    path.replace(target)

    def write_manifest(self) -> Manifest:
        """Derive the manifest anew and replace manifest.json."""
        self._manifest = self._derived()
        self.write_json(NAME, manifest_to_dict(self._manifest))
        return self._manifest

    def finish(self, state: Literal["interrupted", "complete"], *, at: str) -> Manifest:
        """Convert what waits, note how the run ended, write the manifest, and remove staging from a complete run."""
        self.convert()
        self.set_aside()
        if not (self.path / NAME).exists():  # so that one that is missing from a run that has ended was removed
            self.write_manifest()
        self.append({"event": "end", "state": state, "at": at})
        ownership.note(self._root, self.path, (self._journal.end(),))
        manifest = self.write_manifest()
        if state == "complete":
            shutil.rmtree(self.staging, ignore_errors=True)
        return manifest

    def manifest_bytes(self) -> bytes:
        """The content of manifest.json, where that is what figures are made from.

        InvalidMeasurement when there is none, or the journal continues after it.
        """
        stored = self._stored()
        if stored is None:
            raise damaged(self.path / NAME, "the file is missing")
        if self._goes_on_after(stored):
            raise damaged(self._journal.path, "not as it was when manifest.json was written: it continues after that")
        return stored.content

    def remarks(self) -> tuple[str, ...]:
        """What a reader must know of the manifest, a sentence each."""
        self.manifest()  # which brings that of a run of ours up to date that was killed
        stored = self._stored()
        if stored is None or self.is_in_progress or not self._goes_on_after(stored):
            return ()
        return ("journal.jsonl continues after manifest.json",)

    def _stored(self) -> Stored | None:
        return self._stored_manifest.stored()

    def _derived(self, state: derive.State | None = None) -> Manifest:
        return stored_manifest.derived(self._journal, self.plan, state=state)

    def _goes_on_after(self, stored: Stored) -> bool:
        return stored.manifest.journal != self._journal.end() or not self._journal.is_whole

    def _recovered(self) -> Manifest:
        """The manifest of a run that is still in progress, or was killed; then what it left is put in order first."""
        if not self.is_ours:
            return self._recovered_elsewhere()
        hold = try_hold(self._journal.path) if self._hold is None else None
        if hold is None:
            return self._derived()
        with hold:
            self._derived()
            self.convert()
            self.set_aside()
            manifest = self._derived("interrupted")
            self.write_json(NAME, manifest_to_dict(manifest))
            return manifest

    def _recovered_elsewhere(self) -> Manifest:
        """As `_recovered`, of a folder that is not ours: what waits is converted in a temporary folder."""
        from orchestrator.results.convert import convert_elsewhere

        if self.is_in_progress:
            return self._derived()
        manifest = self._derived("interrupted")
        self._scratch = self._scratch or tempfile.TemporaryDirectory(prefix="orch-")
        scratch = Path(self._scratch.name)
        made = convert_elsewhere(self, scratch)
        self._recovered_files = {samples: scratch / samples for samples in made}
        return replace(manifest, files={**manifest.files, **made})

    def require_as_written(self, name: str, begin: Mapping[str, Any]) -> None:
        """InvalidMeasurement when one of the files that the run began with has changed since."""
        expected = begin.get("files", {}).get(name) if begin else None
        most = sizes.PLAN if name == "plan.json" else sizes.EXPERIMENT
        if begin and digest(inside(self.path, name), most) != expected:
            raise damaged(self.path / name, "not as it was written when the run began")

    @property
    def is_in_progress(self) -> bool:
        """Whether a process of this machine writes the run right now."""
        return is_held(self._journal.path)

    def verify(self, relative_path: str) -> None:
        """InvalidMeasurement when a samples file is not as it was written."""
        path, expected = self._file(relative_path)
        if digest(path, sizes.samples(self.held(relative_path).most_rows)) != expected:
            raise damaged(path, ALTERED)

    def _file(self, relative_path: str) -> tuple[Path, str]:
        """Where a samples file lies, and the SHA-256 that the manifest lists."""
        path = samples_path(self.path, relative_path)
        expected = self.manifest().files.get(relative_path)
        if expected is None:
            raise damaged(path, "the manifest does not list this file")
        return self._recovered_files.get(relative_path, path), expected

    def digest(self, place: str, samples: str) -> str:
        """The SHA-256 of the file of `samples` at `place`, not read where it is larger than that can be."""
        return digest(inside(self.path, place), sizes.samples(self.held(samples).most_rows))

    def held(self, samples: str) -> sizes.Held:
        """What a samples file may hold at most."""
        if self._held is None:
            journal_state = self.journal_state()
            self._held = sizes.held(self.plan(), journal_state.every_trial, journal_state.every_baseline)
        return self._held.get(samples, sizes.Held())


def runs(root: Path) -> list[RunFolder]:
    """Every run under `root`, oldest first."""
    return [RunFolder(path, root=root) for path in run_folders(root)]


def latest_of_ours(root: Path) -> RunFolder | None:
    """The newest run that is ours; None where there is none. What sorts after it is mentioned."""
    every = runs(root)
    ours = next((folder for folder in reversed(every) if folder.is_ours), None)
    ownership.mention([folder.path.name for folder in every], ours.path.name if ours else "")
    return ours
