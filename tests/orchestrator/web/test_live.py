"""The page that follows a run in progress, its events, and the same for programs."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from orchestrator.results.journal import Tail
from orchestrator.web import live, progress
from orchestrator.workspace import Workspace
from tests.support.growing import Growing, app_of, served, until
from tests.support.plans import plan


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(progress, "LEAST_BETWEEN_LOOKS_S", 0.02)
    monkeypatch.setattr(live, "LEAST_BETWEEN_LOOKS_S", 0.02)


@pytest.fixture
def run(tmp_path: Path) -> Growing:
    return Growing(tmp_path).measuring()


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    return TestClient(app_of(Workspace(tmp_path)), base_url="http://127.0.0.1")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with served(Workspace(tmp_path)) as found:
        yield found


class Viewer:
    """One connection that reads events."""

    def __init__(self, address: str, run: str, last: str = "") -> None:
        self.connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
        headers = {"accept": "text/event-stream", **({"last-event-id": last} if last else {})}
        self.connection.request("GET", f"/live/{run}/events", headers=headers)
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.id = ""

    def next(self) -> tuple[str, dict]:
        """The next event's name and data; comments are passed over."""
        name, data = "", ""
        while True:
            line = self.response.readline().decode()
            assert line, "the stream ended"
            field, _, value = line.rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "id":
                self.id = value
            elif field == "data":
                data = value
            elif not line.strip() and data:
                return name, json.loads(data)

    def close(self) -> None:
        self.connection.close()
        self.response.close()


def test_what_nobody_sees_is_shown_in_every_text(tmp_path, client):
    """The page's script writes them as they come."""
    unseen = "a\u202eb\u200b"
    planned = plan("tcp", name=unseen, question=unseen)
    run = Growing(
        tmp_path, replace(planned, stacks=tuple(replace(s, label=unseen) for s in planned.stacks))
    ).measuring()
    run.folder.append({"event": "warning", "text": unseen})
    run.trial(0)
    told = client.get(f"/api/live/{run.id}").text + client.get(f"/live/{run.id}").text
    assert "\\\\u202e" in told
    assert not {"\u202e", "\u200b"} & set(told)


def test_events_follow_a_run_to_its_end(address, run):
    viewer = Viewer(address, run.id)
    assert viewer.response.getheader("content-type").startswith("text/event-stream")
    name, news = viewer.next()
    assert (name, news["done"], news["trials"], news["points"], news["is_anew"]) == ("now", 0, 4, [], True)
    run.trial(0, 1.25)
    name, news = viewer.next()
    assert (name, news["done"], news["points"], news["is_anew"]) == ("now", 1, [[1, 0, 1.25, True]], False)
    assert news["cells"][0]["median"] == "1.25 ms"
    run.end()
    name, news = viewer.next()
    assert (name, news["is_stopping"], news["left_s"]) == ("now", True, None)
    run.let_go()
    name, news = viewer.next()
    assert (name, news["state"]) == ("now", "complete")
    assert viewer.next() == ("end", {"state": "complete"})
    assert viewer.response.read() == b""


def test_whoever_comes_back_gets_what_is_new(address, run):
    run.trial(0, 1.0)
    viewer = Viewer(address, run.id)
    assert viewer.next()[1]["points"] == [[1, 0, 1.0, True]]
    viewer.close()
    run.trial(1, 2.0)
    again = Viewer(address, run.id, last=viewer.id)
    news = again.next()[1]
    if not news["points"]:  # the journal was looked at just before
        news = again.next()[1]
    assert (news["is_anew"], news["points"]) == (False, [[2, 1, 2.0, True]])
    again.close()


@pytest.mark.parametrize("last", ["7.0.0", "0.999.1", "-1", "..", "0.-1.5", "0.\u0661.1", "x" * 5000, "0." + "9" * 400])
def test_whoever_comes_back_with_another_id_gets_everything(run, last):
    run.trial(0, 1.0)
    view = progress.Reader(run.folder).look()
    news = live._news(view, last)
    assert (news["is_anew"], len(news["points"])) == (True, 1)


def test_after_a_block_was_begun_again_a_viewer_begins_anew(address, run):
    run.trial(0, 1.0)
    viewer = Viewer(address, run.id)
    viewer.next()
    run.block(0, attempt=1)
    news = viewer.next()[1]
    assert (news["is_anew"], news["points"], news["done"]) == (True, [], 0)
    viewer.close()


def test_of_a_run_that_has_ended_the_events_say_so_at_once(address, run):
    run.end("interrupted")
    run.let_go()
    viewer = Viewer(address, run.id)
    assert viewer.next()[1]["state"] == "interrupted"
    assert viewer.next() == ("end", {"state": "interrupted"})


def test_a_quiet_run_keeps_the_connection_alive(address, run, monkeypatch):
    monkeypatch.setattr(live, "KEEP_ALIVE_S", 0.05)
    viewer = Viewer(address, run.id)
    viewer.next()
    assert viewer.response.readline() == b": ping\n"
    viewer.close()


def test_when_nobody_watches_the_journal_is_left_alone(address, run, monkeypatch):
    looks = []
    look = Tail.look
    monkeypatch.setattr(Tail, "look", lambda tail, *rest: looks.append(1) or look(tail, *rest))
    viewers = [Viewer(address, run.id) for _ in range(5)]
    for viewer in viewers:
        viewer.next()
    until(lambda: len(looks) > 5, "it is looked at while somebody watches")
    for viewer in viewers:
        viewer.close()
    run.trial(0)  # what is sent shows that they are gone

    def is_quiet() -> bool:
        before = len(looks)
        time.sleep(0.2)
        return len(looks) == before

    until(is_quiet, "nobody looks")


