"""Services that know nothing of orch, by HTTP and by gRPC."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import message_factory

from orchestrator.experiment.plan.own.own_protos import compiled
from services.python.contract.descriptors import pool_of
from tests.support.certificates import HOST
from tests.support.own_trials import step_of

PROTO = Path(__file__).parents[2] / "experiments" / "own" / "shop.proto"
DESCRIPTORS = base64.b64encode(compiled(PROTO)).decode()


class Shop(BaseHTTPRequestHandler):
    """Who logs in gets a token, without which there are no orders; all else is answered with what was asked."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _answer(self, status: int, content: Any, **fields: str) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        if "gzip" in self.headers.get("accept-encoding", ""):
            body, fields = gzip.compress(body), {**fields, "Content-Encoding": "gzip"}
        self.send_response(status)
        for name, value in {**fields, "Content-Length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        seen = {"method": self.command, "path": self.path, "x": self.headers.get("x-id"), "body": body}
        match self.command, self.path:
            case "POST", "/login":
                self._answer(200, {"token": f"t-{json.loads(body)['user']}"})
            case _, "/order":
                token = self.headers.get("authorization", "")
                self._answer(200 if token.startswith("Bearer t-") else 401, {"of": token.removeprefix("Bearer t-")})
            case _, "/old":
                self._answer(302, {}, Location="/what")
            case _, "/kept":
                self._answer(307, {}, Location="/what")
            case _, "/round":
                self._answer(302, {}, Location="/round")
            case _, "/away":
                self._answer(302, {}, Location="http://127.0.0.2:1/what")
            case _, "/404":
                self._answer(404, seen)
            case _, "/text":
                self._answer(200, b"not JSON")
            case _:
                self._answer(200, seen)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _any  # noqa: N815 - the library's names

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""


@contextmanager
def answering_orders(credentials: grpc.ServerCredentials | None = None) -> Iterator[int]:
    """The port of a gRPC server that answers orders and their items."""
    pool = pool_of(DESCRIPTORS)
    request, order, item = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"shop.v1.{name}"))
        for name in ("OrderRequest", "Order", "Item")
    )

    def get(asked: Any, _context: Any) -> Any:
        return order(id=asked.id, total=asked.id + 6)

    def items(asked: Any, _context: Any) -> Iterator[Any]:
        yield from (item(article=f"{asked.id}-{number}") for number in range(3))

    handlers = {
        name: handler(answer, request.FromString, lambda message: message.SerializeToString())
        for name, handler, answer in (
            ("Get", grpc.unary_unary_rpc_method_handler, get),
            ("Items", grpc.unary_stream_rpc_method_handler, items),
        )
    }
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("shop.v1.Orders", handlers),))
    address = f"{HOST}:0"
    port = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
    server.start()
    yield port
    server.stop(None)


def order_step(method: str, identifier: str, **more: Any) -> dict[str, Any]:
    """A step by gRPC, such as `Get`."""
    return step_of(
        "grpc", descriptors=DESCRIPTORS, method=f"shop.v1.Orders/{method}", message={"id": identifier}, **more
    )
