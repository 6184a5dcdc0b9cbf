from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from orchestrator.report import palette

THEMES = pytest.mark.parametrize("theme", [palette.LIGHT, palette.DARK], ids=["light", "dark"])

# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
SIGHT = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, "contrast ratio"."""
    light, dark = sorted((float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def oklab(rgb: np.ndarray) -> np.ndarray:
    """Ottosson (2020)."""
    to_lms = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    to_lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return to_lab @ np.cbrt(to_lms @ np.clip(rgb, 0, 1))


@THEMES
def test_series_stand_out_from_the_page(theme):
    for number in range(palette.SERIES):
        assert contrast(theme[f"series-{number}"], theme["paper"]) >= 3, number


@THEMES
@pytest.mark.parametrize("mark", ["floor-ping", "floor-tcp", "ink", "muted", "fail"])
def test_marks_of_floors_stand_out_too(theme, mark):
    assert contrast(theme[mark], theme["paper"]) >= 3


@THEMES
@pytest.mark.parametrize("text", ["ink", "muted", "link", "pass", "warn", "fail", "unsure"])
@pytest.mark.parametrize("ground", ["paper", "raised"])
def test_text_can_be_read(theme, text, ground):
    assert contrast(theme[text], theme[ground]) >= 4.5


@THEMES
@pytest.mark.parametrize("sight", list(SIGHT))
def test_no_two_series_look_alike_to_colour_blind_readers_either(theme, sight):
    seen = [oklab(SIGHT[sight] @ linear(theme[f"series-{number}"])) for number in range(palette.SERIES)]

    # 0.02 is about a just noticeable difference.
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 0.06


def test_beyond_eight_stacks_the_line_style_tells_them_apart():
    looks = {(palette.series(number), palette.dash(number)) for number in range(32)}

    assert len(looks) == 32


def test_paper_is_always_light():
    dark_rules = [line for line in palette.css().splitlines() if palette.DARK["paper"] in line]
    assert dark_rules
    assert all(line.startswith("@media screen") for line in dark_rules)
