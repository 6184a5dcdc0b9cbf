"""REST: resources over HTTP/1.1, JSON for structured values, raw bodies for bytes and pictures."""

from __future__ import annotations

from services.python.codecs import gzipped
from services.python.contract.offers import Protocol, Responder
from services.python.transports.http.asgi import PACKAGES, SETTINGS
from services.python.transports.http.clients import DEFAULT, clients

_WSGI = {"access log": "off", **gzipped.SETTINGS, "TCP_NODELAY": "on", "largest body": "not limited"}

PROTOCOL = Protocol(
    name="rest",
    title="REST",
    summary="JSON over HTTP/1.1, one path per operation; bytes and pictures travel as raw bodies",
    operations=frozenset({"timestamp", "add", "echo", "image"}),
    responders=(
        Responder(
            name="fastapi",
            module="services.python.protocols.rest.responder",
            adds="routes every request with FastAPI and validates JSON bodies with pydantic models",
            without="starlette",
            packages=("fastapi", "starlette", "pydantic", *PACKAGES),
            settings={**SETTINGS, "JSON": "FastAPI's default, bodies validated by pydantic models"},
        ),
        Responder(
            name="starlette",
            module="services.python.protocols.rest.starlette_responder",
            packages=("starlette", *PACKAGES),
            settings={**SETTINGS, "JSON": "compact, by the standard library, bodies not validated"},
        ),
        Responder(
            name="flask",
            module="services.python.protocols.rest.flask_responder",
            adds="starts a thread for every request and sorts JSON by key",
            packages=("flask", "werkzeug"),
            refuses={"reuse": "Flask's development server closes the connection after every reply"},
            settings={**_WSGI, "server": "Flask's development server (Werkzeug), a thread per connection"},
        ),
        Responder(
            name="flask-gunicorn",
            module="services.python.protocols.rest.flask_gunicorn_responder",
            adds="hands every request to a thread of a pool and sorts JSON by key",
            packages=("flask", "gunicorn"),
            settings={
                **_WSGI,
                "server": "one gunicorn gthread worker of 16 threads, without its arbiter: one process, as everywhere",
                "keep-alive": "one hour",
            },
        ),
    ),
    clients=clients("services.python.protocols.rest.requester"),
    knobs=gzipped.KNOBS,
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={
        "JSON": "compact, UTF-8",
        "bytes": "application/octet-stream",
        "picture": "image/png, decode flag in the query",
    },
)
