"""Texts of a decision map: where there is room for them, and what the legend says."""

from __future__ import annotations

import re

import numpy as np
import pytest

from orchestrator.report.static.drawing import WIDTH_PX
from orchestrator.report.static.map_drawing import ACROSS, UP, Ground, MapDrawing, Mark, lattice, map_svg
from orchestrator.report.static.map_room import Room, size_of
from orchestrator.report.static.svg import width_of

BOX = (0.0, 0.0, 100.0, 100.0)


def drawn(*marks: Mark, apart: float = 0.0) -> str:
    """A map with one ground; the slowest takes up to so many ms more."""
    return map_svg(
        MapDrawing(
            slug="still",
            label="A map",
            said="It does not matter.",
            rtt_range=(1.0, 100.0),
            size_range=(100.0, 1e6),
            codes=np.zeros((ACROSS, UP), dtype=np.int64),
            apart=apart * np.linspace(0.01, 1, ACROSS * UP).reshape(ACROSS, UP),
            grounds=(Ground(code=0, colours=(), hatching=0, mark="=", meaning="does not matter: all within 10 %"),),
            marks=marks,
        )
    )


def test_a_text_takes_the_first_place_that_is_free() -> None:
    room = Room(box=BOX)
    room.take(50, 50, 10, 10)
    assert room.first([(50, 55), (50, 40)], 20, 10) == (50, 40)
    assert room.first([(50, 40), (50, 70)], 20, 10) == (50, 70)


def test_a_text_stays_within_the_map() -> None:
    assert Room(box=BOX).first([(5, 50), (95, 50), (30, 50)], 20, 10) == (30, 50)


def test_the_roomiest_place_is_the_one_furthest_from_others_and_edges() -> None:
    room = Room(box=BOX)
    room.take(20, 50, 10, 10)
    assert room.most([(25, 50), (60, 50), (89, 50)], 20, 10) == (60, 50)
    assert len(room.taken) == 2


def test_errors_of_neighbours_stand_apart() -> None:
    marks = [Mark(rtt=rtt, size=10_000, is_sealed=True, said=f"{rtt:g} %") for rtt in (10.0, 10.5, 11.0)]
    said = {mark.said for mark in marks}
    texts = re.findall(r'<text x="([\d.]+)" y="([\d.]+)">([^<]*)</text>', drawn(*marks))
    places = [(float(x), float(y), *size_of(words, 11)) for x, y, words in texts if words in said]
    assert len(places) == 3
    for number, (x, y, wide, high) in enumerate(places):
        for other_x, other_y, other_wide, other_high in places[number + 1 :]:
            assert abs(x - other_x) >= (wide + other_wide) / 2 or abs(y - other_y) >= (high + other_high) / 2


@pytest.mark.parametrize(
    ("marks", "apart", "said", "unsaid"),
    [
        ((Mark(rtt=10, size=1000),), 0.0, ["measured"], ["kept from the fit", "takes this much longer"]),
        ((Mark(rtt=10, size=1000, is_sealed=True, said="3 %"),), 0.0, ["kept from the fit"], [">measured<"]),
        ((), 5.0, ["takes this much longer"], ["measured", "kept from the fit"]),
    ],
)
def test_the_legend_says_what_is_there_and_nothing_else(
    marks: tuple[Mark, ...], apart: float, said: list[str], unsaid: list[str]
) -> None:
    found = drawn(*marks, apart=apart)
    assert all(words in found for words in said)
    assert not any(words in found for words in unsaid)


def test_no_line_of_the_legend_is_wider_than_the_picture() -> None:
    found = drawn(Mark(rtt=10, size=1000), Mark(rtt=20, size=1000, is_sealed=True, said="3 %"), apart=5.0)
    for x, said in re.findall(r'<text x="(56|6)" y="[\d.]+"[^>]*>([^<]*)</text>', found):
        assert float(x) + width_of(said) <= WIDTH_PX


def test_each_piece_of_a_line_says_what_it_is() -> None:
    valley = np.tile(np.abs(np.linspace(-1, 1, UP)) * 8 + 0.1, (ACROSS, 1))
    found = map_svg(
        MapDrawing(
            slug="still",
            label="A map",
            said="It depends.",
            rtt_range=(1.0, 100.0),
            size_range=(100.0, 1e6),
            codes=np.zeros((ACROSS, UP), dtype=np.int64),
            apart=valley,
            grounds=(),
            marks=(),
        )
    )
    said = re.findall(r">([\d.]+) ms</text>", found)
    assert said
    assert all(said.count(level) == 2 for level in said)


def test_lattice_has_the_middles_of_equal_parts() -> None:
    assert lattice((1.0, 100.0), 2) == pytest.approx([10**0.5, 10**1.5])
