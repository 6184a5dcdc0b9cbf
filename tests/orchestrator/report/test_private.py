"""What a run folder holds of machines, people and folders stays there: no page, export or index has it."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from orchestrator.experiment.plan.plan import External
from orchestrator.exports.cell_columns import JudgedRun
from orchestrator.exports.writers import FORMATS
from orchestrator.history.shared import record_of
from orchestrator.report.carried_run import page_with_run
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import Failure
from orchestrator.summarise import summarise
from services.python.contract.description import Description
from tests.support.runs import a_plan, a_run, write_run

WORDS = ("marianne", "10.77.3.9", "glacier-probe-417", "S3cret-Pw!", "firn-db", "kestrel07")
TEXT = "/home/marianne/x as marianne: postgresql://marianne:S3cret-Pw!@firn-db:5432 at 10.77.3.9 on kestrel07"


def a_private_run(*, has_service: bool):
    plan = a_plan(blocks=3)
    stacks = plan.stacks
    if has_service:
        stacks = tuple(
            replace(
                stack,
                external=External(given="firn-db", host="127.0.0.7", port=5432, call={"kind": "http", "expect": {}}),
            )
            for stack in stacks
        )
    overrides = ("stacks.0.service=firn-db",) if has_service else ()
    plan = replace(plan, stacks=stacks, experiment_path="/home/marianne/x.yaml", overrides=overrides)
    run = a_run(plan)
    *others, last = run.stored.trials
    trials = [
        replace(
            trial,
            requesters=tuple(
                replace(part, done=replace(part.done, error_examples={"wrong": TEXT})) for part in trial.requesters
            ),
        )
        for trial in others
    ]
    failure = Failure(stage="measure", kind="refused", message=TEXT, last_words=TEXT)
    trials.append(replace(last, outcome="failed", requesters=(), failure=failure))
    stored = replace(
        run.stored,
        plan=plan,
        trials=tuple(trials),
        fleet={"provider": "local", "hosts": {"requester-1": {"role": "requester", "address": "10.77.3.9"}}},
        hosts={
            "localhost": Description(host="kestrel07", cpu="Synthetic 3000", cloud={"project": "glacier-probe-417"})
        },
    )
    lost = {part.samples for part in last.requesters}
    return replace(run, stored=stored, files={path: rows for path, rows in run.files.items() if path not in lost})


@pytest.fixture(scope="module", params=[False, True], ids=["started", "service"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    root = tmp_path_factory.mktemp("private") / "results"
    path = write_run(a_private_run(has_service=request.param), root / "a-run")
    (path / "experiment.yaml").write_text(f"# {TEXT}\nname: x\n")
    return RunFolder.open(path, root=root)


def private(text: str) -> list[str]:
    return [word for word in WORDS if word in text]


def everything_in(page: str) -> str:
    """The page, and whatever is packed in it, as one text."""
    texts = [page]
    for body in re.findall(r'<script type="application/gzip"[^>]*>([^<]*)</script>', page):
        texts.append(gzip.decompress(base64.b64decode(body)).decode())
    block = re.search(r'data-page="[^>]*>([^<]*)</script>', page)
    assert block is not None
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(block[1]))) as archive:
        texts += [archive.read(name).decode("utf-8", "replace") for name in archive.namelist()]
    return "\n".join(texts)


def test_the_journal_has_what_the_manifest_has_not(folder: RunFolder):
    assert {"marianne", "kestrel07"} <= set(private((folder.path / "journal.jsonl").read_text()))
    assert private((folder.path / "manifest.json").read_text()) == []


def test_no_page_has_it_nor_what_a_page_carries(folder: RunFolder):
    assert private(everything_in(page_with_run(folder, summarise(folder)))) == []


def test_no_export_has_it(folder: RunFolder, tmp_path: Path):
    run = JudgedRun(folder=folder, summary=summarise(folder))
    FORMATS["json"].write([run], tmp_path / "x.json", False)
    FORMATS["markdown"].write([run], tmp_path / "x.md", False)
    assert private((tmp_path / "x.json").read_text() + (tmp_path / "x.md").read_text()) == []


def test_nothing_published_has_it(folder: RunFolder):
    record = record_of(folder, summarise(folder))
    assert private(json.dumps(asdict(record), default=str)) == []
