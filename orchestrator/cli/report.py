"""Write a run's report again, from its stored data alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged, keep


def command(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run id, its beginning, a path, or `latest`.")],
    out: Annotated[Path | None, typer.Option(help="Write to this file instead (one run only).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Write one HTML file per run and print where it is; what analysis found is stored in the run folder anew."""
    from orchestrator.errors import UsageError
    from orchestrator.report import default_path, write_report
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    if out is not None and len(runs) > 1:
        raise UsageError(
            f"--out names one file, and {len(runs)} runs were asked for",
            hint="omit --out: each report then gets its own name under reports/",
        )
    written = []
    for folder in [RunFolder.open(run, root=WORKSPACE.results) for run in runs]:
        summary = judged(folder)
        keep(folder, summary)
        path = write_report(summary, out or default_path(summary, WORKSPACE.reports, folder.origin()))
        if (why := folder.why_not_ours()) is not None:
            console.progress(f"{folder.path}: {why}; so its report is stored apart from those of runs made here")
        written.append({"run": summary.run_id, "report": str(path)})
        console.result(str(path))
    console.emit({"reports": written})
