"""The JSON API, and its documentation."""

from __future__ import annotations

import re

import pytest

from tests.support.web import BEARER, EVIL, RUNS, WITH_SAMPLES, client

GETS = (
    "/api/runs",
    f"/api/runs/{RUNS[0]}",
    f"/api/runs/{RUNS[0]}/cells",
    f"/api/runs/{RUNS[0]}/checks",
    f"/api/runs/{RUNS[0]}/notes",
    f"/api/compare?run={RUNS[0]}",
    f"/api/compare?run={RUNS[5]}&reference={RUNS[0]}",
    "/api/history",
    "/api/history/grpc-thin",
)


@pytest.mark.parametrize("path", GETS)
def test_every_answer_is_json_of_the_shape_that_is_documented(shared, path):
    answer = client(shared).get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"


def test_what_pages_show_programs_get(shared):
    asked = client(shared)
    assert [run["id"] for run in asked.get("/api/runs").json()["runs"]] == [*reversed(RUNS), WITH_SAMPLES]
    run = asked.get(f"/api/runs/{RUNS[1]}").json()
    assert run["name"] == EVIL
    assert run["answer"][0].startswith("grpc")
    table = asked.get(f"/api/runs/{RUNS[1]}/cells").json()
    assert {column["name"] for column in table["columns"]} == set(table["rows"][0])
    compared = asked.get(f"/api/compare?run={RUNS[5]}&reference={RUNS[0]}").json()
    assert "regressed" in {row["verdict"] for row in compared["rows"]}
    (trend,) = asked.get("/api/history/grpc-thin").json()
    assert [point["run"] for point in trend["points"] if point["is_change"]] == [RUNS[5]]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/runs/nope", 404),
        ("/api/nowhere", 404),
        ("/api/runs?page=x", 400),
        ("/api/runs?since=x", 400),
        ("/api/compare", 400),
        ("/api/history/nope", 404),
        ("/api/runs/a%00b", 404),
    ],
)
def test_a_problem_says_what_is_wrong_and_what_to_do(shared, path, status):
    answer = client(shared).get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert problem["message"]
    assert "hint" in problem


def test_a_wrong_condition_is_named_as_it_was_asked(shared):
    for wrong in ("verdict=valide", "since=yesterday"):
        message = client(shared).get(f"/api/runs?{wrong}").json()["message"]
        assert message.startswith(wrong.partition("=")[0]), "and not as an option of the command line"


def test_notes_tags_and_deletion_with_the_token(own):
    asked, run = client(own), f"/api/runs/{RUNS[0]}"
    assert asked.post(f"{run}/notes", json={"text": "hello"}, headers=BEARER).json()["notes"][0]["text"] == "hello"
    assert asked.post(f"{run}/tags", json={"add": ["a", "b"]}, headers=BEARER).json()["tags"] == ["a", "b"]
    assert asked.post(f"{run}/tags", json={"remove": ["a"]}, headers=BEARER).json()["tags"] == ["b"]
    assert asked.post(f"{run}/tags", json={"add": ["c"], "remove": ["absent"]}, headers=BEARER).status_code == 400
    assert asked.get(f"{run}/notes").json()["tags"] == ["b"], "none is added where another cannot be removed"
    assert asked.post(f"{run}/tags", json={"add": ["c"], "remove": ["b"]}, headers=BEARER).json()["tags"] == ["c"]
    for bad in ({"text": ""}, {"text": 1}, {"words": "x"}, {"text": "x" * 2001}):
        assert asked.post(f"{run}/notes", json=bad, headers=BEARER).status_code == 400
    assert asked.delete(f"{run}?confirm=no", headers=BEARER).status_code == 400
    assert asked.delete(f"{run}?confirm={RUNS[0]}", headers=BEARER).json()["deleted"][0].endswith(RUNS[0])
    assert asked.get(run).status_code == 404


def test_the_documentation_names_every_request_and_every_field(shared):
    asked = client(shared)
    document, page = asked.get("/api/openapi.json").json(), asked.get("/api").text
    for path, methods in document["paths"].items():
        assert path.startswith("/api/")
        for method, of in methods.items():
            assert f"{method.upper()} {path}" in page
            assert of["description"], path
            for each in of.get("parameters", ()):
                assert f"<code>{each['name']}</code>" in page
    for name, of in document["components"]["schemas"].items():
        if "Validation" not in name:
            assert of["description"], name
            assert re.search(rf"<h3><code>{name}</code>", page)
