"""What can differ between two cells in how their sockets are set; `factors` has it among all others."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.levels import Level

OF_THE_SOCKETS: tuple[Factor, ...] = (
    Factor(
        name="congestion",
        title="congestion control",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(
                value="system",
                words="the hosts' own congestion control",
                compared="the hosts' own congestion control",
                shown="as the hosts set it (system)",
            ),
            *(Level(value=v, words=f"congestion control {v}", compared=v, shown=v) for v in ("cubic", "reno", "bbr")),
        ),
        description="TCP's congestion control at both ends (cubic, reno, bbr), or the hosts' own (system)",
    ),
    Factor(
        name="nodelay",
        title="small segments",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(
                value="immediate",
                words="small segments sent at once (TCP_NODELAY)",
                compared="small segments sent at once",
                shown="sent at once (immediate)",
            ),
            Level(
                value="nagle",
                words="requests' small segments held back by Nagle's algorithm",
                compared="Nagle's algorithm",
                shown="requests' held back by Nagle's algorithm (nagle)",
            ),
        ),
        description="Whether the requester sends small segments at once (immediate), or holds them back while others are not"
        " acknowledged (nagle); the responder always sends at once",
    ),
)
