"""The verb `runs verify`: files against their digests, figures against their samples."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.shared_options import AsJson, RunOrReport
from orchestrator.errors import InvalidMeasurement

if TYPE_CHECKING:
    from orchestrator.report.dataset.flat_figures import Difference, Figures
    from orchestrator.results.folder import RunFolder

_MOST_NAMED = 10


def verify(
    run: RunOrReport = "latest",
    as_json: AsJson = False,
) -> None:
    """Recompute what was recorded: a run's files by their digests, the figures of a run or a report from their samples.

    Exit status 5 when a file or a figure is missing or not as it was written.
    """
    from orchestrator.report.dataset.block import is_page
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    if is_page(run):
        _verify_page(Path(run))
    else:
        _verify_run(RunFolder.open(run, root=WORKSPACE.results))


def _verify_run(folder: RunFolder) -> None:
    """InvalidMeasurement names a file that is not as it was written, or figures that do not follow from the samples."""
    from orchestrator.results import verification

    files = verification.verify(folder)
    stated, different = _of_folder(folder)
    state = folder.manifest().state
    document = {"run": folder.id, "state": state, "files": list(files), "figures": len(stated)}
    _refuse(folder.path / "summary.json", different, document, f"orch report {folder.id}")
    unfinished = "" if state == "complete" else f" (unfinished: {state})"
    console.result(f"run {folder.id}{unfinished}: {len(files)} files as they were written")
    if stated:
        console.result(f"  {len(stated):,} figures of summary.json follow from the samples")
    else:
        console.result("  summary.json has no figures of this state of the run: none were compared")
    console.emit({**document, "differences": []})


def _of_folder(folder: RunFolder) -> tuple[Figures, tuple[Difference, ...]]:
    """The figures that analysis left in the folder, and which differ when they are recomputed.

    None where it left none, or those of an earlier state of the run.
    """
    from orchestrator.report.dataset.flat_figures import differences, figures
    from orchestrator.results.documents import read_sealed
    from orchestrator.summarise import summarise, summary_of

    path = folder.path / "summary.json"
    try:
        stored = summary_of(read_sealed(path))
    except FileNotFoundError:
        return {}, ()
    except (ValueError, OSError) as error:
        raise InvalidMeasurement(f"{path}: {error}", hint=f"`orch report {folder.id}` makes it anew") from error
    recomputed = summarise(folder)
    if stored.manifest_sha256 != recomputed.manifest_sha256:
        return {}, ()
    stated = figures(stored)
    return stated, differences(stated, figures(recomputed))


def _verify_page(path: Path) -> None:
    """InvalidMeasurement names the figures of a report that do not follow from the samples that it carries."""
    from orchestrator.report.dataset.block import read_page
    from orchestrator.report.dataset.flat_figures import differences, figures, stated

    page = read_page(path)
    dataset = page.dataset
    try:
        shown = stated(page.text)
    except ValueError as error:
        raise InvalidMeasurement(f"{path}: {error}", hint="`orch report FILE.html` writes the page again") from error
    different = differences(shown, figures(dataset.summary()))
    document = {
        "report": str(path),
        "run": dataset.about.run_id,
        "orch": dataset.about.orch,
        "samples": dataset.samples_inside,
        "figures": len(shown),
        "page_as_written": page.is_as_written,
    }
    _refuse(path, different, document, f"orch report {path}")
    if not page.is_as_written:
        raise InvalidMeasurement(
            f"{path}: its text was changed after it was written, though its figures as data follow from its samples",
            hint="a browser that saves a page changes it, too: `orch report FILE.html` writes it again",
            details={**document, "differences": []},
        )
    console.result(
        f"report of run {dataset.about.run_id}: {len(shown):,} figures follow from all {dataset.samples_inside:,} samples"
    )
    console.result("  the page is as it was written, by its digest")
    console.emit({**document, "differences": []})


def _refuse(path: Path, different: tuple[Difference, ...], document: dict[str, Any], again: str) -> None:
    """InvalidMeasurement that names each difference, the first ones on the terminal; nothing where there is none."""
    if not different:
        return
    named = [str(each) for each in different[:_MOST_NAMED]]
    if (more := len(different) - len(named)) > 0:
        named.append(f"and {more} more")
    count = f"{len(different)} figure{'s do' if len(different) > 1 else ' does'} not follow from the samples"
    raise InvalidMeasurement(
        f"{path}: {count}: {'; '.join(named)}",
        hint=f"do not trust it: `{again}` writes what the samples say",
        details={**document, "differences": [asdict(each) for each in different]},
        shown=(f"{path}: {count}:", *(f"  {line}" for line in named)),
    )
