"""What somebody judged of a protocol and nobody measures."""

from __future__ import annotations

from typing import Literal

from services.python.contract.strict import Part, part


@part
class Judgement(Part):
    """An answer that no measurement gives, and in a clause why it is that one."""

    answer: Literal["yes", "no", "in part"]
    why: str
