"""CBOR answered by FastAPI, without models; `serve` as in `serve.responder`."""

from __future__ import annotations

from services.python.codecs.cbor import CODEC
from services.python.transports.http.fastapi_bodies import serving

serve = serving(CODEC)
