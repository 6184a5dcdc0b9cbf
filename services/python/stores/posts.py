"""Users, posts and comments, in this process's memory or in a database. No request ever writes here.

Each method is one query of a database, and counted as one where the rows are in memory, too: how many a page takes is a
property of who asks, and not of the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from services.python.stores import posts_seed as seed
from services.python.stores.base import DATABASE, NONE, POOL, SQLITE, STORE, Held, Runs, Spent, StoreError, pool_size
from services.python.stores.posts_seed import Comment, Post, User

RESOURCES: Final = (STORE, DATABASE, POOL)
"""The settings of a serve line that it takes; no driver, as none of its stores has two."""


class InMemory:
    """What every store of users, posts and comments does; of `spent` the queries alone are counted here."""

    runs: Runs = "inline"
    threads = 0

    def user(self, number: int, spent: Spent) -> User | None:
        """A user; None where there is none."""
        spent.queries += 1
        return seed.users()[number - 1] if 0 < number <= seed.USERS else None

    def posts(self, user: int, count: int, spent: Spent) -> list[Post]:
        """The last posts of a user, newest first, at most so many."""
        spent.queries += 1
        return _posts(user, count)

    def under(self, posts: Sequence[int], each: int, spent: Spent) -> list[Comment]:
        """At most `each` comments under each of these posts; the posts' greatest number first, newest comments first."""
        spent.queries += 1
        return under(posts, each)

    def comments(self, user: int, count: int, each: int, spent: Spent) -> list[Comment]:
        """What `under` gives of the user's last `count` posts."""
        spent.queries += 1
        return under([post[0] for post in _posts(user, count)], each)


def _posts(user: int, count: int) -> list[Post]:
    return list(seed.by_author()[user][:count]) if 0 < user <= seed.USERS else []


def under(posts: Sequence[int], each: int) -> list[Comment]:
    """See `InMemory.under`."""
    known = [number for number in sorted(set(posts), reverse=True) if 0 < number <= seed.POSTS]
    return [row for number in known for row in seed.by_post()[number][:each]]


@contextmanager
def opened(settings: Mapping[str, str]) -> Iterator[Held]:
    """The store of these settings as seeded, in memory unless they name one. StoreError where it cannot be had."""
    kind = settings.get(STORE, NONE)
    if kind == NONE:
        if strange := sorted(settings.keys() - {STORE}):
            raise StoreError(f"{STORE}: {NONE} is in memory, and takes no {', '.join(strange)}")
        for rows in (seed.users, seed.by_author, seed.by_post):  # made before the responder is ready
            rows()
        yield Held(store=InMemory())
    elif kind == SQLITE:
        if not settings.get(DATABASE):
            raise StoreError(f"{STORE}: {SQLITE} needs a {DATABASE}, and none is named")
        from services.python.stores import posts_sqlite

        # Beside the file of accounts and transactions, which has a mark and a digest of its own.
        path = Path(f"{settings[DATABASE]}.posts")
        with posts_sqlite.opened(path, pool_size(settings)) as (store, described):
            yield Held(store=store, settings=described)
    else:
        raise StoreError(f"users, posts and comments are kept in memory or in {SQLITE}, and not in {kind!r}")
