"""The page that follows a run in progress, and its events."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from orchestrator.web import live_page, live_view
from orchestrator.workspace import Workspace
from tests.support.growing import Growing
from tests.support.plans import plan
from tests.support.web import EVIL, client, served


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(live_view, "LOOK_S", 0.0)
    monkeypatch.setattr(live_page, "LOOK_S", 0.02)


@pytest.fixture
def run(tmp_path: Path) -> Growing:
    return Growing(tmp_path).measuring()


@pytest.fixture
def pages(tmp_path: Path) -> TestClient:
    return client(Workspace(tmp_path))


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with served(Workspace(tmp_path)) as address:
        yield address


@contextmanager
def viewer(address: str, run: str) -> Iterator[Iterator[dict]]:
    """The documents of the events that one connection gets."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request("GET", f"/live/{run}/events")
    response = connection.getresponse()
    assert response.getheader("content-type").startswith("text/event-stream")
    try:
        yield (json.loads(line.removeprefix(b"data: ")) for line in response if line.startswith(b"data: "))
    finally:
        response.close()
        connection.close()


def test_events_follow_a_run_to_its_end(address, run):
    with viewer(address, run.id) as events:
        assert next(events)["title"].startswith("0/4 ")
        run.trial(0, 1.25)
        event = next(events)
        assert (event["title"][:4], event["is_going"]) == ("1/4 ", True)
        assert "1.25 ms" in event["html"]
        run.end()
        assert next(events)["is_going"]
        run.let_go()
        assert [event["is_going"] for event in events] == [False]


def test_of_a_run_that_has_ended_there_is_one_event(address, run):
    run.end("interrupted")
    run.let_go()
    with viewer(address, run.id) as events:
        assert [event["is_going"] for event in events] == [False]


def test_when_the_server_ends_so_do_its_streams(tmp_path, run):
    with ExitStack() as following:
        with served(Workspace(tmp_path)) as address:
            events = following.enter_context(viewer(address, run.id))
            next(events)
        assert list(events) == []


def test_the_page_shows_how_a_run_stands_and_follows_it(pages, run):
    run.trial(0, 0.3)
    answer = pages.get(f"/live/{run.id}")
    assert answer.context["view"].progress.done == 1
    assert [row.median_ms for row in answer.context["rows"]] == [0.3, None]
    assert "/assets/live.js" in answer.text
    assert '<noscript><meta http-equiv="refresh"' in answer.text


def test_the_page_of_a_run_that_has_ended_follows_nothing(pages, run):
    run.end()
    run.let_go()
    text = pages.get(f"/live/{run.id}").text
    assert "/assets/live.js" not in text
    assert 'http-equiv="refresh"' not in text
    assert f'<a href="/runs/{run.id}">' in text


def test_text_of_a_run_stays_text_and_what_is_invisible_is_shown(tmp_path, address, pages):
    text = EVIL + "\u202e"
    planned = plan("tcp", name=text, question=text)
    planned = replace(planned, stacks=tuple(replace(stack, label=text) for stack in planned.stacks))
    run = Growing(tmp_path, planned).measuring()
    run.folder.append({"event": "warning", "text": text})
    run.trial(0)
    with viewer(address, run.id) as events:
        event = next(events)
    for shown in (pages.get(f"/live/{run.id}").text, pages.get("/live").text, event["html"]):
        assert EVIL not in shown
        assert "\u202e" not in shown


def test_the_runs_in_progress_are_listed(tmp_path, pages, run):
    run.trial(0, 2.0)
    ended = Growing(tmp_path, plan("tcp"))
    ended.end()
    ended.let_go()
    listed = pages.get("/live").context["runs"]
    assert [(each.run, each.done, each.trials) for each in listed] == [(run.id, 1, 4)]


def test_of_very_many_cells_the_page_shows_some_and_how_many_more(pages, run, monkeypatch):
    monkeypatch.setattr(live_page, "MOST_ROWS", 1)
    answer = pages.get(f"/live/{run.id}")
    assert [row.label for row in answer.context["rows"]] == ["tcp · echo 64 B"]
    assert "1 more cell" in answer.text


def test_a_damaged_journal_is_a_page(pages, run):
    with (run.folder.path / "journal.jsonl").open("ab") as journal:
        journal.write(b"nonsense\n")
    answer = pages.get(f"/live/{run.id}")
    assert (answer.status_code, answer.context["view"].state) == (200, "unreadable")
