"""The user-space link's arithmetic: when a packet arrives, or that it does not."""

from __future__ import annotations

from orchlab.emulator import Direction


def path(**settings: float) -> Direction:
    made = Direction(out=-1, order=0)
    made.set(**{"delay_ns": 0, "jitter_ns": 0, "ns_per_byte": 8.0, "buffer_ns": 1_000_000, "loss": 0.0} | settings)  # type: ignore[arg-type]
    return made


def test_a_path_that_nobody_set_loses_everything() -> None:
    assert Direction(out=-1, order=0).due_ns(0, 100) is None


def test_a_packet_takes_its_time_on_the_wire_and_the_delay() -> None:
    assert path(delay_ns=17_500_000).due_ns(1000, 1460) == 1000 + 1460 * 8 + 17_500_000


def test_packets_queue_for_the_wire_but_not_for_the_delay() -> None:
    way = path(delay_ns=1_000_000)
    first, second = way.due_ns(0, 1000), way.due_ns(0, 1000)
    assert (first, second) == (1_008_000, 1_016_000)


def test_an_idle_wire_is_free_at_once() -> None:
    way = path()
    way.due_ns(0, 1000)
    assert way.due_ns(1_000_000_000, 1000) == 1_000_008_000


def test_a_full_buffer_drops() -> None:
    way = path(buffer_ns=10_000)
    arrivals = [way.due_ns(0, 1000) for _ in range(5)]
    assert arrivals == [8_000, 16_000, None, None, None]


def test_jitter_stays_in_bounds_and_packets_in_order() -> None:
    way = path(delay_ns=10_000_000, jitter_ns=5_000_000, ns_per_byte=0.0)
    due = [way.due_ns(sent_ns, 100) for sent_ns in range(0, 100_000_000, 100_000)]
    arrivals = [time_ns for time_ns in due if time_ns is not None]
    assert len(arrivals) == 1000
    assert arrivals == sorted(arrivals)
    late = [arrival - 100_000 * index for index, arrival in enumerate(arrivals)]
    assert min(late) >= 5_000_000
    assert max(late) <= 15_000_000
    assert max(late) > min(late)
