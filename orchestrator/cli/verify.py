"""Hold a stored run against what was written down when it was made, or a report against the samples that it carries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import completions
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.errors import InvalidMeasurement

if TYPE_CHECKING:
    from orchestrator.report.dataset.block import Page
    from orchestrator.report.dataset.checked import Checked
    from orchestrator.results.folder import RunFolder

_MOST_NAMED = 10


def command(
    run: Annotated[
        str,
        typer.Argument(
            help="Run id, its beginning, a path, `latest`, or a report: FILE.html.", autocompletion=completions.runs
        ),
    ] = "latest",
    signers: Annotated[
        Path | None, typer.Option(help="Check the signature too: a file of allowed signers, as ssh-keygen(1) has it.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="Who must have signed it: a name in that file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Print what was verified; exit status 5 when a file or a figure is missing or not as it was written."""
    from orchestrator.analysis.stopping import require_decisions
    from orchestrator.errors import UsageError
    from orchestrator.report.dataset.block import is_page
    from orchestrator.results import signature, verification
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    if (signers is None) != (by is None):
        raise UsageError("--signers and --by belong together", hint="--signers allowed_signers --by name@example.org")
    if is_page(run):
        _verify_page(Path(run), signers, by)
        return
    folder = RunFolder.open(run, root=WORKSPACE.results)
    files = verification.verify(folder)
    _verify_medians(folder)
    require_decisions(folder.plan(), folder.journal_state())
    if signers is not None and by is not None:
        signature.verify(folder, signers, by)
    signed = f", signed by {by}" if by else ""
    state = folder.manifest().state
    unfinished = "" if state == "complete" else f" (unfinished: {state})"
    console.result(f"run {folder.id}{unfinished}: {len(files)} files as they were written{signed}")
    console.emit({"run": folder.id, "state": state, "files": list(files), "signed_by": by})


def _verify_medians(folder: RunFolder) -> None:
    """InvalidMeasurement when a median that the journal keeps of a trial does not follow from the trial's samples."""
    medians = folder.journal_state().medians
    if not medians:
        return
    from orchestrator.analysis.trial_median import differing  # numpy, which takes a while to load

    found = list(differing(folder, medians))
    if found:
        more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        raise InvalidMeasurement(
            f"{folder.path / 'journal.jsonl'}: {'; '.join(found[:_MOST_NAMED])}{more}",
            hint="do not trust what was shown while the run was made: its report is made from the samples",
        )


def _verify_page(path: Path, signers: Path | None, by: str | None) -> None:
    """Print what of a report follows from the samples that it carries; InvalidMeasurement names what does not."""
    from orchestrator.report.dataset import checked, container
    from orchestrator.report.dataset.block import read_page
    from orchestrator.report.dataset.signed import is_covered
    from orchestrator.results import signature

    page = read_page(path)
    dataset, found = page.dataset, checked.check(page)
    document = {
        "report": str(path),
        "run": dataset.about.run_id,
        "orch": dataset.about.orch,
        "samples": {"inside": dataset.inside, "of": dataset.of},
        "compared": found.compared,
        "why": found.why_not_all,
        "figures": found.figures,
        "bounded": found.bounded,
        "page_as_written": found.is_as_written,
        "differences": [asdict(each) for each in found.differences],
    }
    if found.differences:
        raise _differing(path, found, document)
    if signers is not None and by is not None:
        if not is_covered(dataset):
            raise InvalidMeasurement(
                f"{path}: it carries no signature of its samples",
                hint="its author signs the run with `orch sign`, and then writes the report",
            )
        signed, made = (dataset.signed[name] for name in (container.SIGNED, container.SIGNATURE))
        signature.verify_content(str(path), signed, made, signers, by)
    for line in _said(page, found):
        console.result(line)
    if by is not None:
        console.result(f"  the samples and what each trial said are signed by {by}")
    console.emit({**document, "signed_by": by})


def _differing(path: Path, found: Checked, document: dict[str, object]) -> InvalidMeasurement:
    """The error that names each difference, the first ones on the terminal."""
    named = [str(each) for each in found.differences[:_MOST_NAMED]]
    more = len(found.differences) - len(named)
    said = "its figures do not follow from the samples that it carries"
    if found.why_not_all:
        said += f" (compared: its {found.compared}, as {found.why_not_all})"
    count = f"{len(found.differences)} difference{'s' if len(found.differences) > 1 else ''}"
    return InvalidMeasurement(
        f"{path}: {said}; {count}: {'; '.join(named)}{f'; and {more} more' if more else ''}",
        hint="do not trust this page: `orch report FILE.html` writes what its samples say",
        details=document,
        shown=(
            f"{path}: {said}; {count}:",
            *(f"  {line}" for line in [*named, *([f"and {more} more"] if more else [])]),
        ),
    )


def _said(page: Page, found: Checked) -> Iterator[str]:
    """What was compared and agrees, and what could not be, a line each."""
    dataset = page.dataset
    if dataset.is_whole:
        yield f"report of run {dataset.about.run_id}: its figures follow from all {dataset.of:,} samples that it carries"
    else:
        yield f"report of run {dataset.about.run_id}: it carries {dataset.inside:,} of {dataset.of:,} samples"
        yield f"  {found.bounded:,} medians and p99 of trials and cells can be those of these samples"
        yield "  all else on the page follows from the stored summary, which these samples cannot confirm to the last digit"
    if found.compared == "page":
        yield "  the whole page was compared: text, tables, data of charts, scripts"
    elif found.compared == "texts and charts":
        yield f"  texts, labels and the data of charts were compared, not tags and scripts: {found.why_not_all}"
        yield "  what hides or covers a text was not: verify the file that orch wrote"
    else:
        yield f"  {found.figures:,} figures of cells were compared, not the whole page: {found.why_not_all}"
        if not page.is_saved_by_browser:
            yield "  the page is the one that was written, by a digest that whoever changes a page can compute anew"
        yield "  sentences and charts were not compared: verify the file that orch wrote, with the orch that wrote it"
