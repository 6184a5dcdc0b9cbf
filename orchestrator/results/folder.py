"""The run folder: `manifest.py` says what lies in it. Everything that reads or writes a run goes through here."""

from __future__ import annotations

import fcntl
import json
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from orchestrator import __version__, clock
from orchestrator.errors import InvalidMeasurement, OrchError, UsageError, did_you_mean
from orchestrator.experiment.plan import Plan
from orchestrator.results import derive
from orchestrator.results.documents import decode, manifest_from_dict, manifest_to_dict, sha256_of, write_json
from orchestrator.results.journal import Journal
from orchestrator.results.manifest import BaselineRecord, Manifest, TrialRecord

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from orchestrator.results.convert import Constants

ROOT = Path("results")
LATEST = "latest"


class RunFolder:
    """One run on disk. `create` and `resume` make it writable by this process alone; `open` only reads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journal = Journal(path / "journal.jsonl")
        self._hold: BinaryIO | None = None
        self._manifest: Manifest | None = None
        self._verified: set[str] = set()

    @classmethod
    def create(
        cls, plan: Plan, *, command: Sequence[str], root: Path = ROOT, now: clock.Clock = clock.SYSTEM
    ) -> RunFolder:
        """A new folder with the plan in it and the journal begun. Its id sorts by time: `<date>-<time>-<name>-<hex>`."""
        name = re.sub(r"[^a-z0-9_]+", "-", plan.name.lower()).strip("-") or "run"
        run_id = f"{now.stamp()}-{name}-{secrets.token_hex(2)}"
        folder = cls(root / run_id)
        folder.path.mkdir(parents=True)
        write_json(folder.path / "plan.json", plan.to_dict())
        experiment = Path(plan.experiment_path)
        if plan.experiment_path and experiment.is_file():
            shutil.copyfile(experiment, folder.path / "experiment.yaml")
        begin = {"event": "begin", "run_id": run_id, "plan_id": plan.id, "orch_version": __version__}
        folder.append({**begin, "command": list(command), "at": now.iso()})
        folder.hold()
        return folder

    @classmethod
    def open(cls, run: str | Path, *, root: Path = ROOT) -> RunFolder:
        """The run of that path, id, unique beginning of an id, or `latest`; UsageError names the runs there are."""
        direct = Path(run)
        if _is_run(direct):
            return cls(direct)
        ids = [folder.path.name for folder in runs(root)]
        if not ids:
            raise UsageError(f"no run {str(run)!r}: there is none under {root}/", hint="`orch run FILE` makes one")
        if str(run) == LATEST:
            return cls(root / ids[-1])
        matches = [name for name in ids if name == str(run)] or [name for name in ids if name.startswith(str(run))]
        if len(matches) == 1:
            return cls(root / matches[0])
        if matches:
            raise UsageError(
                f"{str(run)!r} is the beginning of several runs: {', '.join(matches)}", hint="say more of it"
            )
        raise UsageError(f"no run {str(run)!r} under {root}/", hint=did_you_mean(str(run), ids))

    @property
    def id(self) -> str:
        """The run's id."""
        return self.path.resolve().name

    @property
    def staging(self) -> Path:
        """Raw records on their way; gone when the run is complete."""
        return self.path / "staging"

    def plan(self) -> Plan:
        """The frozen plan; UsageError when plan.json is missing or damaged."""
        path = self.path / "plan.json"
        try:
            plan: Plan = decode(Plan, json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UsageError(f"{path}: cannot be read: {error}", hint="the run can no longer be resumed") from error
        return plan

    def append(self, event: dict[str, Any], *, sync: bool = True) -> None:
        """One line to the journal, on the disk when this returns; MissingError when the disk is full."""
        self._journal.append(event, sync=sync)

    def events(self) -> Iterator[dict[str, Any]]:
        """The journal, oldest first."""
        return self._journal.events()

    def story(self) -> derive.Story:
        """What the journal tells."""
        return derive.read(self.events())

    def write_json(self, name: str, document: Any) -> None:
        """Replace a document of the run folder, whole or not at all."""
        write_json(self.path / name, document)

    def log(self, name: str, text: str) -> None:
        """Keep the last words of something that failed under logs/."""
        folder = self.path / "logs"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text + "\n", encoding="utf-8")

    def hold(self) -> None:
        """Make this process the run's only writer; UsageError when it has another one."""
        if self._hold is None:
            self._hold = self._try_hold()
            if self._hold is None:
                raise UsageError(f"run {self.id} is going on in another orch", hint="wait until that one has ended")

    def release(self) -> None:
        """Let others write."""
        if self._hold is not None:
            self._hold.close()
            self._hold = None

    def manifest(self) -> Manifest:
        """The run in one document. After a kill it is made from the journal, and the records left in staging with it.

        UsageError names the file when it is of a newer schema version, damaged, or not there.
        """
        if self._manifest is None:
            stored = self._stored_manifest()
            self._manifest = stored if stored and stored.state != "running" else self._recovered()
        return self._manifest

    def samples(self, relative_path: str, columns: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
        """Columns of one samples or baselines file, verified against the manifest's SHA-256 when first read.

        InvalidMeasurement names a file that is missing, truncated or altered.
        """
        import pyarrow.parquet as pq

        path = self.path / relative_path
        self._verify(relative_path, path)
        table = pq.ParquetFile(path).read(columns=list(columns))
        return {name: _values(table[name].combine_chunks()) for name in columns}

    def raw_path(self, samples: str) -> Path:
        """Where the raw record waits that will become `samples`."""
        return self.staging / "records" / f"{samples.replace('/', '~')}.timings"

    def convert(self) -> None:
        """Turn every record that counts and still waits into its Parquet file, and note its digest.

        MissingError when the disk is full: what is converted stays, what waits keeps waiting.
        """
        from orchestrator.results.convert import to_parquet

        story = self.story()
        for samples, constants in _constants(story, self.plan()).items():
            if samples in story.files:
                continue
            raw = self.raw_path(samples)
            if not raw.exists():
                self.append({"event": "warning", "text": f"the raw record of {samples} is lost"})
                continue
            digest = to_parquet(raw, self.path / samples, constants, staging=self.staging)
            self.append({"event": "file", "path": samples, "sha256": digest})
            raw.unlink()

    def set_aside(self) -> None:
        """Move files of repeated blocks from samples/ and baselines/ to superseded/: those folders hold what counts."""
        counted = self.story().samples
        for folder in ("samples", "baselines"):
            for path in sorted((self.path / folder).rglob("*.parquet")):
                relative = path.relative_to(self.path)
                if relative.as_posix() not in counted:
                    target = self.path / "superseded" / relative
                    target.parent.mkdir(parents=True, exist_ok=True)
                    path.replace(target)

    def write_manifest(self) -> Manifest:
        """Derive the manifest anew and replace manifest.json."""
        self._manifest = derive.manifest(self.story(), self.plan().to_dict())
        self.write_json("manifest.json", manifest_to_dict(self._manifest))
        return self._manifest

    def finish(self, state: Literal["interrupted", "complete"], *, at: str) -> Manifest:
        """Convert what waits, note how the run ended, write the manifest, and remove staging from a complete run."""
        self.convert()
        self.set_aside()
        self.append({"event": "end", "state": state, "at": at})
        manifest = self.write_manifest()
        if state == "complete":
            shutil.rmtree(self.staging, ignore_errors=True)
        return manifest

    def _stored_manifest(self) -> Manifest | None:
        path = self.path / "manifest.json"
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise UsageError(
                f"{path}: damaged: {error}", hint="remove it: it is made again from journal.jsonl"
            ) from error
        return manifest_from_dict(raw, path)

    def _recovered(self) -> Manifest:
        """The manifest of a run that is still going on, or was killed; then what it left is put in order first."""
        hold = self._try_hold() if self._hold is None else None
        if hold is None:
            return derive.manifest(self._begun(), self.plan().to_dict())
        with hold:
            self._begun()
            self.convert()
            self.set_aside()
            manifest = derive.manifest(self.story(), self.plan().to_dict(), state="interrupted")
            self.write_json("manifest.json", manifest_to_dict(manifest))
            return manifest

    def _begun(self) -> derive.Story:
        story = self.story()
        if not story.begin:
            raise UsageError(
                f"{self._journal.path}: damaged: it does not say how the run began",
                hint="the Parquet files under samples/ can still be read",
            )
        return story

    def _try_hold(self) -> BinaryIO | None:
        handle = (self.path / "journal.jsonl").open("ab")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.close()
            return None
        return handle

    def _verify(self, relative_path: str, path: Path) -> None:
        if relative_path in self._verified:
            return
        expected = self.manifest().files.get(relative_path)
        trouble: str | None = None
        if expected is None:
            trouble = "the manifest does not know this file"
        elif not path.is_file():
            trouble = "the file is missing"
        elif sha256_of(path) != expected:
            trouble = "truncated or altered: its SHA-256 is not the one in the manifest"
        if trouble is not None:
            raise _damaged(path, trouble)
        self._verified.add(relative_path)


def runs(root: Path = ROOT) -> list[RunFolder]:
    """Every run under `root`, oldest first."""
    return [RunFolder(path) for path in sorted(root.iterdir()) if _is_run(path)] if root.is_dir() else []


def _damaged(path: Path, trouble: str) -> OrchError:
    return InvalidMeasurement(
        f"{path}: {trouble}",
        hint="bring it back from a copy; the run's other files can still be read with pandas.read_parquet",
    )


def _is_run(path: Path) -> bool:
    return (path / "manifest.json").is_file() or (path / "journal.jsonl").is_file()


def _values(array: Any) -> npt.NDArray[np.generic]:
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    values: npt.NDArray[np.generic] = array.to_numpy(zero_copy_only=False)
    return values


def _constants(story: derive.Story, plan: Plan) -> dict[str, Constants]:
    """What is constant in each file that counts, by its path."""
    found: dict[str, Constants] = {}
    for trial in story.trials:
        found |= _of_trial(trial, plan)
    for baseline in story.baselines:
        found[baseline.samples] = _of_baseline(baseline)
    return found


def _of_trial(trial: TrialRecord, plan: Plan) -> dict[str, Constants]:
    from orchestrator.results.convert import Constants

    cell = next(c for c in plan.cells if c.id == trial.cell)
    return {
        part.samples: Constants(
            stack=cell.stack,
            operation=cell.operation,
            placement=cell.placement,
            policy=cell.connection,
            concurrency=cell.load.concurrency,
            block=trial.block,
            requester=part.host,
        )
        for part in trial.requesters
        if part.samples
    }


def _of_baseline(baseline: BaselineRecord) -> Constants:
    from orchestrator.results.convert import Constants

    return Constants(
        stack=baseline.kind,
        operation="exchange" if baseline.kind == "tcp" else "ping",
        placement=baseline.placement,
        policy=baseline.policy,
        concurrency=1,
        block=baseline.block,
        requester=baseline.requester,
    )
