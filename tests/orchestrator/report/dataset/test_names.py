from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from dataclasses import replace

import pytest

from orchestrator.analysis.summarise import summarise
from orchestrator.cli import compare, merge
from orchestrator.cli.console import console
from orchestrator.experiment.plan.plan import Plan
from orchestrator.exports import as_json, as_markdown
from orchestrator.exports.findings import run_row
from orchestrator.exports.judged_run import JudgedRun
from orchestrator.report import in_text
from orchestrator.report.dataset import made
from orchestrator.report.dataset.names import Names
from orchestrator.results.folder import RunFolder
from orchestrator.results.lines import Failure
from services.python.contract.description import Description
from tests.support.runs import a_plan, a_run, write_run

MARKERS = {
    "user": "marianne",
    "home": "thesis-work",
    "ipv4": "10.77.3.9",
    "ipv6": "fd12:77::9",
    "project": "glacier-probe-417",
    "mail": "marianne.k@firn.example",
    "password": "S3cret-Pw!",
    "host": "firn-db.internal",
    "machine": "kestrel07",
}
SAID = (
    "cannot open /home/marianne/thesis-work/run.sock as marianne: connect to 10.77.3.9:5432 or [fd12:77::9]:5432 "
    "(kestrel07) failed; postgresql://marianne:S3cret-Pw!@firn-db.internal:5432/accounts?sslmode=off "
    "in projects/glacier-probe-417, tell marianne.k@firn.example; "
    "password=S3cret-Pw! fd12:77::9 glacier-probe-417 'firn-db.internal' marianne"
)


def planted() -> tuple:
    plan = a_plan(blocks=3)
    plan = replace(
        plan,
        question=f"Which one? {SAID}",
        experiment_path=f"/home/marianne/thesis-work/{MARKERS['home']}/x.yaml",
        overrides=(f"hosts.project={MARKERS['project']}",),
        resolved={stack.id: {"settings": {"dsn": SAID}, "versions": {"thin": SAID}} for stack in plan.stacks},
    )
    run = a_run(plan)
    trials = [replace(trial, failure=None) for trial in run.stored.trials]
    last = trials[-1]
    trials[-1] = replace(
        last,
        outcome="failed",
        requesters=(),
        failure=Failure(stage="measure", kind="crash", message=SAID, last_words=SAID),
    )
    trials = [
        replace(
            trial,
            ready=replace(trial.ready, implementation=SAID, settings={"store": SAID}) if trial.ready else None,
            requesters=tuple(
                replace(part, done=replace(part.done, settings={"dsn": SAID}, error_examples={"wrong": SAID}))
                for part in trial.requesters
            ),
        )
        for trial in trials
    ]
    stored = replace(
        run.stored,
        plan=json.loads(json.dumps(plan.to_dict())),
        trials=tuple(trials),
        warnings=(SAID, f"shared the machine with another measurement: {SAID}"),
        command=("/home/marianne/thesis-work/.venv/bin/orch", "run", SAID),
        fleet={"provider": "local", "address": MARKERS["ipv4"], "project": MARKERS["project"], "told": [SAID]},
        hosts={
            "localhost": Description(
                host=MARKERS["machine"],
                kernel_version=f"#1 SMP {MARKERS['user']}@{MARKERS['machine']}",
                cpu="Synthetic 3000",
                cloud={"id": "8812345678901", "project": MARKERS["project"], "name": MARKERS["machine"]},
                sysctl={"told": SAID},
                cgroup={"path": SAID},
            )
        },
    )
    files = {path: columns for path, columns in run.files.items() if path not in {p.samples for p in last.requesters}}
    return replace(run, stored=stored, files=files)


@pytest.fixture(scope="module")
def marked(tmp_path_factory) -> RunFolder:
    root = tmp_path_factory.mktemp("names") / "results"
    path = root / "a-run"
    path.mkdir(parents=True)
    (path / "experiment.yaml").write_text(f"# {SAID}\nname: x\nexternal: {MARKERS['host']}:5432\n")
    return RunFolder.open(write_run(planted(), path), root=root)


def everything_in(page: str) -> str:
    """The page, and whatever is packed in it, as one text."""
    found = [page]
    for body in re.findall(r'<script type="application/gzip"[^>]*>([^<]*)</script>', page):
        found.append(gunzipped(body))
    block = re.search(r'id="dataset"[^>]*>([^<]*)</script>', page)
    assert block is not None
    with zipfile.ZipFile(io.BytesIO(in_text.read(block[1]))) as archive:
        found += [archive.read(name).decode("utf-8", "replace") for name in archive.namelist()]
    return "\n".join(found)


def gunzipped(body: str) -> str:
    return gzip.decompress(in_text.read(body)).decode()


def test_no_name_is_on_the_page_nor_in_what_it_carries(marked):
    text = everything_in(made.page(made.packed(marked)))
    assert {name: marker for name, marker in MARKERS.items() if marker in text} == {}
    assert "8812345678901" not in text
    assert "host-1" in text
    assert "were replaced" in text


def test_of_a_larger_run_the_summary_holds_none_either(marked):
    dataset = made.packed(marked, most_rows=1_000)
    text = everything_in(made.page(dataset))
    assert not dataset.is_whole
    assert {name: marker for name, marker in MARKERS.items() if marker in text} == {}


def test_exports_name_nobody_either_unless_they_are_told_to(marked, tmp_path):
    summary = summarise(marked)
    assert MARKERS["password"] in json.dumps(run_row(summary))
    for keeps_names in (False, True):
        run = JudgedRun(folder=marked, summary=summary, keeps_names=keeps_names)
        as_json.write_summary([run], tmp_path / "x.json")
        as_markdown.write_summary([run], tmp_path / "x.md")
        text = (tmp_path / "x.json").read_text() + (tmp_path / "x.md").read_text()
        assert bool({marker for marker in MARKERS.values() if marker in text}) == keeps_names
        assert json.loads((tmp_path / "x.json").read_text())["cells"][0]["median_ms"] == run.cells()[0]["median_ms"]


