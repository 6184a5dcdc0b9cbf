"""JSON in raw HTTP bodies: the very messages that the binary codecs carry, as one JSON object each."""

from __future__ import annotations

from dataclasses import replace

from services.python.codecs import coding
from services.python.contract.judgement import Judgement
from services.python.contract.knobs import NO_LOOP
from services.python.contract.offers import ANY, AS_IT_IS, SECURED, Client, Protocol, Responder
from services.python.transports.http import version
from services.python.transports.http.asgi import PACKAGES, SETTINGS
from services.python.transports.http.bodies import ON_GRANIAN, bare, responders
from services.python.transports.http.clients import DEFAULT, clients
from services.python.transports.http.wsgi import GUNICORN_SETTINGS

_PARTS = replace(bare("JSON"), bytes_as="base64")

PROTOCOL = Protocol(
    name="json",
    title="JSON",
    summary="JSON objects as HTTP bodies, as CBOR, Avro, MessagePack and Protocol Buffers are; bytes as base64",
    messages=ANY,
    responders=(
        *responders("json", _PARTS),
        Responder(
            name="fastapi-models",
            module="services.python.protocols.json.models_responder",
            parts=replace(_PARTS, framework="FastAPI", validation="pydantic models"),
            adds="routes every request with FastAPI and validates every body with pydantic models",
            without="fastapi",
            packages=("fastapi", "starlette", "pydantic", *PACKAGES),
            refuses=version.one_alone("uvicorn", ON_GRANIAN),
            settings={**SETTINGS, "JSON": "FastAPI's default, bodies validated by pydantic models"},
        ),
        Responder(
            name="flask-gunicorn",
            module="services.python.protocols.json.flask_responder",
            parts=replace(_PARTS, server="gunicorn", framework="Flask"),
            adds="hands every request to a thread of a pool",
            packages=("flask", "gunicorn"),
            refuses={**version.one_alone("a WSGI server", ON_GRANIAN), **NO_LOOP},
            settings=GUNICORN_SETTINGS,
        ),
    ),
    clients=(
        *clients("services.python.protocols.json.requester"),
        Client(name="stdlib", module="services.python.protocols.json.codec", style="sync", kind="codec"),
        Client(
            name="orjson",
            module="services.python.protocols.json.orjson_codec",
            style="sync",
            kind="codec",
            packages=("orjson",),
            settings={"JSON": "orjson's, compact, UTF-8"},
        ),
    ),
    knobs={**coding.KNOBS, **version.KNOBS, **SECURED},
    without_knobs={**AS_IT_IS, **version.WITHOUT},
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={"JSON": "the standard library's, compact, UTF-8", "bytes": "base64 in a string: JSON has no binary type"},
    browser=Judgement(answer="yes", why="`fetch()`"),
    schema=Judgement(answer="no", why="JSON names its fields"),
)
