"""The verbs that list runs, note something on one, and change which are here or in a team's index."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Set
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import shared_options as options
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged
from orchestrator.cli.tables import confirmed, table
from orchestrator.errors import UsageError
from orchestrator.quantities import count

if TYPE_CHECKING:
    from orchestrator.history.record import Listed
    from orchestrator.results.folder import RunFolder

SCHEMA_VERSION = 1


def list_runs(
    find: options.Find = "",
    limit: Annotated[int, typer.Option(min=1, help="Show at most so many.")] = 30,
    team: options.OfTeam = False,
    as_json: options.AsJson = False,
) -> None:
    """List the runs that are here, newest first: state, stacks, checks and answer."""
    from orchestrator.history.record import Filters

    console.as_json = as_json
    wanted = Filters(text=find)
    with options.an_index(of_team=team) as opened:
        listed = opened.runs(replace(wanted, limit=limit))
        total = len(listed) if len(listed) < limit else opened.count(wanted)
    runs = [asdict(run) for run in listed]
    console.emit({"schema_version": SCHEMA_VERSION, "runs": runs, "shown": len(runs), "of": total})
    if not listed:
        console.result("no run matches" if find else "there is no run here; `orch run FILE` makes one")
    else:
        _print(listed, total)


def _print(listed: list[Listed], total: int) -> None:
    heads = ("run", "state", "stacks", "checks", "answer")
    head, *lines = table(heads, [_columns(run) for run in listed], shutil.get_terminal_size((160, 24)).columns)
    console.result(console.style(head, "bold"))
    console.lines(lines)
    if total > len(listed):
        console.result(f"{len(listed):,} of {total:,} runs; --limit shows more")


def _columns(run: Listed) -> tuple[str, ...]:
    """The columns; before the answer, or why there is none, how many notes there are."""
    notes = f"({count(len(run.notes), 'note')}) " if run.notes else ""
    counts = ((run.failed, "failed"), (run.warned, "warned"), (run.passed, "passed"))
    checks = ", ".join(f"{number} {word}" for number, word in counts if number)
    return (
        run.id,
        run.state,
        ", ".join(run.stacks) or "-",
        run.validity if run.validity == "not judged" else checks,
        f"{notes}{run.verdict or run.trouble}",
    )


def note(
    run: options.Run,
    text: Annotated[str | None, typer.Argument(help="What to note; without it the run's notes are shown.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a note on a run, or show its notes; `orch runs --find WORD` finds it. Notes lie in .orch/notes."""
    from orchestrator.clock import SYSTEM
    from orchestrator.history.run_notes import add_note, notes_on
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    name = RunFolder.open(run, root=WORKSPACE.results).id
    if text is not None:
        add_note(WORKSPACE, name, text, SYSTEM.iso())
    notes = notes_on(WORKSPACE, name)
    console.emit({"run": name, "notes": list(notes)})
    console.lines([f"run {name}", *(f"  {line}" for line in notes or ("no notes",))])


def delete(runs: options.Runs, yes: options.Yes = False, as_json: options.AsJson = False) -> None:
    """Delete runs: their folders, their reports, and their notes.

    Nothing is deleted where one of several may not be.
    """
    from orchestrator.disk import writing
    from orchestrator.history.run_notes import notes_file
    from orchestrator.hosts.provision.deployments import Registry
    from orchestrator.report import report_of

    console.as_json = as_json
    standing = {intent.run_id for intent in Registry(WORKSPACE.deployments).standing()}
    chosen = {folder.path.name: folder for folder in (find_deletable(run, standing) for run in runs)}
    gone = {
        name: [path for path in (folder.path, report_of(folder, WORKSPACE.reports)) if path]
        for name, folder in chosen.items()
    }
    for paths in gone.values():
        console.progress(", ".join(map(str, paths)))
    if not yes:
        confirm(len(chosen), "delete")
    for name, (folder, *reports) in gone.items():
        with writing(folder, "try again"):
            shutil.rmtree(folder)
            for path in (*reports, notes_file(WORKSPACE, name)):
                path.unlink(missing_ok=True)
    console.result(f"deleted: {', '.join(chosen)}")
    console.emit({"deleted": {name: [str(path) for path in paths] for name, paths in gone.items()}})


def find_deletable(named: str, standing: Set[str]) -> RunFolder:
    """The run of that id, unique beginning of one, or path below `results`, if it may be deleted.

    UsageError for one that lies elsewhere, is a link, is in progress, or has hosts that are up (`standing`: the ids of such
    runs).
    """
    from orchestrator.results.folder import RunFolder

    folder = RunFolder.open(named, root=WORKSPACE.results)
    path = folder.path
    if path.parent.resolve() != WORKSPACE.results.resolve() or path.is_symlink():
        raise UsageError(f"{path} does not lie in {WORKSPACE.results}/", hint="orch deletes folders there alone")
    if folder.is_in_progress:
        raise UsageError(f"run {path.name} is in progress", hint="end it first: orch teardown, or Ctrl-C where it runs")
    if path.name in standing:
        raise UsageError(f"hosts of run {path.name} are up", hint=f"take them down first: orch teardown {path.name}")
    return folder


def confirm(runs: int, verb: str) -> None:
    """UsageError where nobody can be asked, or nobody says yes."""
    if not sys.stdin.isatty():
        raise UsageError(f"nobody can be asked whether to {verb}", hint=f"give --yes to {verb} without a question")
    if not confirmed(f"{verb.capitalize()} {'this run' if runs == 1 else f'these {runs} runs'} for good?"):
        raise UsageError(f"nothing was {verb.removesuffix('e')}ed", hint="answer y, or give --yes")


def publish(runs: options.Runs, as_json: options.AsJson = False) -> None:
    """Publish runs in a team's index, the database that ORCH_INDEX names; what is there of them already is replaced."""
    from orchestrator.history import shared
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    folders = [RunFolder.open(run, root=WORKSPACE.results) for run in runs]
    published = []
    with shared.shared(shared.team_url(), makes=True) as opened:
        for folder in folders:
            record = shared.record_of(folder, judged(folder))
            shared.publish(opened, record)
            published.append(record.id)
            console.result(f"published: {record.id}")
    console.emit({"schema_version": SCHEMA_VERSION, "published": published})


def unpublish(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Ids of runs, whole; they need not be here.")],
    yes: options.Yes = False,
    as_json: options.AsJson = False,
) -> None:
    """Take runs out of a team's index. A run that is not there is an error, after the others."""
    from orchestrator.history import shared

    console.as_json = as_json
    with shared.shared(shared.team_url()) as opened:
        if not yes:
            confirm(len(runs), "unpublish")
        gone = [run for run in runs if shared.withdraw(opened, run)]
    if gone:
        console.result(f"unpublished: {', '.join(gone)}")
    document = {"schema_version": SCHEMA_VERSION, "unpublished": gone}
    if missing := [run for run in runs if run not in gone]:
        raise UsageError(
            f"not published there: {', '.join(missing)}", hint="`orch runs --team --json` lists ids", details=document
        )
    console.emit(document)
