"""`user`, `posts`, `comments` and `feed`: the same page by one call as by three, from memory and from SQLite."""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Payload
from services.python.contract.messages import OF_POSTS
from services.python.operations import OPERATIONS, pieces_of
from services.python.stores import posts_seed, seed
from services.python.stores.base import Held, Spent, StoreError
from services.python.stores.posts import opened

NAMES = sorted(OF_POSTS)
QUERIES = {"user": 1, "posts": 1, "comments": 1, "feed": 3}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that was made once."""
    path = tmp_path_factory.mktemp("posts") / "orch.sqlite"
    with opened({"store": "sqlite", "database": str(path), "pool": "1"}):
        return path


@pytest.fixture(params=["none", "sqlite"])
def held(request: pytest.FixtureRequest, file: Path) -> Iterator[Held]:
    settings = {} if request.param == "none" else {"store": "sqlite", "database": str(file), "pool": "2"}
    with opened(settings) as held:
        yield held


def asked(name: str, seed_: int = 7, sequence: int = 1) -> dict[str, Any]:
    return dict(OPERATIONS[name].requests(Payload(), seed_)(sequence, lambda: 0))


def answer(name: str, request: Any, held: Held, spent: Spent | None = None) -> dict[str, Any]:
    return OPERATIONS[name].answer(request, lambda: 0, held, spent or Spent())


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_a_right_reply_and_its_queries_are_counted(name: str, held: Held) -> None:
    operation = OPERATIONS[name]
    for sequence in range(1, 20):
        request, spent = asked(name, sequence=sequence), Spent()
        assert request.keys() == operation.message.request.keys()
        reply = answer(name, request, held, spent)
        assert reply.keys() == operation.message.reply.keys()
        assert operation.verify(request, reply) is None
        assert spent.queries == QUERIES[name]
    assert asked(name) == asked(name)
    assert asked(name) != asked(name, seed_=8)


def test_a_page_is_what_its_parts_are_together(held: Held) -> None:
    feed = OPERATIONS["feed"]
    for sequence in range(1, 20):
        request = asked("feed", sequence=sequence)
        parts = dict(zip(feed.made_of, pieces_of(feed, request), strict=True))
        assert parts == {name: asked(name, sequence=sequence) for name in feed.made_of}
        together: dict[str, Any] = {}
        for name, part in parts.items():
            together |= answer(name, part, held)
        assert together == answer("feed", request, held)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"user": 0}, "from 1 to 1,000"),
        ({"user": 1_001}, "from 1 to 1,000"),
        ({"user": True}, "whole number"),
        ({"count": 101}, "from 1 to 100"),
        ({"each": 0}, "from 1 to 100"),
    ],
)
def test_a_request_that_no_page_answers_is_refused(held: Held, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        answer("feed", {"user": 1, "count": 2, "each": 2, **change}, held)


@pytest.mark.parametrize("spoil", ["name", "likes", "order", "fewer", "comment", "type", "more"])
def test_a_page_that_differs_anywhere_is_wrong(held: Held, spoil: str) -> None:
    request = asked("feed")
    page = copy.deepcopy(answer("feed", request, held))
    assert OPERATIONS["feed"].verify(request, page) is None
    match spoil:
        case "name":
            page["name"] = "nobody"
        case "likes":
            page["posts"][0]["likes"] += 1
        case "order":
            page["posts"].reverse()
        case "fewer":
            page["comments"].pop()
        case "comment":
            del page["comments"][0]["text"]
        case "type":
            page["joined"] = float(page["joined"])
        case "more":
            page["mail"] = "a@b.c"
    assert OPERATIONS["feed"].verify(request, page)


def test_the_rows_are_those_of_the_specification() -> None:
    users, posts, comments = posts_seed.users(), posts_seed.posts(), posts_seed.comments()
    assert (len(users), len(posts), len(comments)) == (1_000, 10_000, 30_000)
    assert seed.digest(*map(seed.lines, (users, posts, comments))) == posts_seed.DIGEST
    assert posts_seed.DIGEST in (Path(__file__).parents[3] / "protos/posts.md").read_text(encoding="utf-8")


def test_a_file_with_other_rows_is_refused_and_left(file: Path, tmp_path: Path) -> None:
    spoilt = tmp_path / "orch.sqlite.posts"
    spoilt.write_bytes(Path(f"{file}.posts").read_bytes())
    with sqlite3.connect(spoilt) as connection:
        connection.execute("UPDATE posts SET likes = likes + 1 WHERE post = 7")
    settings = {"store": "sqlite", "database": str(tmp_path / "orch.sqlite")}
    with pytest.raises(StoreError, match="other rows than the seed"), opened(settings):
        pass
    assert spoilt.exists()
