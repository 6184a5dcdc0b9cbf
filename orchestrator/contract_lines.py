"""Lines of the process contract (`protos/process.md`) as they are heard: each becomes its type, or is refused.

What the ends print comes from programs that need not be ours. The types and the strict decoder belong to
`services.python.contract`; `strict_json` comes before it, as for all JSON from elsewhere.
"""

from __future__ import annotations

from typing import Any

from orchestrator.strict_json import parse_json
from services.python.contract.description import Description
from services.python.contract.ping_lines import PingDone
from services.python.contract.requester_lines import REQUESTER_LINES, Failed
from services.python.contract.responder_lines import Ready, Stats
from services.python.contract.strict import Line, read_line


def requesters(text: str) -> Line:
    """A requester's line; ValueError says what is wrong with it."""
    line: Line = _heard(REQUESTER_LINES, text, "requester")
    return line


def ready(text: str) -> Ready:
    """A responder's first line; ValueError as above."""
    line: Ready = _heard((Ready,), text, "responder")
    return line


def stats(text: str) -> Stats:
    """A responder's answer to `stats`; ValueError as above."""
    line: Stats = _heard((Stats,), text, "responder")
    return line


def pings(text: str) -> PingDone | Failed:
    """A ping's last line; ValueError as above."""
    line: PingDone | Failed = _heard((PingDone, Failed), text, "ping")
    return line


def description(text: str) -> Description:
    """What a host says of itself; ValueError as above."""
    line: Description = _heard((Description,), text, "host")
    return line


def _heard(kinds: tuple[type[Any], ...], text: str, writer: str) -> Any:
    try:
        raw = parse_json(text)
    except ValueError as error:
        raise ValueError(f"the {writer} printed something that is not JSON ({error}): {text!r:.200}") from error
    if not isinstance(raw, dict):
        raise ValueError(f"the {writer} printed something that is not a JSON object: {text!r:.200}")
    return read_line(kinds, raw, reader="orchestrator", writer=writer)
