"""Users, posts and comments, in this process's memory or in a database. No request ever writes here.

Each method is one query of a database, and counted as one where the rows are in memory, too: how many a page takes is a
property of who asks, and not of the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from services.python.stores import base
from services.python.stores import posts_seed as seed
from services.python.stores.posts_seed import Comment, Post, User

RESOURCES: Final = (base.STORE, base.DATABASE, base.POOL)
"""The settings of a serve line that it takes; no driver, as none of its stores has two."""


class InMemory:
    """What every store of users, posts and comments does; of `spent` the queries alone are counted here."""

    runs: base.Runs = "inline"
    threads = 0

    def user(self, number: int, spent: base.Spent) -> User | None:
        """A user; None where there is none."""
        spent.queries += 1
        return seed.users()[number - 1] if 0 < number <= seed.USERS else None

    def posts(self, user: int, count: int, spent: base.Spent) -> list[Post]:
        """The last posts of a user, newest first, at most so many."""
        spent.queries += 1
        return _posts(user, count)

    def under(self, posts: Sequence[int], each: int, spent: base.Spent) -> list[Comment]:
        """At most `each` comments under each of these posts; the posts' greatest number first, newest comments first."""
        spent.queries += 1
        return under(posts, each)

    def comments(self, user: int, count: int, each: int, spent: base.Spent) -> list[Comment]:
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
def opened(settings: Mapping[str, str]) -> Iterator[base.Held]:
    """The store of these settings as seeded, in memory unless they name one. StoreError where it cannot be had."""
    kind = settings.get(base.STORE, base.NONE)
    if kind == base.NONE:
        if strange := sorted(settings.keys() - {base.STORE}):
            raise base.StoreError(f"{base.STORE}: {base.NONE} is in memory, and takes no {', '.join(strange)}")
        for rows in (seed.users, seed.by_author, seed.by_post):  # made before the responder is ready
            rows()
        yield base.Held(store=InMemory())
    elif kind == base.SQLITE:
        from services.python.stores import posts_sqlite

        # Beside the file of accounts and transactions, which has a digest of its own.
        path = Path(f"{base.database(settings)}.posts")
        with posts_sqlite.opened(path, base.pool_size(settings)) as (store, described):
            yield base.Held(store=store, settings=described)
    else:
        raise base.StoreError(f"users, posts and comments are kept in memory or in {base.SQLITE}, and not in {kind!r}")
