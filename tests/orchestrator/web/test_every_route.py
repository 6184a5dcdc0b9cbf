"""Every route that the application has, found by asking it: so that one that is added later cannot forget its guards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from orchestrator.web.app import create_app
from orchestrator.web.guard import FORM_HEADER
from orchestrator.workspace import Workspace
from tests.support.web import BEARER, HERE, RUNS, TOKEN, client, form_token

READING = {"GET", "HEAD"}
FILLED = {"run": RUNS[0], "job": "none", "cell": "none", "name": "page.css"}


def routes(of: Any) -> Iterator[tuple[str, str]]:
    """Method and path of each route of an application or a router, those of routers within it too."""
    for route in of.routes:
        inner = getattr(route, "original_router", None) or getattr(route, "app", None)
        if getattr(route, "methods", None):
            yield from ((method, route.path) for method in sorted(route.methods))
        else:
            assert hasattr(inner, "routes"), (
                f"{route!r} is neither a route nor routes: this test cannot see what it answers"
            )
            yield from routes(inner)


EVERY = sorted(set(routes(create_app(Workspace(Path("nowhere")), TOKEN))))
CHANGING = [(method, path) for method, path in EVERY if method not in READING]
FORGED = (
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:9"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
)


def address(path: str) -> str:
    return path.format(**FILLED)


def held(workspace: Workspace) -> dict[str, bytes]:
    """All that a person made there: runs and notes, no index and no report, which are made again."""
    folders = (workspace.results, workspace.notes)
    return {str(file): file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def opened(shared) -> TestClient:
    """A browser that was shown the token."""
    return client(shared, session=True)


@pytest.fixture(scope="module")
def stranger(shared) -> TestClient:
    """One that was not."""
    return client(shared)


@pytest.fixture(scope="module")
def remote(shared) -> TestClient:
    """One that was not either, and asks over the network."""
    return client(shared, is_loopback=False)


@pytest.fixture(scope="module")
def form(opened) -> dict[str, str]:
    """What a changing request of our own script carries."""
    return {FORM_HEADER: form_token(opened, f"/runs/{RUNS[0]}")}


def test_the_routes_are_found():
    assert ("POST", "/start") in CHANGING
    assert ("DELETE", "/api/runs/{run}") in CHANGING
    assert ("POST", "/live/{run}/stop") in CHANGING
    assert ("GET", "/runs/{run}/report") in EVERY
    assert len(CHANGING) >= 8


@pytest.mark.parametrize(("method", "path"), CHANGING)
def test_what_changes_something_is_refused_to_whoever_lacks_any_part_of_the_right_to_it(
    shared, opened, stranger, form, method, path
):
    before = held(shared)
    place = f"{address(path)}?confirm={RUNS[0]}"

    def status(by: TestClient, headers: dict[str, str], kind: str = "application/x-www-form-urlencoded") -> int:
        sent = {**headers, "content-type": kind}
        return by.request(method, place, headers=sent, content=b"confirm=x").status_code

    assert status(stranger, {}) == 401
    assert status(stranger, form) == 401  # the form token is no session
    assert status(stranger, {"Cookie": f"orch-0={TOKEN}", **form}) == 401
    assert status(stranger, {"Authorization": "Basic " + TOKEN, **form}) == 401
    assert status(stranger, {"Authorization": f"Bearer {TOKEN}x", **form}) == 401
    assert status(stranger, {**BEARER, "Host": "evil.example"}) == 421
    for kind in ("application/x-www-form-urlencoded", "application/json", "text/plain"):
        assert status(opened, {}, kind) in (400, 403, 415)
    assert status(opened, {}) == 403
    assert status(opened, {FORM_HEADER: "0" * 64}) == 403
    for forged in FORGED:
        assert status(opened, {**form, **forged}) == 403
    assert held(shared) == before


@pytest.mark.parametrize(("method", "path"), CHANGING)
def test_with_all_of_it_the_request_itself_is_judged(own, method, path):
    asked = client(own, session=True)
    given = {FORM_HEADER: form_token(asked, f"/runs/{RUNS[0]}"), "Origin": HERE, "Sec-Fetch-Site": "same-origin"}
    for headers in (given, BEARER):
        assert asked.request(method, address(path), headers=headers).status_code not in (401, 403, 421)


@pytest.mark.parametrize("path", [path for method, path in EVERY if method == "GET"])
def test_what_is_read_changes_nothing_and_says_what_a_browser_may_do_with_it(shared, opened, path):
    before = held(shared)
    for query in ("", f"?confirm={RUNS[0]}&text=x&add=x&form_token=x"):
        answer = opened.get(address(path) + query)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "base-uri 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert policy.startswith("sandbox") or "script-src 'self';" in policy
        assert "allow-same-origin" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers
    assert held(shared) == before


@pytest.mark.parametrize(("method", "path"), EVERY)
def test_where_others_can_connect_nothing_but_style_and_script_is_given_without_the_token(remote, method, path):
    answer = remote.request(method, address(path))
    assert answer.status_code == (200 if path.startswith("/assets/") else 401)
    assert RUNS[0] not in answer.text


@pytest.mark.parametrize(("method", "path"), [each for each in EVERY if each[0] == "GET"])
def test_a_page_elsewhere_cannot_have_a_browser_read_for_it(opened, method, path):
    for site in ("cross-site", "same-site"):
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script", "Origin": "null"}
        answer = opened.request(method, address(path), headers=headers)
        assert answer.status_code == 403
        assert RUNS[0] not in answer.text
