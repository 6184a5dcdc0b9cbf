"""What every page has in common: who gets an answer, what a browser may do with it, and what errors look like."""

from __future__ import annotations

import html
import re

import pytest
from starlette.testclient import TestClient

from orchestrator.errors import InvalidMeasurement, MissingError, UsageError
from orchestrator.web.app import LOOPBACK, create_app
from orchestrator.web.site import Site
from tests.support.web import EVIL, OLDER, RUNS, WITH_SAMPLES, client

PAGES = (
    "/",
    "/live",
    f"/live/{WITH_SAMPLES}",
    "/compare",
    f"/compare?run={WITH_SAMPLES}",
    f"/compare?run={WITH_SAMPLES}&run={OLDER}",
    "/trends",
    "/trends?cell=grpc-thin&statistic=throughput",
    f"/runs/{WITH_SAMPLES}",
    f"/runs/{RUNS[1]}",
    "/runs/nope",
)


def test_no_page_changes_anything(shared):
    paths = create_app(shared).openapi()["paths"]
    assert {"/", "/runs/{run}", "/compare", "/trends", "/live/{run}"} <= paths.keys()
    assert {method for methods in paths.values() for method in methods} == {"get"}


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:9", "[::1]:8000"])
def test_names_of_loopback_get_an_answer(pages, host):
    assert pages.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8000", "192.0.2.1", "a@127.0.0.1", ""])
@pytest.mark.parametrize("path", ["/", f"/runs/{RUNS[0]}", "/live", "/assets/page.js"])
def test_another_name_gets_none(pages, host, path):
    answer = pages.get(path, headers={"host": host})
    assert answer.status_code == 400
    assert RUNS[0] not in answer.text


def test_a_name_that_is_added_gets_an_answer(shared):
    added = TestClient(create_app(shared, [*LOOPBACK, "bench.example"]), base_url="http://bench.example:8000")
    assert added.get("/").status_code == 200


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_no_script_of_its_own_and_text_of_runs_stays_text(pages, path):
    answer = pages.get(path)
    assert answer.headers["content-security-policy"].startswith("default-src 'self';")
    assert not re.search(r"\son\w+=|\sstyle=|<style|javascript:", answer.text)
    assert all(source.startswith('src="/assets/') for source in re.findall(r"<script ?([^>]*)>", answer.text))
    assert re.findall(r"<title>|<h1>", answer.text) == ["<title>", "<h1>"]


def test_a_hostile_name_is_in_the_list_as_text(pages):
    text = pages.get("/").text
    assert html.escape(EVIL) in text
    assert EVIL not in text


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("it is wrong", hint="do this"), 400),
        (InvalidMeasurement("it is wrong", hint="do this"), 422),
        (MissingError("it is wrong", hint="do this"), 500),
    ],
)
def test_an_error_of_orch_is_a_page_with_its_message_and_hint(shared, monkeypatch, error, status):
    def failing(site, run):
        raise error

    monkeypatch.setattr(Site, "folder", failing)
    answer = client(shared).get("/runs/any")
    assert answer.status_code == status
    assert (answer.context["message"], answer.context["hint"]) == ("it is wrong", "do this")


@pytest.mark.parametrize("query", ["page=0", "page=x", "page=1e9"])
def test_an_invalid_value_names_its_parameter(pages, query):
    answer = pages.get(f"/?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.context["message"]


@pytest.mark.parametrize("name", ["..%2f..%2fetc", f"..%2Fresults%2F{RUNS[0]}", "a%00b", "x" * 300, "nope"])
@pytest.mark.parametrize("path", ["/runs/{}", "/runs/{}/report", "/live/{}", "/compare?run={}"])
def test_an_address_without_a_run_is_not_found(pages, path, name):
    assert pages.get(path.format(name)).status_code == 404


@pytest.mark.parametrize("name", ["page.css", "colours.css", "plotly.js"])
def test_assets_come_from_the_package(pages, name):
    answer = pages.get(f"/assets/{name}")
    assert answer.status_code == 200
    assert len(answer.content) > 100
    assert pages.get("/assets/../app.py").status_code == 404
