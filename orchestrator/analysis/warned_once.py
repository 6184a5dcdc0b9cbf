"""The warnings of a run as its report has them: those of repeated blocks are one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.results.manifest import REPEATED

_BLOCK = re.compile(re.escape(REPEATED).replace(re.escape("{}"), r"(\d+)"))


def warned_once(warnings: Sequence[str]) -> tuple[str, ...]:
    """The same warnings: those of repeated blocks as one, in the place of the first of them."""
    blocks = sorted({int(repeated[1]) for text in warnings if (repeated := _BLOCK.fullmatch(text))})
    return tuple(dict.fromkeys(_in_common(text, blocks) for text in warnings))


def _in_common(text: str, blocks: Sequence[int]) -> str:
    if (repeated := _BLOCK.fullmatch(text)) and len(blocks) > 1:
        named = words.listed([f"{block:,}" for block in blocks])
        return text.replace(f"block {repeated[1]} was", f"blocks {named} were").replace(" its ", " their ")
    return text
