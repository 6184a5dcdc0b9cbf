"""REST: resources over HTTP, JSON for structured values, raw bodies for bytes and pictures."""

from __future__ import annotations

from dataclasses import replace

from services.python.codecs import coding
from services.python.contract.knobs import SEVERAL, WORKERS
from services.python.contract.offers import ANY, AS_IT_IS, SECURED, Parts, Protocol, Responder
from services.python.transports.http import asgi, granian, version, wsgi
from services.python.transports.http.clients import DEFAULT, clients

_PARTS = Parts(codec="JSON", transport="HTTP/1.1", server="uvicorn")
_FRAMEWORKS = "services.python.transports.http.frameworks"
_ON_GRANIAN = "starlette-granian"
_UVICORN_REFUSES = version.one_alone("uvicorn", _ON_GRANIAN)
_FLASK_REFUSES = wsgi.refuses(_ON_GRANIAN)

_JSON = "compact, by the standard library, bodies not validated"
_MODELS = "FastAPI's default, bodies validated by pydantic models"
_BARE = Responder(
    name="asgi",
    module="services.python.protocols.rest.paths",
    framework=f"{_FRAMEWORKS}.asgi",
    served_by=asgi.__name__,
    parts=_PARTS,
    packages=asgi.PACKAGES,
    refuses=_UVICORN_REFUSES,
    settings={**asgi.SETTINGS, **asgi.WORKERS_SETTINGS, "JSON": _JSON},
)

_STARLETTE = replace(
    _BARE,
    name="starlette",
    framework=f"{_FRAMEWORKS}.starlette",
    parts=replace(_PARTS, framework="Starlette"),
    packages=("starlette", *asgi.PACKAGES),
)

PROTOCOL = Protocol(
    name="rest",
    title="REST",
    summary="JSON over HTTP, one path per operation; bytes and pictures travel as raw bodies",
    messages=ANY,
    responders=(
        _BARE,
        Responder(
            name="fastapi",
            module="services.python.protocols.rest.responder",
            served_by=asgi.__name__,
            parts=replace(_PARTS, framework="FastAPI", validation="pydantic models"),
            adds="routes every request with FastAPI and validates JSON bodies with pydantic models",
            without="asgi",
            packages=("fastapi", "starlette", "pydantic", *asgi.PACKAGES),
            refuses=_UVICORN_REFUSES,
            settings={**asgi.SETTINGS, **asgi.WORKERS_SETTINGS, "JSON": _MODELS},
        ),
        _STARLETTE,
        granian.served(_STARLETTE, _ON_GRANIAN, **granian.WORKERS_SETTINGS, JSON=_JSON),
        Responder(
            name="flask",
            module="services.python.protocols.rest.flask_app",
            parts=replace(_PARTS, framework="Flask", server="werkzeug"),
            adds="starts a thread for every request and sorts JSON by key",
            packages=("flask", "werkzeug"),
            refuses={
                **_FLASK_REFUSES,
                "reuse": "Flask's development server closes the connection after every reply",
                WORKERS: "Flask's development server is one process; flask-gunicorn has workers",
            },
            settings={**wsgi.WSGI_SETTINGS, "server": "Flask's development server (Werkzeug), a thread per connection"},
        ),
        Responder(
            name="flask-gunicorn",
            module="services.python.protocols.rest.flask_app",
            served_by=wsgi.__name__,
            parts=replace(_PARTS, framework="Flask", server="gunicorn"),
            adds="hands every request to a thread of a pool and sorts JSON by key",
            packages=("flask", "gunicorn"),
            refuses=_FLASK_REFUSES,
            settings={**wsgi.GUNICORN_SETTINGS, **wsgi.WORKERS_SETTINGS},
        ),
    ),
    clients=clients("services.python.protocols.rest.requester"),
    knobs={**coding.KNOBS, **version.KNOBS, **SECURED, WORKERS: SEVERAL},
    without_knobs={**AS_IT_IS, **version.WITHOUT},
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={
        "JSON": "compact, UTF-8",
        "bytes": "application/octet-stream",
        "picture": "image/png, decode flag in the query",
        "transfer": "application/octet-stream, size of the reply in the query",
    },
)
