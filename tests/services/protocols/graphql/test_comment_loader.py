"""The queries of a nested page: one for each post (N + 1), or one for all by a DataLoader."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Payload
from services.python.operations import OPERATIONS
from services.python.protocols.graphql.requester import route
from services.python.protocols.graphql.responder import comment_loader
from services.python.protocols.graphql.schema import schema
from services.python.serve.dispatcher import Dispatcher
from services.python.stores.posts import opened

FEED = OPERATIONS["feed"]


def ask(settings: dict[str, str], *, has_loader: bool, pages: int = 3) -> tuple[list[int], Dispatcher]:
    """The queries of each page, every reply verified."""
    make = FEED.requests(Payload(), 7)
    asked = route("feed", make(1, lambda: 0))
    queries = []
    with opened(settings) as held:
        dispatcher = Dispatcher(identity="me", held={"feed": held})

        async def one(request: Any) -> None:
            import json

            sent = json.loads(asked.encode(request))
            context = {
                "dispatcher": dispatcher,
                "peer": ("127.0.0.1", 1),
                "comments": comment_loader(dispatcher) if has_loader else None,
            }
            result = await schema.execute(sent["query"], variable_values=sent["variables"], context_value=context)
            assert not result.errors
            reply = asked.value(asked.decode(json.dumps({"data": result.data}).encode()))
            assert FEED.verify(request, reply) is None

        for sequence in range(1, pages + 1):
            before = held.times.queries
            asyncio.run(one(make(sequence, lambda: 0)))
            queries.append(held.times.queries - before)
        assert held.times.requests == pages
    return queries, dispatcher


def test_a_page_is_refused_where_its_store_was_not_opened() -> None:
    query = "{ feed(user: 1) { name posts(count: 2) { title comments(each: 1) { text } } } }"
    context = {"dispatcher": Dispatcher(identity="me"), "peer": ("127.0.0.1", 1), "comments": None}
    result = asyncio.run(schema.execute(query, context_value=context))
    assert result.errors
    assert "holds nothing" in str(result.errors[0])


def test_pages_that_ask_for_different_numbers_of_comments_are_told_apart() -> None:
    query = "{ feed(user: 7) { posts(count: 3) { post few: comments(each: 1) { post } many: comments(each: 9) { post } } } }"
    with opened({}) as held:
        dispatcher = Dispatcher(identity="me", held={"feed": held})

        async def page() -> Any:
            context = {"dispatcher": dispatcher, "peer": ("127.0.0.1", 1), "comments": comment_loader(dispatcher)}
            return await schema.execute(query, context_value=context)

        result = asyncio.run(page())
        assert not result.errors
        posts = result.data["feed"]["posts"]
        assert held.times.queries == 4  # the user, the posts, and two numbers of comments
    assert any(len(post["many"]) > len(post["few"]) == 1 for post in posts)
    assert {comment["post"] == post["post"] for post in posts for comment in post["many"]} == {True}


def posts_of(sequence: int) -> int:
    from services.python.stores import posts_seed

    user = FEED.requests(Payload(), 7)(sequence, lambda: 0)["user"]
    return min(10, len(posts_seed.by_author()[user]))


@pytest.mark.parametrize("store", ["none", "sqlite"])
def test_a_query_for_each_post_without_a_loader_and_one_for_all_with_it(store: str, tmp_path: Path) -> None:
    settings = {} if store == "none" else {"store": "sqlite", "database": str(tmp_path / "orch.sqlite")}
    plain, dispatcher = ask(settings, has_loader=False)
    assert plain == [2 + posts_of(sequence) for sequence in (1, 2, 3)]
    assert min(plain) > 3
    assert dispatcher.answered == 3  # the steps of a page are no requests of their own
    loaded, _ = ask(settings, has_loader=True)
    assert loaded == [3, 3, 3]
