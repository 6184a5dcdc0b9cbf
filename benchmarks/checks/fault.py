"""A kind of error that a check is there for, in sizes from hardly there to gross."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tests.support.runs import Draft

Inject = Callable[[Draft, float, np.random.Generator], None]
Planned = Callable[[float], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One kind of error, graded. `percent` sizes are shares that are shown as such."""

    check: str
    what: str  # completes "finds ...": `{}` is where the size goes
    sizes: tuple[float, ...]
    inject: Inject
    found: Literal["warn", "fail"] = "warn"
    percent: bool = True
    planned: Planned = field(default=lambda _size: {})
    is_refereed: bool = False  # beside the turns of a load generator (`refereed`)

    def told(self, size: float) -> str:
        """The error with its size.

        >>> Fault(check="floor", what="the clock stops {} early", sizes=(0.1,), inject=print).told(0.1)
        'the clock stops 10 % early'
        """
        return self.what.format(f"{100 * size:g} %" if self.percent else f"{size:g}")
