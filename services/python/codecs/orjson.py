"""JSON as orjson writes and reads it: the same messages as with the standard library."""

from __future__ import annotations

import orjson

from services.python.codecs.base import Coder, expect_mapping
from services.python.codecs.json import json_codec

CODEC = json_codec(Coder(write=orjson.dumps, read=lambda body: expect_mapping(orjson.loads(body))))
"""What it has no word for (NaN) it writes as null, which is found out when the message is read again."""
