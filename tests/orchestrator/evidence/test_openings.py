"""Times of opening connections that no clock gives are refused."""

from __future__ import annotations

import pytest

from services.python.contract.requester_lines import Opening
from services.python.contract.strict import decode


@pytest.mark.parametrize("took", [-1.0, float("nan"), float("inf"), 1e308])
def test_times_that_no_clock_gives_are_refused(took: float) -> None:
    with pytest.raises(ValueError, match="connect_s"):
        decode(Opening, {"connections": 1, "connect_s": took})
