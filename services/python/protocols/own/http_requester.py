"""Calls somebody's own service by HTTP, GraphQL included, with the clients that all HTTP protocols share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from services.python.contract.offers import Client
from services.python.contract.strict import part
from services.python.load.client import AsyncDialer, CallFailed, CallSpec, Dialer, Request
from services.python.operations.call import GRAPHQL
from services.python.transports.http.clients import dial_with
from services.python.transports.http.route import Route, shown

_LEAST_SUCCESS, _MOST_SUCCESS = 200, 299


@part
class OwnRoute(Route):
    """A call's route: its method and paths, and which replies are right ones.

    `wanted`: the statuses that are expected; any of success where there is none. A reply is its status, its body, and the
    JSON document that is read from it within the timed call where the call wants that.
    """

    is_read: bool = True
    is_graphql: bool = False
    wanted: frozenset[int] = frozenset()

    def fields(self) -> dict[str, str]:
        """None of its own: every request has all that it is sent with."""
        return {}

    def read(self, status: int, body: bytes) -> Any:
        """See `Route.read`; a status that is expected is as good as success."""
        if not (status in self.wanted or (not self.wanted and _LEAST_SUCCESS <= status <= _MOST_SUCCESS)):
            raise self.failed(status, body)
        if not self.is_read or not body:
            return {"status": status, "body": body}
        try:
            document = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise CallFailed("undecodable", f"{error} in {shown(body)}") from error
        if self.is_graphql and isinstance(document, dict) and document.get("errors"):
            raise CallFailed("protocol", f"GraphQL errors: {json.dumps(document['errors'])[:200]}")
        return {"status": status, "body": body, "document": document}


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client."""
    example = call.example
    route = OwnRoute(
        path=example["path"],
        content_type="",
        encode=_body,
        decode=bytes,
        method=example["method"],
        varies=_varies,
        is_read=example["call"]["decode"],
        is_graphql=example["kind"] == GRAPHQL,
        wanted=frozenset(example["expect"].get("status") or ()),
    )
    return dial_with(client, route, call)


def _body(request: Request) -> bytes:
    body: bytes = request["body"]
    return body


def _varies(request: Request) -> tuple[str, Mapping[str, str]]:
    return request["path"], request["headers"]
