"""Who may ask the page, and for what: names, tokens, origins, forms, sizes."""

from __future__ import annotations

import pytest

from tests.support.web import BEARER, HERE, RUNS, TOKEN, client, form_token

RUN = RUNS[0]
NOTES = f"/runs/{RUN}/notes"


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:9", "[::1]:8000"])
def test_names_of_this_machine_are_answered(shared, host):
    assert client(shared).get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8000", "10.0.0.1", "", "a@127.0.0.1", "::1"])
def test_another_name_is_refused_even_with_the_token(shared, host):
    answer = client(shared).get("/", headers={**BEARER, "host": host})
    assert answer.status_code == 421
    assert "name" in answer.text


def test_on_loopback_everybody_reads_and_nobody_changes(shared):
    asked = client(shared)
    assert asked.get(f"/runs/{RUN}").status_code == 200
    assert "form_token" not in asked.get(f"/runs/{RUN}").text
    for answer in (
        asked.post(NOTES, data={"text": "x"}),
        asked.post(f"/api{NOTES}", json={"text": "x"}),
        asked.delete(f"/api/runs/{RUN}?confirm={RUN}"),
    ):
        assert answer.status_code == 401
    assert not shared.notes.exists()


@pytest.mark.parametrize("path", ["/", f"/runs/{RUN}", "/api/runs", "/trends", f"/runs/{RUN}/report", "/nowhere"])
def test_elsewhere_nothing_is_read_without_the_token(shared, path):
    answer = client(shared, is_loopback=False).get(path)
    assert answer.status_code == 401
    assert RUN not in answer.text
    assert client(shared, is_loopback=False, session=True).get("/").status_code == 200
    assert client(shared, is_loopback=False).get("/", headers=BEARER).status_code == 200


@pytest.mark.parametrize("wrong", ["", "x", TOKEN[:-1], TOKEN + "x", "ä", "%00"])
def test_a_wrong_token_opens_nothing(shared, wrong):
    asked = client(shared)
    answer = asked.get(f"/?token={wrong}")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert asked.get("/", headers={"Authorization": b"Bearer " + wrong.encode()}).status_code == 401
    assert (
        asked.get("/", headers={"Cookie": f"orch-0={TOKEN}"}).status_code == 200
    )  # reading is free; no session is made
    assert "form_token" not in asked.get(f"/runs/{RUN}", headers={"Cookie": f"orch-0={TOKEN}"}).text


@pytest.mark.parametrize("other", ['theme={"dark": true}', "a=b c", "x", "a,b=1", "orch-0=other", "path=/", "k[0]=1"])
def test_cookies_that_other_programs_of_this_machine_set_end_no_session(shared, other):
    asked = client(shared, session=True)
    ours = f"orch-0={asked.cookies['orch-0']}"
    asked.cookies.clear()
    for told in (f"{other}; {ours}", f"{ours}; {other}"):
        assert "form_token" in asked.get(f"/runs/{RUN}", headers={"Cookie": told}).text
    assert "form_token" not in asked.get(f"/runs/{RUN}", headers={"Cookie": other}).text


def test_the_token_leaves_the_address_and_the_cookie_is_not_the_token(shared):
    answer = client(shared).get(f"/compare?run={RUN}&token={TOKEN}&statistic=p99")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/compare?run={RUN}&statistic=p99"
    cookie = answer.headers["set-cookie"]
    assert TOKEN not in cookie
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))


def test_whoever_comes_from_elsewhere_with_the_token_is_led_on_by_a_page_of_ours(shared):
    """A browser sends no strict cookie along where a redirection began elsewhere, as in a file."""
    asked = client(shared)
    answer = asked.get(f'/"><script>?token={TOKEN}&text="><script>', headers={"Sec-Fetch-Site": "cross-site"})
    assert (answer.status_code, answer.headers["referrer-policy"]) == (200, "no-referrer")
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert TOKEN not in answer.text
    assert "<script" not in answer.text
    assert "form_token" in asked.get(f"/runs/{RUN}").text


def test_an_address_with_the_token_leads_to_no_other_host(shared):
    answer = client(shared).get(f"{HERE}//evil.example/x?token={TOKEN}")
    assert answer.headers["location"] == "/evil.example/x"


