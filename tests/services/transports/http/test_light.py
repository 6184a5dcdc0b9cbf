"""A small machine pays for an import: each end loads only what its own protocol and client need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.busy

ROOT = Path(__file__).parents[4]
LIBRARIES = {
    *("aiohttp", "cbor2", "fastapi", "fastavro", "flask", "graphql", "grpc", "gunicorn", "httpx", "msgpack", "numpy"),
    *("PIL", "pycurl", "pydantic", "requests", "socketio", "starlette", "strawberry", "urllib3", "uvicorn", "uvloop"),
    *("granian", "h2", "websockets", "werkzeug", "wsproto"),
}


def loaded_by(code: str) -> set[str]:
    """The libraries in memory after a fresh interpreter ran this."""
    script = f"import sys\n{code}\nprint(*sorted({LIBRARIES!r} & {{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("client", "libraries"),
    [
        ("pycurl", {"pycurl"}),
        ("pycurl-multi", {"pycurl"}),
        ("aiohttp", {"aiohttp"}),
        ("httpx", {"httpx"}),
        ("requests", {"requests", "urllib3"}),
        ("raw", set()),
    ],
)
def test_a_requester_loads_its_own_client_only(client: str, libraries: set[str]) -> None:
    code = f"""
from services.python.load.client import CallSpec
from services.python.protocols.rest import PROTOCOL
from services.python.protocols.rest.requester import dialer
call = CallSpec(host="127.0.0.1", port=1, operation="add", timeout_s=1, example={{"a": 1, "b": 2}})
dialer(call, PROTOCOL.client({client!r}))
"""
    assert loaded_by(code) == libraries


@pytest.mark.parametrize(
    ("protocol", "implementation", "libraries"),
    [
        ("rest", "fastapi", {"fastapi", "pydantic", "starlette"}),
        ("rest", "flask", {"flask", "werkzeug"}),
        ("rest", "flask-gunicorn", {"flask", "werkzeug"}),  # gunicorn when it serves
        ("http+cbor", "fastapi", {"cbor2", "fastapi", "pydantic", "starlette"}),
        ("http+msgpack", "fastapi", {"msgpack", "fastapi", "pydantic", "starlette"}),
        ("http+avro", "fastapi", {"fastavro", "fastapi", "pydantic", "starlette"}),
        ("http+json", "fastapi", {"fastapi", "pydantic", "starlette"}),
        ("http+json", "starlette", {"starlette"}),
        ("http+json", "asgi", set()),
        ("http+json", "flask-gunicorn", {"flask", "werkzeug"}),
        ("http+protobuf", "asgi", set()),
        ("http+protobuf", "asgi-granian", set()),  # granian when it serves
        ("connect", "asgi-granian", set()),
        ("rest", "starlette-granian", {"starlette"}),
        ("graphql", "strawberry", {"strawberry", "graphql", "starlette"}),
    ],
)
def test_a_responder_loads_its_own_framework_and_codec_only(
    protocol: str, implementation: str, libraries: set[str]
) -> None:
    code = f"""
import importlib
from services.python.contract.offers import find_protocol
for module in find_protocol({protocol!r}).responder({implementation!r}).modules:
    importlib.import_module(module)
"""
    assert loaded_by(code) == libraries
