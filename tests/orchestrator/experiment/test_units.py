import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.experiment.read import units


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60s", 60), ("45m", 2700), ("2h", 7200), ("500ms", 0.5), ("0s", 0), ("1.5 s", 1.5), ("20us", 2e-5)],
)
def test_a_duration_carries_its_unit(text: str, seconds: float) -> None:
    assert units.DURATION.number(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("parse", "value", "message"),
    [
        (units.parse_size, "117", "'117' is not a size: write it with its unit, like 1.58 MB, 117 B or 64 KiB"),
        (units.parse_size, "3 mb", "'3 mb' has no unit of size: known are B, kB, KB, MB, GB, KiB, MiB, GiB, as in"),
        (units.parse_size, "1.5 B", "'1.5 B' is not a whole number of bytes"),
        (units.parse_size, "-1 B", "'-1 B' is negative"),
        (units.parse_size, {"a": 1}, "this is not a size"),
        (units.DURATION.number, 60, "'60' is not a duration: write it with its unit, like 60s, 45m, 2h or 500ms"),
        (units.parse_share, "101 %", "'101 %' is over 100 %: write at most 100 %"),
        (units.parse_margin, 5, "'5' is not a margin: write it with its unit, like 5 %"),
        (units.parse_margin, True, "'true' is not a margin: write it with its unit, like 5 %"),
        (units.parse_margin, "0 %", "'0 %' is not a margin that a measurement can resolve"),
    ],
)
def test_what_has_no_unit_is_refused_with_an_example(parse: object, value: object, message: str) -> None:
    assert callable(parse)
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is compared
        parse(value)
    assert str(refused.value).startswith(message)


@given(st.integers(min_value=0, max_value=2**40))
def test_a_size_survives_being_written_and_read(size: int) -> None:
    assert units.parse_size(units.format_size(size)) == size


@given(st.floats(min_value=1e-3, max_value=1e6))
def test_a_rate_survives_being_written_and_read(per_s: float) -> None:
    assert units.RATE.number(units.format_rate(per_s)) == pytest.approx(per_s)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "250 ms"),
        (12.34, "12.3 s"),
        (750, "12 min 30 s"),
        (7500, "2 h 5 min"),
    ],
)
def test_durations_read_as_people_say_them(seconds: float, text: str) -> None:
    assert units.format_duration(seconds) == text