def test_many_viewers_of_a_run_cost_what_one_does(address, run, monkeypatch):
    monkeypatch.setattr(progress, "LEAST_BETWEEN_LOOKS_S", 60.0)
    viewers = [Viewer(address, run.id) for _ in range(8)]
    looks = []
    look = Tail.look
    monkeypatch.setattr(Tail, "look", lambda tail, *rest: looks.append(1) or look(tail, *rest))
    for viewer in viewers:
        viewer.next()
        viewer.close()
    assert looks == []


def test_more_viewers_than_there_may_be_are_told_so(address, run, monkeypatch):
    monkeypatch.setattr(live, "MOST_VIEWERS", 2)
    viewers = [Viewer(address, run.id) for _ in range(2)]
    for viewer in viewers:
        viewer.next()
    refused = Viewer(address, run.id)
    assert refused.status == 503
    assert b"pages follow runs already" in refused.response.read()
    viewers[0].close()
    run.trial(0)

    def is_let_in() -> bool:
        viewer = Viewer(address, run.id)
        viewer.close()
        return viewer.status == 200

    until(is_let_in, "a seat that was given up is free")
    viewers[1].close()


def test_a_thousand_requests_at_once_read_the_journal_a_few_times(address, run, monkeypatch):
    monkeypatch.setattr(progress, "LEAST_BETWEEN_LOOKS_S", 60.0)
    for index in range(2):
        run.trial(index, 1.0)
    looks, before = [], run.folder.path.joinpath("journal.jsonl").read_bytes()
    look = Tail.look
    monkeypatch.setattr(Tail, "look", lambda tail, *rest: looks.append(1) or look(tail, *rest))
    netloc = urlsplit(address).netloc
    local = threading.local()

    def ask(number: int) -> int:
        if not hasattr(local, "connection"):
            local.connection = http.client.HTTPConnection(netloc, timeout=60)
        local.connection.request("GET", f"/live/{run.id}" if number % 2 else f"/api/live/{run.id}")
        answer = local.connection.getresponse()
        answer.read()
        return answer.status

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(ask, range(1000))) == {200}
    assert len(looks) <= 2
    assert run.folder.path.joinpath("journal.jsonl").read_bytes() == before
    assert run.folder.is_in_progress


def test_the_page_shows_how_a_run_stands(client, run):
    run.trial(0, 0.3)
    text = client.get(f"/live/{run.id}").text
    assert "Trial 2 of 4, about " in text
    assert '<progress id="done" max="4" value="1"' in text
    assert "300 µs" in text
    assert '<noscript><meta http-equiv="refresh"' in text
    assert " style=" not in text


def test_a_run_that_has_ended_is_not_loaded_again_and_again(client, run):
    run.end()
    run.let_go()
    text = client.get(f"/live/{run.id}").text
    assert 'http-equiv="refresh"' not in text
    assert f'<a href="/runs/{run.id}">' in text
    assert "Stop the run" not in text


def test_what_a_run_is_called_cannot_run(tmp_path, client):
    evil = plan("tcp", name="<script>alert(1)</script>", question='"><img src=x onerror=alert(1)>')
    evil = replace(evil, stacks=tuple(replace(stack, label="<b>tcp</b>") for stack in evil.stacks))
    run = Growing(tmp_path, evil).measuring()
    run.trial(0)
    run.folder.append({"event": "warning", "text": "<script>alert(2)</script>"})
    for path in (f"/live/{run.id}", "/live"):
        text = client.get(path).text
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "<b>tcp" not in text


@pytest.mark.parametrize("name", ["%2e%2e", "..%2fresults", "nothing", ".hidden", "a%00b", "%0a", "a" * 300, "a%5cb"])
@pytest.mark.parametrize("path", ["/live/{}", "/live/{}/events", "/api/live/{}"])
def test_a_name_that_is_no_run_leads_nowhere(client, run, name, path):
    assert client.get(path.format(name)).status_code == 404


def test_a_link_among_the_runs_is_not_followed(tmp_path, client, run):
    elsewhere = tmp_path / "elsewhere"
    run.folder.path.rename(elsewhere)
    (tmp_path / "results" / "link").symlink_to(elsewhere)
    assert client.get("/live/link").status_code == 404


def test_programs_get_every_run_in_progress(tmp_path, client, run):
    run.trial(0, 2.0)
    other = Growing(tmp_path, plan("tcp"))
    other.end()
    other.let_go()
    found = client.get("/api/live").json()["runs"]
    assert [(each["run"], each["done"], each["trials"]) for each in found] == [(run.id, 1, 4)]
    one = client.get(f"/api/live/{run.id}").json()
    assert one["points"] == [{"trial": 1, "row": 0, "median_ms": 2.0, "is_ok": True}]
    assert one["links"]["run"] == f"/runs/{run.id}"


def test_where_no_run_is_in_progress_the_page_says_how_to_make_one(client):
    assert "No run is in progress here." in client.get("/live").text


def test_of_very_many_cells_the_page_shows_some_and_says_so(client, run, monkeypatch):
    monkeypatch.setattr(live, "MOST_ROWS", 1)
    text = client.get(f"/live/{run.id}").text
    assert "tcp · echo 64 B" in text
    assert "rest · echo 64 B</th>" not in text
    assert "1 more cell not shown here" in text


def test_a_damaged_journal_is_told_and_no_traceback(client, run):
    with (run.folder.path / "journal.jsonl").open("ab") as journal:
        journal.write(b"nonsense\n")
    answer = client.get(f"/live/{run.id}")
    assert answer.status_code == 200
    assert "How far it has come is not known:" in answer.text
