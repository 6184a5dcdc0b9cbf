"""The verbs `publish` and `unpublish`: runs in a team's index (a database) and its dataset of samples."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged
from orchestrator.cli.runs.listing import confirm
from orchestrator.cli.shared_options import AsJson, IndexAt, OfTeam, Runs, Yes, complete_runs

if TYPE_CHECKING:
    from orchestrator.history.dataset_place import Place
    from orchestrator.history.index import Index
    from orchestrator.results.folder import RunFolder

SCHEMA_VERSION = 1

Dataset = Annotated[
    str | None, typer.Option("--to", metavar="DATASET", help="A folder, s3://bucket/prefix or gs://bucket/prefix.")
]


def publish(
    runs: Runs,
    to: Dataset = None,
    index: IndexAt = None,
    team: OfTeam = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put a run in the place of what is there of its id.")
    ] = False,
    with_notes: Annotated[bool, typer.Option("--notes/--no-notes", help="Publish tags and notes, too.")] = True,
    as_json: AsJson = False,
) -> None:
    """Put runs into a team's index (a database) and its dataset of samples.

    Each run is published whole or not at all; one that is there already is left as it is.
    """
    from orchestrator.history.dataset import require_dataset, require_finished
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    folders = [RunFolder.open(run, root=WORKSPACE.results) for run in runs]
    for folder in folders:
        require_finished(folder)
    with _targets(to, index, team=team) as (place, opened):
        if place is not None:
            require_dataset(place)
        done = [_publish(folder, place, opened, replace=replace, with_notes=with_notes) for folder in folders]
    console.emit({"schema_version": SCHEMA_VERSION, "runs": done})


def unpublish(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Ids of runs, whole; they need not be here.", autocompletion=complete_runs
        ),
    ],
    to: Dataset = None,
    index: IndexAt = None,
    team: OfTeam = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take runs out of a team's index and dataset: what orch put there for them, and nothing else.

    A run that is not there is an error, after the others.
    """
    from orchestrator.errors import UsageError
    from orchestrator.history import dataset, shared

    console.as_json = as_json
    with _targets(to, index, team=team, makes=False) as (place, opened):
        targets = [*([place.address] if place else []), *(["the index"] if opened else [])]
        console.progress(f"out of {' and '.join(targets)}:")
        for run in runs:
            console.progress(f"  {run}")
        if not yes:
            confirm(len(runs), "unpublish")
        done: list[dict[str, Any]] = []
        for run in runs:
            document: dict[str, Any] = {"run": run}
            if opened is not None:
                document["index"] = shared.withdraw(opened, run)
            if place is not None:
                document["dataset"] = dataset.withdraw(place, run)
            done.append(document)
    gone = [document["run"] for document in done if document.get("index") or document.get("dataset")]
    if gone:
        console.result(f"unpublished: {', '.join(gone)}")
    whole = {"schema_version": SCHEMA_VERSION, "runs": done}
    if missing := [run for run in runs if run not in gone]:
        raise UsageError(
            f"not published there: {', '.join(missing)}",
            hint="`orch runs --index URL --json` lists ids"
            if place is None
            else f"whole ids are needed; folders named run=... in {place.address} have them",
            details=whole,
        )
    console.emit(whole)


@contextmanager
def _targets(
    to: str | None, index: str | None, *, team: bool, makes: bool = True
) -> Iterator[tuple[Place | None, Index | None]]:
    """The dataset and the index that were named, made where it `makes`; UsageError where neither was."""
    from orchestrator.errors import UsageError
    from orchestrator.history import shared
    from orchestrator.history.dataset_place import place

    url = shared.chosen(index, of_team=team)
    named = None if to is None else place(to)
    if url is None and named is None:
        raise UsageError("say where to", hint="--to DATASET, --index URL, or --team (the URL in ORCH_INDEX)")
    if url is None:
        yield named, None
        return
    with shared.shared(url, makes=makes) as opened:
        yield named, opened


def _publish(
    folder: RunFolder, place: Place | None, index: Index | None, *, replace: bool, with_notes: bool
) -> dict[str, Any]:
    """One run to both; the result, for `--json`."""
    from orchestrator.history import dataset, noted, shared

    annotations = noted.read(WORKSPACE.notes, folder.path.name) if with_notes else noted.Annotations()
    run = dataset.published_run(folder, judged(folder), annotations)
    document: dict[str, Any] = {"run": run.record.id}
    if place is not None:
        WORKSPACE.state.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="publishing-", dir=WORKSPACE.state) as scratch:
            put = dataset.publish(place, run, Path(scratch), replace=replace)
        document["dataset"] = {"at": place.address, "outcome": put.outcome, "rows": put.rows, "files": put.files}
        size = f": {put.rows:,} rows in {put.files} files" if put.files else ""
        console.result(f"{run.record.id}: {put.outcome} in {place.address}{size}")
    if index is not None:
        outcome = shared.publish(index, run.record, tags=run.noted.tags, notes=run.noted.notes, replace=replace)
        document["index"] = {"outcome": outcome}
        console.result(f"{run.record.id}: {outcome} in the index")
    return document
