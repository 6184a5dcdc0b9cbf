"""Where the two ends stand, and how far apart: a placement, or a grid of distances."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from orchestrator.experiment.model.base import Name, Strict, Zone
from orchestrator.experiment.model.host_rules import MOST_INITIAL_WINDOW, MOST_RTT_S
from orchestrator.experiment.providers import EMULATING
from orchestrator.experiment.read.fields import BitRate, Duration, OneOrMany, Share

_EMULATED = " and ".join(EMULATING)  # who makes a distance as wanted
_EACH = "of a list, each is a placement of its own"

LINK_KEYS = ("rtt", "jitter", "rate", "loss", "initial_window")
"""What a link can be asked for, in the order in which names of placements tell them."""


class LinkSpec(Strict):
    """The distance between two zones. Each value of a list, or combination of several, makes a placement."""

    rtt: Annotated[
        OneOrMany[Annotated[Duration, Field(le=MOST_RTT_S)]] | None,
        Field(description=f"{_EMULATED}: the round trip wanted between the two zones; {_EACH}."),
    ] = None
    jitter: Annotated[
        OneOrMany[Annotated[Duration, Field(le=MOST_RTT_S)]] | None,
        Field(description=f"{_EMULATED}: the round trip varies evenly by up to so much either way; {_EACH}."),
    ] = None
    rate: Annotated[
        OneOrMany[Annotated[BitRate, Field(gt=0, le=1_000_000_000)]] | None,
        Field(description=f"{_EMULATED}: the rate of each direction; {_EACH}."),
    ] = None
    loss: Annotated[
        OneOrMany[Annotated[Share, Field(lt=1)]] | None,
        Field(description=f"{_EMULATED}: the share of packets lost in each direction; {_EACH}."),
    ] = None
    initial_window: Annotated[
        OneOrMany[Annotated[int, Field(ge=1, le=MOST_INITIAL_WINDOW)]] | None,
        Field(
            description=f"{_EMULATED}: TCP's initial congestion window in both directions, in segments; the kernel's own,"
            f" 10 on Linux, unless given; {_EACH}."
        ),
    ] = None


class PlacementSpec(LinkSpec):
    """Where the two ends stand. `from` is the requester's zone, `to` the responder's."""

    name: Annotated[Name, Field(description="local, same-zone, cross-region, or a name of your own.")]
    from_zone: Annotated[Zone | None, Field(alias="from", description="The requester's zone, e.g. us-central1-a.")] = (
        None
    )
    to_zone: Annotated[Zone | None, Field(alias="to", description="The responder's zone, e.g. us-west1-a.")] = None


class ZonesSpec(Strict):
    """A pair of zones: `from` is the requester's, `to` the responder's."""

    from_zone: Annotated[Zone, Field(alias="from", description="The requester's zone, e.g. us-central1-a.")]
    to_zone: Annotated[Zone, Field(alias="to", description="The responder's zone, e.g. us-west1-a.")]


class DistanceSpec(LinkSpec):
    """Distances measured in one run: every combination of the values given, or every pair of `zones`."""

    zones: Annotated[
        OneOrMany[ZonesSpec] | None,
        Field(description="Pairs of zones, each as far apart as it is; in place of `rtt`."),
    ] = None

    @model_validator(mode="after")
    def _one_way(self) -> DistanceSpec:
        if (self.rtt is None) == (self.zones is None):
            raise ValueError("give either `rtt`, such as [1ms, 20ms, 50ms], or `zones`, pairs of `from` and `to`")
        return self
