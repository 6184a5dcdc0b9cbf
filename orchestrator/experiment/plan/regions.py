"""Round trips between real zones, each with its source: what `lab` emulates when the file gives no `rtt`."""

from __future__ import annotations

from orchestrator.experiment.plan.plan import Link

_STUDY = "ping between f1-micro instances, mean of the study 'Python Flask REST against Python gRPC by placement'"

_PROFILES: dict[frozenset[str], Link] = {
    frozenset({"us-central1"}): Link(rtt_ms=1.489, source=f"{_STUDY}: same zone of us-central1"),
    frozenset({"us-central1", "us-west1"}): Link(rtt_ms=35.594, source=f"{_STUDY}: us-central1 to us-west1"),
}

HOME_ZONE = "us-central1-a"
AWAY_ZONE = "us-west1-a"


def region_of(zone: str) -> str:
    """The region of a zone.

    >>> region_of("us-central1-a")
    'us-central1'
    """
    region, separator, letter = zone.rpartition("-")
    return region if separator and len(letter) == 1 else zone


def profile(from_zone: str, to_zone: str) -> Link | None:
    """The published distance between two zones; None where none was found that can be attributed."""
    return _PROFILES.get(frozenset({region_of(from_zone), region_of(to_zone)}))


def known_pairs() -> tuple[str, ...]:
    """The pairs with a profile, for messages."""
    return tuple(" - ".join(sorted(pair)) if len(pair) > 1 else f"within {next(iter(pair))}" for pair in _PROFILES)
