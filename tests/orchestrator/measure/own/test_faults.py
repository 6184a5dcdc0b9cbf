"""Faults of real services, each found: by an error and its example, by a check, or before anything is measured."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from grpc_reflection.v1alpha import reflection

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.measure import run as measure
from orchestrator.measure.own.sampling import Sampled, tried
from orchestrator.questions.sameness.find import QUESTION as SAMENESS
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import ReplyDifference, TrialRecord
from orchestrator.summarise import summarise
from orchestrator.wording.answer import answer
from orchestrator.workspace import Workspace
from tests.conformance.certificates import certificates
from tests.support.hosts import Told
from tests.support.wire import free_port

pytestmark = [pytest.mark.alone, pytest.mark.busy]

SERVICE = Path(__file__).with_name("faulty.py")
SHOP = Path(__file__).parents[4] / "experiments" / "own"
CALL = 'call: {http: "GET /{id}", expect: {values: {id: "{id}", total: "{total}"}}}'


def experiment(folder: Path, faults: Sequence[str], call: str = CALL, more: str = "") -> Path:
    services = "".join(f'  {f}: {{start: "{{python}} {SERVICE} {{port}} {f}", within: 5s}}\n' for f in faults)
    stacks = "".join(f"  - {{name: {fault}, service: {fault}, {call}}}\n" for fault in faults)
    path = folder / "faults.yaml"
    path.write_text(f"""\
name: faults
question: Which service is wrong?
services:
{services}stacks:
{stacks}data: rows.csv
load: {{requests: 300, concurrency: 1}}
warmup: {{requests: 20, at_least: 0s}}
repeats: 3
{more}""")
    (folder / "rows.csv").write_text("id,total\n" + "".join(f"{row},{10 * row}\n" for row in range(1, 101)))
    return path


def measured(path: Path, *overrides: str) -> RunFolder:
    return RunFolder(measure.start(make_plan(path, overrides), Workspace(), command=["orch"], listener=Told()).folder)


def test_each_fault_of_a_service_is_found_and_a_service_without_one_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    faults = ("none", "wrong", "redirects", "closes", "refuses", "expires", "dies", "sleeps")
    run = measured(experiment(tmp_path, faults), "repeats=1")
    trials = {trial.cell.split("-")[1]: trial for trial in run.journal_state().trials}
    assert set(trials) == set(faults)
    errors = {fault: _errors(trial) for fault, trial in trials.items()}
    assert (trials["none"].failure, errors["none"]) == (None, {})
    assert set(errors["wrong"]) == {"wrong-reply"}
    assert 2 <= sum(errors["closes"].values()) <= 4
    failures = {fault: trial.failure for fault, trial in trials.items() if trial.failure is not None}
    stages = {fault: (failure.stage, failure.kind) for fault, failure in failures.items()}
    assert {fault: stages[fault][0] for fault in ("redirects", "refuses", "sleeps")} == dict.fromkeys(
        ("redirects", "refuses", "sleeps"), "smoke"
    )
    assert "302" in failures["redirects"].message
    assert "401" in failures["refuses"].message
    assert stages["sleeps"] == ("smoke", "responder-hung")
    assert stages["dies"][1] == "responder-died"
    assert "out of orders" in failures["dies"].message
    failed = {
        check.cell.split("-")[1]: check.name
        for check in summarise(run).checks
        if check.verdict == "fail" and check.cell
    }
    assert failed["wrong"] == "reply"
    assert {"closes", "expires", "dies"} <= set(failed)
    assert "none" not in failed


def _errors(trial: TrialRecord) -> dict[str, int]:
    return dict(trial.requesters[0].done.errors) if trial.requesters else {}


def test_stacks_that_answer_differently_are_compared_as_unlike_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = experiment(tmp_path, ("none", "wrong"), 'call: {http: "GET /{id}"}', "same: {total: total}\n")
    summary = summarise(measured(path, "load.requests=40"))
    assert SAMENESS.of(summary) == (
        ReplyDifference(name="total", row=7, rows=1, stacks=("none", "wrong"), values=("70", "71")),
    )
    first = answer(summary).lines[0].text
    assert first.startswith("not the same work, as none answers total with 70, wrong with 71 (row 7).")


@contextmanager
def running(*arguments: str) -> Iterator[None]:
    service = subprocess.Popen([sys.executable, str(SERVICE), *arguments])
    try:
        yield
    finally:
        service.kill()
        service.wait()


def first_reply(path: Path) -> Sampled:
    """The reply to the first row, once the service answers."""
    until_s = time.monotonic() + 30
    while True:
        (_, reply), *_ = tried(make_plan(path))
        if isinstance(reply, Sampled) and not reply.failure.startswith("refused"):
            return reply
        assert time.monotonic() < until_s, reply


def one_stack(folder: Path, service: str, call: str = CALL) -> Path:
    path = experiment(folder, ("none",), call)
    lines = [f"  none: {service}" if line.startswith("  none:") else line for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("host", ["localhost", "[::1]"])
def test_a_service_at_an_address_of_version_6_alone_is_called(tmp_path: Path, host: str) -> None:
    port = free_port()
    with running(str(port), "none", "::1"):
        reply = first_reply(one_stack(tmp_path, f'{{url: "http://{host}:{port}"}}'))
    assert (reply.status, reply.failure) == (200, "")


def test_https_is_verified_by_the_authority_that_is_given(tmp_path: Path) -> None:
    port, made = free_port(), certificates(tmp_path / "made", address="127.0.0.1")
    with running(str(port), "none", "127.0.0.1", made.serving["certificate"], made.serving["key"]):
        reply = first_reply(
            one_stack(tmp_path, f'{{url: "https://127.0.0.1:{port}", tls: {{ca: {made.trusted["path"]}}}}}')
        )
        other = certificates(tmp_path / "other", address="127.0.0.1").trusted["path"]
        (_, refused), *_ = tried(
            make_plan(one_stack(tmp_path, f'{{url: "https://127.0.0.1:{port}", tls: {{ca: {other}}}}}'))
        )
    assert (reply.status, reply.failure) == (200, "")
    assert getattr(refused, "failure", refused)


def test_a_method_is_described_by_reflection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SHOP)
    shop = importlib.import_module("shop_pb2")
    get = grpc.unary_unary_rpc_method_handler(
        lambda request, _: shop.Order(id=request.id, total=10 * request.id),
        shop.OrderRequest.FromString,
        shop.Order.SerializeToString,
    )
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("shop.v1.Orders", {"Get": get}),))
    reflection.enable_server_reflection(("shop.v1.Orders", reflection.SERVICE_NAME), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    method = 'grpc: shop.v1.Orders/Get, reflection: true, message: {id: "{id}"}'
    call = f'call: {{{method}, expect: {{values: {{total: "{{total}}"}}}}}}'
    try:
        reply = first_reply(one_stack(tmp_path, f'{{address: "127.0.0.1:{port}"}}', call))
    finally:
        server.stop(None).wait()
    assert (reply.status, reply.failure) == (0, "")
    assert '"total": "10"' in reply.reply
