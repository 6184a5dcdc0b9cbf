"""Messages: what an operation is asked with and answers with, as named fields of plain values.

An operation names its message, and a protocol says which messages it carries (`offers.Protocol.messages`), so that neither
knows the other. Those that several operations may share stand here; one that only a new operation has stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from services.python.contract.strict import Part, part

Field = Literal[
    "text",
    "integer",
    "long",
    "number",
    "flag",
    "bytes",
    "records",
    "document",
    "accounts",
    "transactions",
    "posts",
    "comments",
]
"""The type of a field.

`integer` has 32 bits, `long` has 64, `number` is a double, `document` is any JSON value; `records`, `accounts`,
`transactions`, `posts` and `comments` are lists of rows (`ROWS` has the fields of all but the first).
"""


@part
class Message(Part):
    """A request and its reply, with the type of each field by its name.

    `one_of`: a request has one of the fields, and its reply the same one; each is a form of its own on the wire
    (`echo/data`). `is_bare`: its bodies are bytes with nothing around them, so that it travels only where it is named.
    `is_stream`: the request is a subscription, and `reply` is each of its events.
    """

    name: str
    request: Mapping[str, Field]
    reply: Mapping[str, Field]
    one_of: bool = False
    is_bare: bool = False
    is_stream: bool = False

    def forms(self) -> Mapping[str, Message]:
        """What travels: the message itself by its name, or one for each field that a request may have."""
        if not self.one_of:
            return {self.name: self}
        every = {field: f"{self.name}/{field}" for field in self.request}
        return {
            name: Message(name=name, request={field: self.request[field]}, reply={field: self.reply[field]})
            for field, name in every.items()
        }


IDENTITY = Message(name="identity", request={}, reply={"identity": "text"})
TIMESTAMP = Message(
    name="timestamp",
    request={"request_timestamp": "text"},
    reply={"request_timestamp": "text", "response_timestamp": "text"},
)
ADD = Message(name="add", request={"a": "integer", "b": "integer"}, reply={"sum": "integer"})
ECHO = Message(
    name="echo",
    request={"data": "bytes", "records": "records", "document": "document"},
    reply={"data": "bytes", "records": "records", "document": "document"},
    one_of=True,
)
IMAGE = Message(
    name="image", request={"data": "bytes", "full_decode": "flag"}, reply={"width": "integer", "height": "integer"}
)
TRANSFER = Message(name="transfer", request={"data": "bytes", "reply_size": "integer"}, reply={"data": "bytes"})
EVOLUTION = Message(name="evolution", request={"count": "integer"}, reply={"records": "records"}, is_bare=True)
CALL = Message(name="call", request={}, reply={}, is_bare=True)
EXCHANGE = Message(
    name="exchange", request={"data": "bytes", "reply_size": "integer"}, reply={"data": "bytes"}, is_bare=True
)

# A service over a database: amounts and balances are in cents.
BALANCE = Message(
    name="balance", request={"account": "integer"}, reply={"account": "integer", "owner": "text", "balance": "integer"}
)
PAYMENT = Message(
    name="payment",
    request={"payer": "integer", "payee": "integer", "amount": "integer"},
    reply={"accepted": "flag", "payment": "integer", "balance": "integer"},
)
TRANSACTIONS = Message(
    name="transactions", request={"account": "integer", "count": "integer"}, reply={"transactions": "transactions"}
)
ACCOUNTS = Message(name="accounts", request={"after": "integer", "count": "integer"}, reply={"accounts": "accounts"})

# What a page shows: a user, the user's last posts, and the last comments under each of them.
USER = Message(
    name="user",
    request={"user": "integer"},
    reply={"user": "integer", "name": "text", "about": "text", "joined": "integer"},
)
POSTS = Message(name="posts", request={"user": "integer", "count": "integer"}, reply={"posts": "posts"})
COMMENTS = Message(
    name="comments", request={"user": "integer", "count": "integer", "each": "integer"}, reply={"comments": "comments"}
)
FEED = Message(name="feed", request=COMMENTS.request, reply={**USER.reply, **POSTS.reply, **COMMENTS.reply})

OF_ACCOUNTS: frozenset[str] = frozenset({BALANCE.name, PAYMENT.name, TRANSACTIONS.name, ACCOUNTS.name})
"""Messages that are asked of accounts and transactions."""
OF_POSTS: frozenset[str] = frozenset({USER.name, POSTS.name, COMMENTS.name, FEED.name})
"""Messages that are asked of users, posts and comments."""
OF_THE_STORE: frozenset[str] = OF_ACCOUNTS | OF_POSTS  # messages that are asked of a store

ROWS: Mapping[Field, Mapping[str, Field]] = {
    "accounts": BALANCE.reply,
    "transactions": {"number": "integer", "payer": "integer", "payee": "integer", "amount": "integer"},
    "posts": {"post": "integer", "author": "integer", "title": "text", "text": "text", "likes": "integer"},
    "comments": {"comment": "integer", "post": "integer", "author": "integer", "text": "text"},
}
"""The fields of a row, by the type of the list that it stands in."""

EVENTS = Message(
    name="events",
    request={"interval_ns": "long", "count": "long", "size": "integer", "seed": "long"},
    reply={"sequence": "long", "sent_ns": "long", "data": "text"},
    is_stream=True,
)
ACTIVITY = Message(
    name="activity",
    request={"interval_ns": "long", "count": "long", "after": "integer"},
    reply={
        "sequence": "long",
        "sent_ns": "long",
        "transaction": "integer",
        "payer": "integer",
        "payee": "integer",
        "amount": "integer",
    },
    is_stream=True,
)
OF_STREAMS: frozenset[str] = frozenset({EVENTS.name, ACTIVITY.name})
"""Messages whose replies are the events of a stream."""


def capitals(name: str) -> str:
    """A name of lower-case words as one word: `double_sum` is `DoubleSum`."""
    return "".join(word.capitalize() for word in name.split("_"))


def camel(name: str) -> str:
    """The same with a small first letter, as GraphQL names fields: `doubleSum`."""
    word = capitals(name)
    return word[0].lower() + word[1:]
