"""The warnings of a run as its report has them: what differs in a name or a number alone is said once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.results.manifest import REPEATED, SHARED, SHARED_WITH

_DISTURBS = f"{SHARED}, which disturbs both: "
_BLOCK = re.compile(re.escape(REPEATED).replace(re.escape("{}"), r"(\d+)"))


def warned_once(warnings: Sequence[str]) -> tuple[str, ...]:
    """The same warnings: those of other measurements as one with their number, those of repeated blocks as one.

    Each stands where the first of its kind did; manifest.json has all as they were.
    """
    others = [text.removeprefix(_DISTURBS) for text in warnings if text.startswith(_DISTURBS)]
    blocks = sorted({int(found[1]) for text in warnings if (found := _BLOCK.fullmatch(text))})
    return tuple(dict.fromkeys(_in_common(text, others, blocks) for text in warnings))


def _in_common(text: str, others: Sequence[str], blocks: Sequence[int]) -> str:
    if text.startswith(_DISTURBS) and len(others) > 1:
        return (
            f"{SHARED_WITH} {len(others):,} other measurements, which disturbs all of them: "
            f"the first was {others[0]}, the last {others[-1]}; manifest.json names each"
        )
    if (found := _BLOCK.fullmatch(text)) and len(blocks) > 1:
        named = words.listed([f"{block:,}" for block in blocks])
        return text.replace(f"block {found[1]} was", f"blocks {named} were").replace(" its ", " their ")
    return text
