"""Quantities as people read them: one module for terminal, report and comparisons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from orchestrator import quantities


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0.10944, "109 µs"),
        (0.99996, "1 ms"),  # never 1e+03 µs
        (999.96, "1 s"),
        (1234567.0, "1,230 s"),
        (3.7, "3.7 ms"),
        (0.0, "0 µs"),
    ],
)
def test_a_time_has_three_digits_and_the_unit_that_reads_best(milliseconds, text):
    assert quantities.ms(milliseconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0442, "1.04"), (10.44, "10.4"), (250.4, "250"), (20819.4, "20,819"), (0.0038, "0.0038"), (0.296, "0.30")],
)
def test_a_factor_has_two_significant_digits_or_more(value, text):
    assert quantities.factor(value) == text
    assert quantities.ratio(value) == f"{text}×"


@pytest.mark.parametrize(
    ("share", "change", "off", "difference"),
    [
        (-0.034, "-3 %", "3.4 %", "-3.4 %"),
        (0.51, "+51 %", "51 %", "51 %"),
        (1.5, "+150 %", "150 %", "a factor of 2.5"),
        (9.0, "+900 %", "900 %", "a factor of 10.0"),
        (9.4, "10.4 times", "10.4 times", "a factor of 10.4"),
        (172.68, "174 times", "174 times", "a factor of 174"),
        (17268.0, "17,269 times", "17,269 times", "a factor of 17,269"),
    ],
)
def test_far_more_is_so_many_times_and_no_per_cent_of_five_digits(share, change, off, difference):
    assert quantities.change(share) == change
    assert quantities.off(share) == off
    assert quantities.difference(share) == difference


def test_a_bound_is_not_rounded_across_what_matters():
    assert quantities.bounds((0.9538, 0.9649)) == ("0.954", "0.96")
    assert quantities.bounds((0.97, 1.0496)) == ("0.97", "1.0496")
    assert quantities.bounds((0.97, 1.0502)) == ("0.97", "1.0502")
    assert quantities.bounds((0.97, 1.0502), margin=0.1) == ("0.97", "1.05")
    assert quantities.bounds((0.97, 1.05)) == ("0.97", "1.05")


def test_two_bounds_that_differ_are_shown_to():
    assert quantities.bounds((0.499, 0.5012)) == ("0.499", "0.501")
    assert quantities.bounds((12.81, 12.84)) == ("12.81", "12.84")
    assert quantities.bounds((0.03801, 0.03809)) == ("0.038", "0.0381")
    assert quantities.bounds((0.5, 0.5)) == ("0.50", "0.50")


@given(
    some.floats(min_value=1e-3, max_value=1e3),
    some.floats(min_value=1.0, max_value=10.0),
    some.sampled_from([0.05, 0.1]),
)
def test_printed_bounds_say_what_the_bounds_say(low, width, margin):
    interval = (low, low * width)
    shown = [float(text.replace(",", "")) for text in quantities.bounds(interval, margin)]
    assert shown == sorted(shown)
    for bound, text in zip(interval, shown, strict=True):
        for limit in (1.0, 1 + margin, 1 / (1 + margin)):
            assert abs(bound / limit - 1) < 1e-9 or (bound > limit) == (text > limit)


def test_a_bound_that_excludes_1_is_not_rounded_to_1():
    assert quantities.bounds((0.9971, 0.99996)) == ("0.997", "0.99996")
    assert quantities.bounds((1.0, 1.0)) == ("1.00", "1.00")


@pytest.mark.parametrize(("per_s", "text"), [(5082.4, "5,082"), (12.53, "12.5"), (0.25, "0.25"), (404.0, "404")])
def test_a_rate_has_three_digits_or_more(per_s, text):
    assert quantities.rate(per_s) == text


def test_an_interval_wider_than_a_factor_of_ten_is_said_to_be_so():
    assert not quantities.is_vague((1.0, 10.0))
    assert quantities.is_vague((1.0, 10.1))
    assert not quantities.is_vague(None)


def test_no_line_ends_between_a_number_and_its_unit():
    assert (
        quantities.unbroken("57 % less, 61 µs of 1.5 s; 3 blocks")
        == "57\u00a0% less, 61\u00a0µs of 1.5\u00a0s; 3 blocks"
    )


def test_bounds_that_say_nothing_are_capped_and_those_of_a_clear_difference_are_not():
    assert quantities.bounds((1.6e-05, 290_231.0)) == ("under 0.01", "over 100")
    assert quantities.bounds((0.004, 1.2)) == ("under 0.01", "1.20")
    assert quantities.bounds((0.001, 0.002)) == ("0.001", "0.002")
    assert quantities.bounds((150.0, 290_231.0)) == ("150", "290,231")
