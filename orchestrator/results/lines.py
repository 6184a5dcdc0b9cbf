"""The lines of both ends as the journal keeps them: of the same types as when they were heard, read as strictly.

A run folder may come from elsewhere. `shapes.decode` reads journal and manifest, and hands what is a line of the contract
to the contract's own decoder: that one takes no "1" for 1, and there is one definition of each line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import PlainValidator

from services.python.contract.description import Description
from services.python.contract.ping_lines import PingDone
from services.python.contract.requester_lines import Done
from services.python.contract.responder_lines import Ready, Stats
from services.python.contract.strict import decode


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a trial gave no samples: where it ended, and a short word for why.

    The journal also has a sentence, and what the processes wrote last; the manifest has neither.
    """

    stage: str
    kind: str
    message: str = ""
    last_words: str = ""


def _done(raw: object) -> Done:
    return decode(Done, raw)


def _answer(raw: object) -> Done | PingDone | None:
    """The last line of a requester, or of a ping, which alone names its `method`."""
    if raw is None:
        return None
    is_ping = isinstance(raw, dict) and "method" in raw
    return decode(PingDone, raw) if is_ping else decode(Done, raw)


def _stats(raw: object) -> Stats | None:
    return None if raw is None else decode(Stats, raw)


def _ready(raw: object) -> Ready | None:
    return None if raw is None else decode(Ready, raw)


def _description(raw: Any) -> Description:
    return decode(Description, raw)


KeptDone = Annotated[Done, PlainValidator(_done)]
KeptAnswer = Annotated[Done | PingDone | None, PlainValidator(_answer)]
KeptStats = Annotated[Stats | None, PlainValidator(_stats)]
KeptReady = Annotated[Ready | None, PlainValidator(_ready)]
KeptDescription = Annotated[Description, PlainValidator(_description)]