def test_a_form_of_our_own_page_changes_something(own):
    asked = client(own, session=True)
    sent = {"text": "a note", "form_token": form_token(asked, f"/runs/{RUN}")}
    answer = asked.post(NOTES, data=sent, headers={"Origin": HERE, "Sec-Fetch-Site": "same-origin"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/runs/{RUN}#notes")
    assert "a note" in asked.get(f"/runs/{RUN}").text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9"},
        {"Origin": "https://127.0.0.1:8000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_a_forged_origin_changes_nothing_even_with_cookie_and_form_token(own, headers):
    asked = client(own, session=True)
    sent = {"text": "a note", "form_token": form_token(asked, f"/runs/{RUN}")}
    assert asked.post(NOTES, data=sent, headers=headers).status_code == 403
    assert not own.notes.exists()


@pytest.mark.parametrize("token", [None, "", "0" * 64, TOKEN])
def test_a_session_without_the_form_token_changes_nothing(own, token):
    asked = client(own, session=True)
    sent = {"text": "a note"} | ({} if token is None else {"form_token": token})
    assert asked.post(NOTES, data=sent).status_code == 403
    assert asked.post(f"/api{NOTES}", json={"text": "x"}).status_code == 403
    assert asked.delete(f"/api/runs/{RUN}?confirm={RUN}").status_code == 403
    assert (own.results / RUN).is_dir()
    assert not own.notes.exists()


def test_a_script_of_our_page_sends_the_form_token_in_a_header(own):
    asked = client(own, session=True)
    token = form_token(asked, f"/runs/{RUN}")
    assert asked.post(f"/api{NOTES}", json={"text": "x"}, headers={"X-Orch-Form": token}).status_code == 201


@pytest.mark.parametrize(
    ("mode", "dest", "status"), [("no-cors", "image", 403), ("navigate", "iframe", 403), ("navigate", "document", 200)]
)
def test_another_page_makes_a_browser_ask_for_nothing_but_a_page_to_be_looked_at(shared, mode, dest, status):
    for site in ("cross-site", "same-site"):
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
        assert client(shared).get("/", headers=headers).status_code == status


@pytest.mark.parametrize("purpose", ["prefetch", "prefetch;prerender", "prefetch;anonymous-client-ip"])
def test_another_page_has_nothing_fetched_ahead(shared, purpose):
    of = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Purpose": purpose}
    for site in ("cross-site", "same-site"):
        assert client(shared).get("/compare", headers={**of, "Sec-Fetch-Site": site}).status_code == 403
    assert client(shared).get("/compare", headers={**of, "Sec-Fetch-Site": "same-origin"}).status_code == 200


@pytest.mark.parametrize("below", ["export?format=csv", "report", "report?download=true"])
def test_another_page_does_not_have_files_made(shared, below):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert client(shared).get(f"/runs/{RUN}/{below}", headers=headers).status_code == 403


@pytest.mark.parametrize("path", ["/", "/nowhere", f"/runs/{RUN}", "/api/runs", "/assets/page.js", "/?token=wrong"])
def test_every_answer_says_what_a_browser_may_do_with_it(shared, path):
    headers = client(shared).get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == ("no-cache" if path.startswith("/assets") else "no-store")
    assert "access-control-allow-origin" not in headers


def test_a_large_body_is_refused_whether_or_not_it_says_so(own):
    asked = client(own, session=True)
    assert asked.post(NOTES, content=b"x" * 300_000, headers=BEARER).status_code == 413
    parts = (b"x" * 50_000 for _ in range(10))
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert asked.post(NOTES, content=parts, headers={**BEARER, **kind}).status_code == 413
    assert asked.get("/?text=" + "x" * 20_000).status_code == 400


@pytest.mark.parametrize("body", [b"\xff\xfe", b"a=%ff", b"&".join(b"a=1" for _ in range(500)), b"{}"])
def test_a_form_that_cannot_be_read_is_refused(own, body):
    kind = {"content-type": "application/x-www-form-urlencoded"}
    answer = client(own).post(NOTES, content=body, headers={**BEARER, **kind})
    assert answer.status_code == 400
    assert not own.notes.exists()


def test_what_is_no_form_is_refused(own):
    assert client(own).post(NOTES, content=b"{}", headers={**BEARER, "content-type": "text/plain"}).status_code == 415


def test_a_fault_of_our_own_is_a_page_without_a_traceback(shared, monkeypatch):
    from orchestrator.web.pages import runs

    def broken(*args):
        raise RuntimeError("secret of ours")

    monkeypatch.setattr(runs, "listing", broken)
    answer = client(shared).get("/")
    assert answer.status_code == 500
    assert "RuntimeError" in answer.text
    assert "secret of ours" not in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
