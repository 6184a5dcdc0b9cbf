"""CBOR answered by a bare ASGI application; `serve` as in `serve.responder`."""

from __future__ import annotations

from services.python.codecs.cbor import CODEC
from services.python.transports.http.asgi_bodies import serving

serve = serving(CODEC)
