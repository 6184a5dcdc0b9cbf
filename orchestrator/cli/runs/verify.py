"""The verb `runs verify`: files against their digests, figures against their samples."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.shared_options import AsJson, RunOrReport
from orchestrator.errors import InvalidMeasurement

if TYPE_CHECKING:
    from orchestrator.results.folder import RunFolder

_MOST_NAMED = 10
_SAME = 1e-9  # relative: processors differ in the last digit of a logarithm


@dataclass(frozen=True)
class Difference:
    """A value of a summary that does not follow from the samples; None where one side has none."""

    place: tuple[str, ...]
    stated: Any
    recomputed: Any

    def __str__(self) -> str:
        return f"{', '.join(self.place)}: stated {self.stated}, recomputed {self.recomputed}"


def verify(run: RunOrReport = "latest", as_json: AsJson = False) -> None:
    """Recompute what was recorded: a run's files by their digests, the figures of a run or a report from their samples.

    Exit status 5 when a file or a figure is missing or not as it was written.
    """
    from orchestrator.report.carried_run import is_page
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    if is_page(run):
        _verify_page(Path(run))
    else:
        _verify_run(RunFolder.open(run, root=WORKSPACE.results))


def _verify_run(folder: RunFolder) -> None:
    """InvalidMeasurement names a file that is not as it was written, or figures that do not follow from the samples."""
    from orchestrator.results.folder import verify as as_written
    from orchestrator.summarise import summarise

    files = as_written(folder)
    recomputed = json.loads(summarise(folder).to_json())
    run = recomputed["run"]
    stated = _kept(folder, run["manifest_sha256"])
    document = {"run": folder.id, "state": run["state"], "files": list(files), "figures": _count(stated)}
    if stated:
        _require_same(stated, recomputed, folder.path / "summary.json", document, f"orch report {folder.id}")
    unfinished = "" if run["state"] == "complete" else f" (unfinished: {run['state']})"
    console.result(f"run {folder.id}{unfinished}: {len(files)} files as they were written")
    if stated:
        console.result(f"  {document['figures']:,} figures of summary.json follow from the samples")
    else:
        console.result("  summary.json has no figures of this state of the run: none were compared")
    console.emit({**document, "differences": []})


def _kept(folder: RunFolder, manifest_sha256: str) -> dict[str, Any]:
    """The summary that analysis left in the folder; empty where it left none, or that of an earlier state of the run."""
    from orchestrator.results.documents import read_sealed

    path = folder.path / "summary.json"
    try:
        stated, _ = read_sealed(path)
    except FileNotFoundError:
        return {}
    except (ValueError, OSError) as error:
        raise InvalidMeasurement(f"{path}: {error}", hint=f"`orch report {folder.id}` makes it anew") from error
    return stated if stated.get("run", {}).get("manifest_sha256") == manifest_sha256 else {}


def _verify_page(path: Path) -> None:
    """InvalidMeasurement names the figures of a report that do not follow from the samples that it carries."""
    from orchestrator.report.carried_run import SUMMARY, carried
    from orchestrator.strict_json import read_json
    from orchestrator.summarise import summarise

    with carried(path) as run:
        stated, recomputed = read_json(run.path / SUMMARY), json.loads(summarise(run).to_json())
    document = {
        "report": str(path),
        "run": recomputed["run"]["id"],
        "figures": _count(stated),
        "page_as_written": run.is_page_as_written,
    }
    _require_same(stated, recomputed, path, document, f"orch report {path}")
    if not run.is_page_as_written:
        raise InvalidMeasurement(
            f"{path}: its text was changed after it was written, though its summary follows from its samples",
            hint="a browser that saves a page changes it, too: `orch report FILE.html` writes it again",
            details={**document, "differences": []},
        )
    console.result(f"report of run {document['run']}: {document['figures']:,} figures follow from its samples")
    console.result("  the page is as it was written, by its digest")
    console.emit({**document, "differences": []})


def differences(stated: Any, recomputed: Any, place: tuple[str, ...] = ()) -> Iterator[Difference]:
    """Yield every value of a summary that is another one when it is recomputed."""
    if isinstance(stated, dict) and isinstance(recomputed, dict):
        for key in sorted(stated.keys() | recomputed.keys()):
            yield from differences(stated.get(key), recomputed.get(key), (*place, key))
    elif isinstance(stated, list) and isinstance(recomputed, list) and len(stated) == len(recomputed):
        for number, (item, other) in enumerate(zip(stated, recomputed, strict=True)):
            name = str(item.get("id", number)) if isinstance(item, dict) else str(number)
            yield from differences(item, other, (*place, name))
    elif isinstance(stated, int | float) and isinstance(recomputed, int | float):
        if not math.isclose(stated, recomputed, rel_tol=_SAME, abs_tol=1e-12):
            yield Difference(place, stated, recomputed)
    elif stated != recomputed:
        yield Difference(place, stated, recomputed)


def _count(value: Any) -> int:
    if isinstance(value, dict | list):
        return sum(map(_count, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int | float)


def _require_same(stated: Any, recomputed: Any, path: Path, document: dict[str, Any], again: str) -> None:
    """InvalidMeasurement that names each difference, the first ones on the terminal; nothing where there is none."""
    different = list(differences(stated, recomputed))
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
