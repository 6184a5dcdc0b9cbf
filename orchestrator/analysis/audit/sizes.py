"""What a message takes when encoded: by the encoders in use, which differ in spaces, escapes and widths of numbers."""

from __future__ import annotations

import json
from typing import Any


def text_bytes(value: Any) -> int:
    """Bytes of all keys and texts of a message: no self-describing codec can take less without knowing them beforehand."""
    if isinstance(value, dict):
        return sum(text_bytes(k) + text_bytes(v) for k, v in value.items())
    if isinstance(value, list):
        return sum(text_bytes(v) for v in value)
    return len(value.encode()) if isinstance(value, str) else 0


def encoded_sizes(codec: str, message: dict[str, Any]) -> dict[str, int]:
    """Sizes in bytes by variant of the codec. Text beyond ASCII is UTF-8 to most JSON encoders, and escapes to some."""
    if codec == "json":
        variants: dict[str, int] = {}
        for number, values in (("", message), (" and whole numbers without .0", _whole(message))):
            for text, ascii_only in (("", False), (" with escapes", True)):
                for name, form in (
                    ("JSON with spaces", {}),
                    ("compact JSON", {"separators": (",", ":")}),
                    ("JSON with indent 2", {"indent": 2}),
                    ("JSON with indent 4", {"indent": 4}),
                ):
                    size = len(json.dumps(values, ensure_ascii=ascii_only, **form).encode())
                    if size not in variants.values():
                        variants[name + text + number] = size
        return variants
    if codec == "cbor":
        import cbor2

        return {"CBOR": len(cbor2.dumps(message)), "canonical CBOR": len(cbor2.dumps(message, canonical=True))}
    import msgpack

    return {
        "MessagePack": len(msgpack.packb(message)),
        "MessagePack in single precision": len(msgpack.packb(message, use_single_float=True)),
    }


def _whole(value: Any) -> Any:
    """The message with 1.0 as 1, as JavaScript and Go print it."""
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
