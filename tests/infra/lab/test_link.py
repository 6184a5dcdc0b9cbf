"""Calibration, with a link that adds a known share of its own, and a ping that reads it off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from orchlab import link
from orchlab.errors import LabError
from orchlab.paths import End, OneWay, Wanted, ZonePair

NEAR = End(name="near", netns="orch-x-near", address="198.18.0.10", zone="a", role="both")
FAR = End(name="far", netns="orch-x-far", address="198.18.0.11", zone="b", role="both")
BESIDE = End(name="beside", netns="orch-x-beside", address="198.18.0.12", zone="a", role="both")


class FakeLink:
    """Adds `own_ms` to every round trip; remembers what was set, in order."""

    kind = "user-space"
    scheduler: str | None = "fifo"
    emulator_pid: int | None = None

    def __init__(self, own_ms: float) -> None:
        self.own_ms = own_ms
        self.settings: list[Mapping[tuple[str, str], OneWay]] = []

    def start(self) -> None: ...

    def detach(self) -> None: ...

    def set_ways(self, ways: Mapping[tuple[str, str], OneWay]) -> None:
        self.settings.append(ways)

    def ping(self, one: End, other: End) -> list[float]:
        there, back = self.settings[-1][one.name, other.name], self.settings[-1][other.name, one.name]
        return [(there.delay_ns + back.delay_ns) / 1e6 + self.own_ms] * 15


def calibrated(fake: FakeLink, wanted: Mapping[ZonePair, Wanted], ends: list[End]) -> dict[ZonePair, dict[str, object]]:
    return {(path["from_zone"], path["to_zone"]): path for path in link.calibrate(fake, ends, wanted, fake.ping)}


def test_the_links_own_share_is_measured_and_taken_off() -> None:
    fake = FakeLink(own_ms=0.6)
    path = calibrated(fake, {("a", "b"): Wanted(rtt_ms=35)}, [NEAR, FAR])["a", "b"]
    assert path["bias_ms"] == pytest.approx(0.6)
    assert path["achieved"] == {"rtt_ms": {"min": 35.0, "median": 35.0, "p95": 35.0, "max": 35.0}, "count": 15}


def test_chance_is_switched_on_after_calibrating() -> None:
    fake = FakeLink(own_ms=0.2)
    calibrated(fake, {("a", "b"): Wanted(rtt_ms=35, jitter_ms=4, loss=0.1)}, [NEAR, FAR])
    *calibrating, final = fake.settings
    assert all(way.loss == 0 and way.jitter_ns == 0 for ways in calibrating for way in ways.values())
    assert all(way.loss == 0.1 and way.jitter_ns == 2_000_000 for way in final.values())


def test_each_pair_of_zones_has_its_own_share() -> None:
    fake = FakeLink(own_ms=0.3)
    paths = calibrated(fake, {("a", "a"): Wanted(rtt_ms=1.5), ("a", "b"): Wanted(rtt_ms=35)}, [NEAR, BESIDE, FAR])
    assert set(paths) == {("a", "a"), ("a", "b")}
    assert paths["a", "a"]["wanted"] == {"rtt_ms": 1.5, "jitter_ms": 0.0, "rate_mbit": 1000.0, "loss": 0.0}


def test_two_requesters_stand_apart_as_wanted_and_nobody_pings_between_them() -> None:
    fake = FakeLink(own_ms=0.3)
    near, far = replace(NEAR, role="requester"), replace(FAR, role="requester")
    answers = replace(BESIDE, zone="c", role="responder")
    paths = calibrated(fake, {("a", "b"): Wanted(rtt_ms=35), ("a", "c"): Wanted(rtt_ms=5)}, [near, far, answers])
    assert set(paths) == {("a", "c"), ("b", "c")}
    assert fake.settings[-1]["near", "far"].delay_ns == 17_500_000


def test_a_spoiled_measurement_is_repeated() -> None:
    """The first ping meets a busy machine and reads 10 ms too much; later ones put it right."""
    fake = FakeLink(own_ms=0.3)
    spoil = iter([10.0])

    def ping(one: End, other: End) -> list[float]:
        extra = next(spoil, 0.0)
        return [time_ms + extra for time_ms in fake.ping(one, other)]

    (path,) = link.calibrate(fake, [NEAR, FAR], {("a", "b"): Wanted(rtt_ms=35)}, ping)
    assert path["bias_ms"] == pytest.approx(0.3)


@pytest.mark.parametrize("text", ["", "[]", '{"run_id": "x"}', '{"unknown": 1}'])
def test_a_description_that_cannot_be_parsed_is_a_wrong_call(text: str) -> None:
    read: Callable[[str], object] = link.spec_from_json
    with pytest.raises(LabError, match="cannot parse") as caught:
        read(text)
    assert caught.value.exit_code == 2
