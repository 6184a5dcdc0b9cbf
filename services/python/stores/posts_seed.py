"""Users, posts and comments: the rows of `protos/posts.md`, a pure function, the same everywhere."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from services.python.contract.generator import DICTIONARY, below, words
from services.python.stores.seed import newest_first

User = tuple[int, str, str, int]  # number from 1, name, about, joined (days since 1970)
Post = tuple[int, int, str, str, int]  # number from 1, author's number, title, text, likes
Comment = tuple[int, int, int, str]  # number from 1, the post's number, author's number, text

USERS: Final = 1_000
POSTS: Final = 10_000
COMMENTS: Final = 30_000
DIGEST: Final = "fdacc05ee55d69624f6ad4f2f16eb2572c139993ed91912bc7e30784b6f7a03b"
"""SHA-256 of all rows as `seed.lines` writes them: users, posts, comments."""

_FIRST_DAY, _DAYS = 15_000, 5_000
_LIKES = 10_000
_USER_WORDS, _POST_WORDS, _COMMENT_WORDS = 4, 4, 3
_ABOUT, _TITLE, _TEXT, _COMMENT = 24, 4, 40, 16  # words of each text
_STRIDE = 5  # from a word of the dictionary to the next of a text; no divisor of how many there are


@cache
def phrase(first: int, size: int) -> str:
    """A text of so many words of the dictionary, from one place on, every fifth, around and around."""
    return " ".join(DICTIONARY[(first + _STRIDE * place) % len(DICTIONARY)] for place in range(size))


@lru_cache(maxsize=1)
def users() -> tuple[User, ...]:
    """Every user, by number."""
    drawn, size = iter(words("users", USERS * _USER_WORDS)), len(DICTIONARY)
    return tuple(
        (
            number,
            f"{DICTIONARY[below(first, size)]} {DICTIONARY[below(second, size)]}",
            phrase(below(third, size), _ABOUT),
            _FIRST_DAY + below(fourth, _DAYS),
        )
        for number, (first, second, third, fourth) in enumerate(zip(drawn, drawn, drawn, drawn, strict=True), start=1)
    )


@lru_cache(maxsize=1)
def posts() -> tuple[Post, ...]:
    """Every post, by number."""
    drawn, size = iter(words("posts", POSTS * _POST_WORDS)), len(DICTIONARY)
    return tuple(
        (
            number,
            1 + below(first, USERS),
            phrase(below(second, size), _TITLE),
            phrase(below(third, size), _TEXT),
            below(fourth, _LIKES),
        )
        for number, (first, second, third, fourth) in enumerate(zip(drawn, drawn, drawn, drawn, strict=True), start=1)
    )


@lru_cache(maxsize=1)
def comments() -> tuple[Comment, ...]:
    """Every comment, by number."""
    drawn, size = iter(words("comments", COMMENTS * _COMMENT_WORDS)), len(DICTIONARY)
    return tuple(
        (number, 1 + below(first, POSTS), 1 + below(second, USERS), phrase(below(third, size), _COMMENT))
        for number, (first, second, third) in enumerate(zip(drawn, drawn, drawn, strict=True), start=1)
    )


@lru_cache(maxsize=1)
def by_author() -> tuple[tuple[Post, ...], ...]:
    """The posts of each user, newest first; those of user n at place n."""
    return newest_first(posts(), 1, USERS)


@lru_cache(maxsize=1)
def by_post() -> tuple[tuple[Comment, ...], ...]:
    """The comments under each post, newest first; those under post n at place n."""
    return newest_first(comments(), 1, POSTS)
