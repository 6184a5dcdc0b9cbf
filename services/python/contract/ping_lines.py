"""What a ping reads, and what it prints at its end: `PingDone`, or `requester_lines.Failed`."""

from __future__ import annotations

from typing import Annotated, Literal

from services.python.contract.counters import Clocks
from services.python.contract.lines import VERSION, Count, Seconds
from services.python.contract.strict import Between, Line, part


@part
class Ping(Line):
    """How a host pings another one, the only line on the stdin of a ping.

    `size`: bytes of ICMP payload. `count` echoes go one at a time, `interval_s` after each other where none is late.
    """

    address: str
    record: str
    count: Annotated[int, Between(1, 65535)] = 20
    interval_s: Seconds = 0.01
    size: Annotated[int, Between(0, 65499)] = 56
    timeout_s: Seconds = 1.0
    contract: Literal[2] = VERSION
    type: Literal["ping"] = "ping"


@part
class PingDone(Line):
    """What came of a ping. `min_ms` and `avg_ms` are null when nothing was received."""

    method: Literal["icmp-datagram", "icmp-raw"]
    sent: Count
    received: Count
    min_ms: float | None
    avg_ms: float | None
    anchor: Clocks | None = None
    anchor_end: Clocks | None = None
    contract: Literal[2] = VERSION
    type: Literal["done"] = "done"
