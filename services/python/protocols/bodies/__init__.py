"""Protocols whose HTTP bodies are one encoded message each way: `TABLE` has a row for each codec, all else is the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal

from services.python.codecs import coding
from services.python.contract.messages import OF_THE_STORE
from services.python.contract.offers import ANY, AS_IT_IS, AS_MESSAGES, RAW, SECURED, Client, Parts, Protocol, Responder
from services.python.contract.strict import Part, part
from services.python.transports.http import asgi, granian, version, wsgi
from services.python.transports.http.clients import DEFAULT, clients

ON_GRANIAN = "asgi-granian"

_CODECS = "services.python.codecs"
_FRAMEWORKS = "services.python.transports.http.frameworks"
_UVICORN_REFUSES = version.one_alone("uvicorn", ON_GRANIAN)


@part
class Body(Part):
    """One codec, and what is particular to it; the rest as in `Protocol`.

    `codec` is the module below `services/python/codecs/`, `packages` are its libraries. `evolving` is the module that reads
    records across schemas, for a codec with schemas. `alone` has further clients of kind `codec`, `answered_by` responders.
    """

    codec: str
    title: str
    summary: str
    packages: tuple[str, ...] = ()
    settings: Mapping[str, str]
    messages: frozenset[str] | Literal["any"] = ANY
    bytes_as: str = RAW
    knobs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    evolving: str = ""
    alone: tuple[Client, ...] = ()
    answered_by: tuple[Responder, ...] = ()

    @property
    def name(self) -> str:
        return f"http+{self.codec}"

    def parts(self) -> Parts:
        return Parts(codec=self.title, transport="HTTP/1.1", server="uvicorn", bytes_as=self.bytes_as)

    def protocol(self) -> Protocol:
        return Protocol(
            name=self.name,
            title=self.title,
            summary=self.summary,
            messages=self.messages,
            responders=(*self._responders(), *self.answered_by),
            clients=(
                *clients(f"{__name__}.requester", *self.packages, codec=self.codec),
                _alone(next(iter(self.packages), "stdlib"), self.codec, *self.packages, evolving=self.evolving),
                *self.alone,
            ),
            knobs={**coding.KNOBS, **version.KNOBS, **self.knobs, **SECURED},
            without_knobs={**({} if self.knobs else AS_IT_IS), **version.WITHOUT},
            sequential=DEFAULT,
            concurrent=DEFAULT,
            settings=self.settings,
        )

    def _responders(self) -> tuple[Responder, ...]:
        on_uvicorn = Responder(
            name="asgi",
            module=f"{__name__}.paths",
            framework=f"{_FRAMEWORKS}.asgi",
            codec=self.codec,
            served_by=asgi.__name__,
            parts=self.parts(),
            packages=(*self.packages, *asgi.PACKAGES),
            refuses=_UVICORN_REFUSES,
            settings=asgi.SETTINGS,
        )
        return (
            on_uvicorn,
            replace(
                on_uvicorn,
                name="fastapi",
                framework=f"{_FRAMEWORKS}.fastapi",
                parts=replace(self.parts(), framework="FastAPI"),
                adds="routes every request with FastAPI",
                without="asgi",
                packages=(*self.packages, "fastapi", "starlette", *asgi.PACKAGES),
            ),
            replace(
                on_uvicorn,
                name="starlette",
                framework=f"{_FRAMEWORKS}.starlette",
                parts=replace(self.parts(), framework="Starlette"),
                packages=(*self.packages, "starlette", *asgi.PACKAGES),
            ),
            granian.served(on_uvicorn, ON_GRANIAN),
        )


def _alone(name: str, codec: str, *packages: str, evolving: str = "") -> Client:
    """The client that encodes and decodes alone."""
    return Client(
        name=name,
        module=f"{_CODECS}.evolution",
        codec=codec,
        style="sync",
        kind="codec",
        packages=packages,
        loads=(f"{_CODECS}.{evolving}",) if evolving else (),
    )


_JSON_PARTS = Parts(codec="JSON", transport="HTTP/1.1", server="uvicorn", bytes_as="base64")
_WITH_SCHEMA = frozenset({"timestamp", "add", "echo", "image", "transfer"}) | OF_THE_STORE

TABLE = (
    Body(
        codec="json",
        title="JSON",
        summary="JSON objects as HTTP bodies, as CBOR, Avro, MessagePack and Protocol Buffers are; bytes as base64",
        bytes_as="base64",
        settings={
            "JSON": "the standard library's, compact, UTF-8",
            "bytes": "base64 in a string: JSON has no binary type",
        },
        alone=(replace(_alone("orjson", "orjson", "orjson"), settings={"JSON": "orjson's, compact, UTF-8"}),),
        answered_by=(
            Responder(
                name="fastapi-models",
                module=f"{__name__}.json_models",
                served_by=asgi.__name__,
                parts=replace(_JSON_PARTS, framework="FastAPI", validation="pydantic models"),
                adds="routes every request with FastAPI and validates every body with pydantic models",
                without="fastapi",
                packages=("fastapi", "starlette", "pydantic", *asgi.PACKAGES),
                refuses=_UVICORN_REFUSES,
                settings={**asgi.SETTINGS, "JSON": "FastAPI's default, bodies validated by pydantic models"},
            ),
            Responder(
                name="flask-gunicorn",
                module=f"{__name__}.paths",
                framework=f"{_FRAMEWORKS}.flask",
                codec="json",
                served_by=wsgi.__name__,
                parts=replace(_JSON_PARTS, server="gunicorn", framework="Flask"),
                adds="hands every request to a thread of a pool",
                packages=("flask", "gunicorn"),
                refuses=wsgi.refuses(ON_GRANIAN),
                settings=wsgi.GUNICORN_SETTINGS,
            ),
        ),
    ),
    Body(
        codec="cbor",
        title="CBOR",
        summary="CBOR maps (cbor2) as HTTP bodies; bytes and pictures as byte strings",
        packages=("cbor2",),
        settings={"CBOR": "cbor2, compiled; maps of named fields, no schema"},
    ),
    Body(
        codec="msgpack",
        title="MessagePack",
        summary="MessagePack maps (msgpack) as HTTP bodies; bytes and pictures as binary values",
        packages=("msgpack",),
        settings={"MessagePack": "msgpack, compiled; maps of named fields, no schema"},
    ),
    Body(
        codec="avro",
        title="Avro",
        summary="Avro messages (fastavro) as HTTP bodies, their schemas known to both ends",
        packages=("fastavro",),
        messages=_WITH_SCHEMA,
        evolving="evolving_avro",
        settings={
            "Avro": "fastavro, compiled; schemas parsed once, bodies without schema (protos/operations.avsc)",
            "document": "JSON text in a string: Avro has no type for any JSON value",
        },
    ),
    Body(
        codec="protobuf",
        title="Protocol Buffers",
        summary="Protocol Buffers messages (protos/orch.proto) as HTTP bodies, without gRPC",
        packages=("protobuf",),
        messages=_WITH_SCHEMA,
        knobs=AS_MESSAGES,
        evolving="evolving_protobuf",
        alone=(
            replace(
                _alone("protobuf-parse-only", "protobuf", "protobuf"),
                omits="stops the clock before any field is read",
                refuses={"evolution": "whether a field came is known once it is read"},
            ),
        ),
        settings={
            "Protocol Buffers": "protobuf's own runtime, compiled (upb); the messages of gRPC",
            "document": "a message made from its shape (protos/documents.md)",
            "document: value": "google.protobuf.Value, whose numbers are doubles",
        },
    ),
)

NAMES = tuple(body.name for body in TABLE)


def protocol(name: str) -> Protocol:
    """The protocol of that name; KeyError."""
    return {body.name: body for body in TABLE}[name].protocol()
