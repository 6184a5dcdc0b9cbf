"""A page of users, posts and comments: `user`, `posts` and `comments`, and `feed`, which is all three at once.

`feed` is made of the other three: its request has the fields of theirs, and its reply is theirs together. So three calls
and one give the same page. `STEPS` are what a nested query takes instead: the user, the posts, the comments under posts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from services.python.contract.generator import below, words
from services.python.contract.lines import Payload
from services.python.contract.messages import COMMENTS, FEED, POSTS, USER, Field, Message
from services.python.operations.base import Make, Operation, Reply, Request, WallClockNs, expect_kind, shorten, whole
from services.python.operations.sameness import is_alike, rows_of
from services.python.stores import posts_seed as seed
from services.python.stores.base import Held, Spent, StoreError
from services.python.stores.posts import RESOURCES, opened, under

LAST, EACH = 10, 5
"""How many posts a page shows, and at most how many comments under each."""
_MOST_POSTS, _MOST_EACH = 100, 100
_PREPARED = 1024

SHOWN_OF_USER = ("user", "name")
SHOWN_OF_ROWS: Mapping[Field, tuple[str, ...]] = {
    "posts": ("post", "title", "likes"),
    "comments": ("comment", "post", "author"),
}

Answer = Callable[[Request, Any, Spent], dict[str, Any]]


def _known(request: Request) -> int:
    return whole(request, "user", 1, seed.USERS)


def _count(request: Request) -> int:
    return whole(request, "count", 1, _MOST_POSTS)


def _each(request: Request) -> int:
    return whole(request, "each", 1, _MOST_EACH)


def _user(request: Request, store: Any, spent: Spent) -> dict[str, Any]:
    row = store.user(_known(request), spent)
    if row is None:
        raise StoreError(f"there is no user {request['user']}")
    return dict(zip(USER.reply, row, strict=True))


def _posts(request: Request, store: Any, spent: Spent) -> dict[str, Any]:
    return {"posts": rows_of("posts", store.posts(_known(request), _count(request), spent))}


def _comments(request: Request, store: Any, spent: Spent) -> dict[str, Any]:
    return {"comments": rows_of("comments", store.comments(_known(request), _count(request), _each(request), spent))}


def _under(request: Request, store: Any, spent: Spent) -> dict[str, Any]:
    return {"comments": rows_of("comments", store.under(request["posts"], _each(request), spent))}


def _feed(request: Request, store: Any, spent: Spent) -> dict[str, Any]:
    return {**_user(request, store, spent), **_posts(request, store, spent), **_comments(request, store, spent)}


def wanted(message: Message, request: Request) -> dict[str, Any]:
    """The right reply to a request of one of the four messages."""
    row = seed.users()[request["user"] - 1]
    reply: dict[str, Any] = dict(zip(USER.reply, row, strict=True)) if "name" in message.reply else {}
    last = seed.by_author()[request["user"]][: request.get("count", 0)]
    if "posts" in message.reply:
        reply["posts"] = rows_of("posts", last)
    if "comments" in message.reply:
        reply["comments"] = rows_of("comments", under([post[0] for post in last], request["each"]))
    return reply


def shown(reply: Reply) -> dict[str, Any]:
    """What of a page a list of titles shows."""
    page = {name: reply[name] for name in SHOWN_OF_USER if name in reply}
    for of, names in SHOWN_OF_ROWS.items():
        if isinstance(rows := reply.get(of), list):
            page[of] = [_brief(row, names) for row in rows]
    return page


def _brief(row: Any, names: tuple[str, ...]) -> Any:
    return {name: row[name] for name in names if name in row} if isinstance(row, dict) else row


def _verify(message: Message, request: Request, right: Reply, reply: Reply) -> str | None:
    question = f"{message.name} of user {request['user']}"
    for name, value in right.items():
        got = reply.get(name)
        if not is_alike(value, got):
            rows = f"{len(got)} rows" if isinstance(got, list) else shorten(got)
            of = f"the {len(value)} of the seed" if isinstance(value, list) else shorten(value)
            return f"{question}: {name} came back as {rows}, not {of}"
    strange = sorted(reply.keys() - right.keys())
    return f"{question}: nobody asked for {', '.join(strange)}" if strange else None


def _requests(message: Message) -> Callable[[Payload, int], Make]:
    def requests(payload: Payload, seed_: int) -> Make:
        expect_kind(message.name, payload, "none")
        fixed = {name: value for name, value in (("count", LAST), ("each", EACH)) if name in message.request}
        # The same users whichever of the four is asked: three calls and one are of the same pages.
        prepared = [{"user": 1 + below(word, seed.USERS), **fixed} for word in words(f"feed/{seed_}", _PREPARED)]
        return lambda sequence, _wall_clock_ns: prepared[sequence % _PREPARED]

    return requests


def _operation(message: Message, answer: Answer, made_of: tuple[str, ...] = ()) -> Operation:
    def verify(request: Request, reply: Reply) -> str | None:
        return _verify(message, request, wanted(message, request), reply)

    def verify_shown(request: Request, reply: Reply) -> str | None:
        return _verify(message, request, shown(wanted(message, request)), shown(reply))

    def answered(request: Request, _: WallClockNs, held: Held, spent: Spent) -> dict[str, Any]:
        return answer(request, held.store, spent)

    return Operation(
        name=message.name,
        message=message,
        requests=_requests(message),
        answer=answered,
        verify=verify,
        runs="held",
        open=opened,
        resources=RESOURCES,
        made_of=made_of,
        shown=shown,
        verify_shown=verify_shown,
    )


OPERATIONS: tuple[Operation, ...] = (
    _operation(USER, _user),
    _operation(POSTS, _posts),
    _operation(COMMENTS, _comments),
    _operation(FEED, _feed, made_of=(USER.name, POSTS.name, COMMENTS.name)),
)

STEPS: Mapping[str, Operation] = {
    name: _operation(message, answer)
    for name, message, answer in (("user", USER, _user), ("posts", POSTS, _posts), ("under", COMMENTS, _under))
}
"""What the resolvers of a nested query ask; `under` takes the numbers of posts in place of a user."""
