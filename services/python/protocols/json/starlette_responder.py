"""JSON answered by Starlette alone; `serve` as in `serve.responder`."""

from __future__ import annotations

from services.python.codecs.json import CODEC
from services.python.transports.http.starlette_bodies import serving

serve = serving(CODEC)
