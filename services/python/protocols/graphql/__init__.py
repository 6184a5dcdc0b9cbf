"""GraphQL over HTTP."""

from __future__ import annotations

from dataclasses import replace

from services.python.codecs import coding
from services.python.contract.knobs import BATCHING, DATALOADER
from services.python.contract.messages import OF_THE_STORE
from services.python.contract.offers import AS_IT_IS, SECURED, Client, Parts, Protocol, Responder
from services.python.transports.http import asgi, granian, version
from services.python.transports.http.clients import DEFAULT, clients

_LIBRARIES = ("strawberry-graphql", "graphql-core", "starlette")
_PACKAGES = (*_LIBRARIES, *asgi.PACKAGES)
_ON_GRANIAN = "strawberry-granian"
_REFUSES = version.one_alone("uvicorn", _ON_GRANIAN)
_ANEW = "parsed and validated at every request, which is Strawberry's default"
_STRAWBERRY = Responder(
    name="strawberry",
    module="services.python.protocols.graphql.responder",
    served_by=asgi.__name__,
    parts=Parts(
        codec="GraphQL in JSON",
        bytes_as="base64",
        transport="HTTP/1.1",
        server="uvicorn",
        framework="Strawberry",
        validation="GraphQL types, the query at every request",
    ),
    adds="parses and validates the same query anew at every request",
    without="strawberry-cached",
    packages=_PACKAGES,
    refuses=_REFUSES,
    settings={**asgi.SETTINGS, "query": _ANEW},
)

PROTOCOL = Protocol(
    name="graphql",
    title="GraphQL",
    summary="GraphQL queries with variables over HTTP, the query's text sent every time; bytes as base64",
    messages=frozenset({"timestamp", "add", "echo", "image", "transfer"}) | OF_THE_STORE,
    responders=(
        _STRAWBERRY,
        replace(
            _STRAWBERRY,
            name="strawberry-cached",
            module="services.python.protocols.graphql.cached_responder",
            parts=replace(_STRAWBERRY.parts, validation="GraphQL types, the query once"),
            adds="",
            without="",
            settings={**asgi.SETTINGS, "query": "Strawberry's ParserCache and ValidationCache, 128 entries each"},
        ),
        granian.served(_STRAWBERRY, _ON_GRANIAN, query=_ANEW),
    ),
    clients=(
        *clients("services.python.protocols.graphql.requester"),
        Client(
            name="stdlib",
            module="services.python.protocols.graphql.codec",
            style="sync",
            kind="codec",
            settings={
                "query": "neither parsed nor executed: coded as JSON, as the response is; of an evolution parsed and"
                " validated once, untimed"
            },
        ),
    ),
    knobs={**coding.KNOBS, **version.KNOBS, **SECURED, BATCHING: ("none", DATALOADER)},
    without_knobs={**AS_IT_IS, **version.WITHOUT},
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={
        "bytes": "base64 in a string: GraphQL has no binary type",
        "document": "the JSON scalar",
        "JSON": "compact, UTF-8",
        "feed": "nested: the posts of the user, and of each post its comments, by a resolver each",
        "batching: dataloader": "strawberry's DataLoader, a new one for each request, gathers the comments under all posts",
    },
)
