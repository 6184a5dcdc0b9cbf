"""Users, posts and comments in a file of SQLite, and a pool of connections to it; each query has one, and gives it back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue

from services.python.stores import posts_seed as seed
from services.python.stores.base import Runs, Spent, refuse_other_rows
from services.python.stores.posts_seed import Comment, Post, User
from services.python.stores.seed import digest as digest_of
from services.python.stores.seed import lines
from services.python.stores.sqlite_file import connected, explained, lent, made, pooled, require_wal

_TABLES = """
CREATE TABLE users (user INTEGER PRIMARY KEY, name TEXT NOT NULL, about TEXT NOT NULL, joined INTEGER NOT NULL);
CREATE TABLE posts (
    post INTEGER PRIMARY KEY,
    author INTEGER NOT NULL REFERENCES users,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    likes INTEGER NOT NULL
);
CREATE TABLE comments (
    comment INTEGER PRIMARY KEY,
    post INTEGER NOT NULL REFERENCES posts,
    author INTEGER NOT NULL REFERENCES users,
    text TEXT NOT NULL
);
"""
_INDEXES = (
    "CREATE INDEX posts_of_author ON posts (author, post); CREATE INDEX comments_of_post ON comments (post, comment)"
)
_ALL = (
    "SELECT user, name, about, joined FROM users ORDER BY user",
    "SELECT post, author, title, text, likes FROM posts ORDER BY post",
    "SELECT comment, post, author, text FROM comments ORDER BY comment",
)
_POSTS = "SELECT post, author, title, text, likes FROM posts WHERE author = ? ORDER BY post DESC LIMIT ?"
_RANKED = (
    "SELECT comment, post, author, text FROM (SELECT comment, post, author, text,"
    " row_number() OVER (PARTITION BY post ORDER BY comment DESC) AS place FROM comments WHERE post IN ({}))"
    " WHERE place <= ? ORDER BY post DESC, comment DESC"
)
_OF_USER = _RANKED.format("SELECT post FROM posts WHERE author = ? ORDER BY post DESC LIMIT ?")


class InSqlite:
    """See `posts.InMemory`."""

    runs: Runs = "pool"

    def __init__(self, connections: SimpleQueue[sqlite3.Connection], size: int) -> None:
        self.threads = size
        self._connections = connections

    def user(self, number: int, spent: Spent) -> User | None:
        with self._connection(spent) as connection:
            user: User | None = connection.execute(
                "SELECT user, name, about, joined FROM users WHERE user = ?", (number,)
            ).fetchone()
        return user

    def posts(self, user: int, count: int, spent: Spent) -> list[Post]:
        with self._connection(spent) as connection:
            return connection.execute(_POSTS, (user, count)).fetchall()

    def under(self, posts: Sequence[int], each: int, spent: Spent) -> list[Comment]:
        with self._connection(spent) as connection:
            places = ", ".join("?" * len(posts))
            return connection.execute(_RANKED.format(places), (*posts, each)).fetchall()

    def comments(self, user: int, count: int, each: int, spent: Spent) -> list[Comment]:
        with self._connection(spent) as connection:
            return connection.execute(_OF_USER, (user, count, each)).fetchall()

    @contextmanager
    def _connection(self, spent: Spent) -> Iterator[sqlite3.Connection]:
        """One of the pool, for one query."""
        with lent(self._connections, spent) as connection:
            spent.queries += 1
            yield connection


@contextmanager
def opened(path: Path, size: int) -> Iterator[tuple[InSqlite, dict[str, str]]]:
    """The store in a file, made where there is none, and its settings for the record; StoreError for other rows."""
    if not path.exists():
        _make(path)
    with explained(path), closing(connected(path)) as connection:
        require_wal(path, connection)
        rows = (lines(connection.execute(query)) for query in _ALL)
        refuse_other_rows(f"the database {path}", digest_of(*rows), seed.DIGEST)
    with pooled(path, size, connected) as connections:
        yield InSqlite(connections, size), {"store": f"SQLite {sqlite3.sqlite_version}, WAL, only read"}


def _make(path: Path) -> None:
    with made(path, _TABLES, _INDEXES) as connection:
        connection.executemany("INSERT INTO users VALUES (?, ?, ?, ?)", seed.users())
        connection.executemany("INSERT INTO posts VALUES (?, ?, ?, ?, ?)", seed.posts())
        connection.executemany("INSERT INTO comments VALUES (?, ?, ?, ?)", seed.comments())
