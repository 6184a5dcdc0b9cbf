"""Avro answered by a bare ASGI application on granian; `serve` as in `serve.responder`."""

from __future__ import annotations

from services.python.codecs.avro import CODEC
from services.python.transports.http.asgi_bodies import serving_on_granian

serve = serving_on_granian(CODEC)