def test_nor_do_a_merged_page_and_what_repeats_a_comparison(marked, tmp_path, monkeypatch):
    monkeypatch.setattr(console, "out", io.StringIO())
    monkeypatch.setattr(console, "err", io.StringIO())
    summary, _ = merge._summary(str(marked.path))
    assert {marker for marker in MARKERS.values() if marker in json.dumps(summary.to_dict())} == set()
    assert [cell.id for cell in summary.cells] == [cell.id for cell in summarise(marked).cells]
    compare.command(str(marked.path), markdown=tmp_path / "x.md")
    said = (tmp_path / "x.md").read_text()
    assert "--set hosts.project=project-1" in said
    assert {marker for marker in MARKERS.values() if marker in said} == set()


def test_names_that_are_kept_are_there_and_the_page_says_so(marked):
    text = everything_in(made.page(made.packed(marked, keep_names=True)))
    assert {name for name, marker in MARKERS.items() if marker not in text} == set()
    assert "are as they were on the machines that measured" in text


def test_figures_are_the_same_with_names_and_without(marked):
    with_names, without = (made.packed(marked, keep_names=keep).summary() for keep in (True, False))
    assert [cell.distribution for cell in with_names.cells] == [cell.distribution for cell in without.cells]


def test_the_same_name_is_the_same_pseudonym_and_another_is_not():
    names = Names(["at 10.1.2.3, then 10.1.2.4 and 10.1.2.3; ssh ann@one-host, bob@two-host; ann again"])
    said = names.text("10.1.2.4 10.1.2.3 10.1.2.4 ann bob one-host two-host")
    assert said == "192.0.2.2 192.0.2.1 192.0.2.2 user-1 user-2 host-1 host-2"


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8080/add answered 127.0.0.1 and [::1] on 0.0.0.0",
        "requests/s, application/json, and/or, 24/7",
        "/proc/sys/net/ipv4/tcp_rmem and /usr/bin/python3",
        "POST /add gave 500 at 12:30:45",
        "grpc-js 1.14.0, @grpc/grpc-js@1.14.0, Python 3.11.2",
        "std::sync at service.py:123 in main.go:7",
        "7 % of rest (flask, requests), c1 - see the check `noise`",
    ],
)
def test_what_names_nothing_stays(text):
    assert Names([text]).text(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see '/srv/my data/x y.txt' now", "see '<path>' now"),
        ("file:///srv/x/y.db", "file:<path>"),
        ("--out=/srv/x/y.html", "--out=<path>"),
        ("~/work/run.yaml", "<path>"),
        ("aa:bb:cc:dd:ee:0f", "<mac>"),
        ("https://gate.example.org/a?token=abc", "https://host-1/a?token=<secret>"),
        ("PGPASSWORD=hunter22 psql", "PGPASSWORD=<secret> psql"),
        ("host='db one' user=ann-lee", "host=host-1 user=user-1"),
        ("DB_PASSWORD=hunter22 access_token=abcdef", "DB_PASSWORD=<secret> access_token=<secret>"),
        ("AWS_SECRET_ACCESS_KEY=abcdef", "AWS_SECRET_ACCESS_KEY=<secret>"),
        ("password: hunter22", "password: <secret>"),
        ("{'api_key': 'hunter22', 'n': 1}", "{'api_key': <secret>, 'n': 1}"),
        ("Authorization: Bearer abcdef123", "Authorization: Bearer <secret>"),
        (
            'connection to server at "db.prod.example" (203.0.113.7), port 5432 failed: no role "ann-lee"',
            'connection to server at "host-1" (192.0.2.1), port 5432 failed: no role "user-1"',
        ),
        (
            'could not translate host name "dbprod" to address; dbprod',
            'could not translate host name "host-1" to address; host-1',
        ),
    ],
)
def test_what_names_something_is_replaced(text, expected):
    assert Names([text]).text(text) == expected


def test_a_user_who_is_called_as_a_stack_is_changes_no_stack():
    names = Names(["/home/rest/x"], words={"rest"})
    assert names.text("rest in /home/rest/x") == "rest in <path>"


def test_a_service_that_runs_already_is_not_named_though_its_name_has_no_point():
    plan = {"stacks": [{"id": "rest", "external": {"given": "anns-laptop", "host": "198.18.0.9", "port": 8001}}]}
    names = Names([plan])
    assert names.document(plan)["stacks"][0]["external"] == {"given": "host-1", "host": "192.0.2.1", "port": 8001}
    assert names.text('external: "anns-laptop:8001"') == 'external: "host-1:8001"'


def test_a_plan_keeps_its_ids(marked):
    plan = made.packed(marked).plan
    assert [cell.id for cell in plan.cells] == [cell["id"] for cell in marked.manifest().plan["cells"]]
    assert isinstance(plan, Plan)
    assert plan.experiment_path == "x.yaml"


@pytest.mark.parametrize("part", ["a.", "a-", "sqlite+"])
def test_a_long_text_from_elsewhere_does_not_hold_up_a_report(part):
    """The search for what never comes began anew at every letter: four times as long for twice the text."""
    text = part * (40_000 // len(part))
    assert len(Names([text]).text(text)) > 0


def test_a_long_password_is_replaced_whole():
    text = f"postgresql://anna:{'s3cret-' * 400}@db.example:5432/x"
    assert "s3cret" not in Names([text]).text(text)
