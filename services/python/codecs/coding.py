"""What compresses bodies where a trial says so: the knob `compression`, for whatever carries bodies by themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from services.python.codecs import gzipped
from services.python.contract.strict import Part, part

ZSTD = "zstd"
KNOBS: Mapping[str, tuple[str, ...]] = {"compression": ("none", gzipped.GZIP, ZSTD)}
SETTINGS: Mapping[str, str] = {**gzipped.SETTINGS, f"compression: {ZSTD}": "libzstd's level 3, bodies of any size"}
PACKAGES = ("zstandard",)


@part
class Coding(Part):
    """How bodies are compressed, `name` as Content-Encoding has it; `unpack` raises ValueError for what it did not pack."""

    name: str
    pack: Callable[[bytes], bytes]
    unpack: Callable[[bytes], bytes]


def coding(knobs: Mapping[str, str]) -> Coding | None:
    """How bodies are to be compressed; None where they are not."""
    name = knobs.get("compression", "none")
    return None if name == "none" else named(name)


def named(name: str) -> Coding:
    """Return the coding of that name; ValueError for one that there is not."""
    if name == gzipped.GZIP:
        return Coding(name=gzipped.GZIP, pack=gzipped.pack, unpack=gzipped.unpack)
    if name == ZSTD:
        from services.python.codecs.zstd import Contexts

        contexts = Contexts()
        return Coding(name=ZSTD, pack=contexts.pack, unpack=contexts.unpack)
    raise ValueError(f"no coding {name}")
