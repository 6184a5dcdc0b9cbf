"""What a sceptic does to a report: single digits in every place where one is read, and ways around the comparison."""

from __future__ import annotations

import gzip
import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement
from orchestrator.report import in_text
from orchestrator.report.dataset import block, checked, made
from orchestrator.report.dataset.taken_apart import differences, texts_differ

EACH = 6  # digits changed in each place
CHART = re.compile(r'<script type="application/gzip">([^<]*)</script>')
BLOCK = re.compile(r'<script type="application/vnd\.orch\.run\+zip"[^>]*>[^<]*</script>\n')


def blanked(page: str) -> str:
    """The page with scripts and styles blank, every other letter at its place."""
    return re.sub(r"<(script|style)\b.*?</\1>", lambda of: " " * len(of[0]), page, flags=re.S)


def texts(page: str, pattern: str = r"") -> list[int]:
    """The places of digits in texts, within what `pattern` matches."""
    shown = blanked(page)
    parts = re.finditer(pattern, shown, re.S) if pattern else [re.match(r".*", shown, re.S)]
    found = []
    for part in parts:
        assert part is not None
        found += [part.start() + of.start() for of in re.finditer(r"\d(?=[^<>]*<)", part[0])]
    return found


def attributes(page: str, names: str) -> list[int]:
    """The places of digits in attributes of these names."""
    found = re.finditer(rf'\s(?:{names})="([^"]*)"', blanked(page))
    return [of.start(1) + place.start() for of in found for place in re.finditer(r"\d", of[1])]


PLACES = {
    "title of the page": lambda page: [
        of.start(1) + place.start()
        for of in re.finditer(r"<title>(.*?)</title>", page, re.S)
        for place in re.finditer(r"\w", of[1])
    ],
    "table cell": lambda page: texts(page, r"<td\b.*?</td>"),
    "first part": lambda page: texts(page, r'<main id="main">.*?</table>'),
    "any text": texts,
    "static picture": lambda page: texts(page, r"<svg\b.*?</svg>"),
    "shape of a picture": lambda page: attributes(page, "d|x|y|x1|x2|y1|y2|cx|cy|r|width|height|points|viewBox"),
    "tooltip and spoken text": lambda page: attributes(page, "title|alt|aria-label"),
    "link and colour": lambda page: attributes(page, "href|style|class|id"),
    "style sheet": lambda page: [
        of.start(1) + place.start()
        for of in re.finditer(r"<style\b[^>]*>(.*?)</style>", page, re.S)
        for place in re.finditer(r"\d", of[1])
    ],
}


def changed(page: str, place: int, rng: random.Random) -> str:
    digit = rng.choice([each for each in "0123456789" if each != page[place]])
    return page[:place] + digit + page[place + 1 :]


def with_changed_chart(page: str, rng: random.Random) -> str:
    of = rng.choice(list(CHART.finditer(page)))
    data = gzip.decompress(in_text.read(of[1])).decode()
    while True:
        other = changed(data, rng.choice([place.start() for place in re.finditer(r"\d", data)]), rng)
        try:
            is_other = json.loads(other) != json.loads(data)
        except ValueError:
            continue
        if is_other:
            return page[: of.start(1)] + in_text.written(gzip.compress(other.encode())) + page[of.end(1) :]


@pytest.fixture(scope="module")
def page(dataset) -> str:
    return made.bare_page(dataset)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_every_digit_that_is_read_is_found(page, place):  # of the title, which may have none, every letter
    rng = random.Random(place)
    places = PLACES[place](page)
    assert places
    for at in rng.choices(places, k=EACH):
        assert differences(changed(page, at, rng), page), page[at - 60 : at + 20]


@pytest.mark.slow
def test_every_digit_of_a_charts_data_is_found(page):
    rng = random.Random(1)
    for _ in range(EACH):
        assert differences(with_changed_chart(page, rng), page)


@pytest.mark.slow
def test_in_a_file_that_a_browser_saved_texts_labels_and_charts_are_found(page):
    rng = random.Random(2)
    for name in ("table cell", "first part", "any text", "static picture", "tooltip and spoken text"):
        for at in rng.choices(PLACES[name](page), k=EACH // 2):
            assert texts_differ(changed(page, at, rng), page), page[at - 60 : at + 20]
    assert texts_differ(with_changed_chart(page, rng), page)


def test_a_space_that_is_taken_out_between_numbers_is_found(page):
    assert differences("<p>1 <b>2</b></p>", "<p>1 <b>2</b></p>") == []
    (found,) = differences("<p>1<b>2</b></p>", "<p>1 <b>2</b></p>")
    assert (found.shown, found.recomputed) == ("'1'", "'1 '")
    assert differences("<p>1\n  <b>2</b></p>", "<p>1 <b>2</b></p>") == []


def test_a_tag_closed_at_once_and_a_line_of_a_script_are_found():
    assert differences("<b/>x", "<b></b>x")
    assert differences("<script>a // b\nc</script>", "<script>a // b c</script>")


def test_a_difference_at_the_end_of_a_long_text_is_shown():
    text = "word " * 100
    (found,) = differences(f"<p>{text}41 µs</p>", f"<p>{text}47 µs</p>")
    assert found.shown.endswith("41 µs")
    assert found.recomputed.endswith("47 µs")


def test_a_file_with_other_line_ends_is_the_same(report, text):
    report.write_bytes(text.replace("\n", "\r\n").encode())
    found = checked.check(block.read_page(report))
    assert (found.differences, found.is_as_written) == ((), True)


@pytest.mark.parametrize("way", ["moved", "styled", "followed"])
def test_a_data_block_that_stands_elsewhere_or_shows_something_is_refused(report, text, way):
    found = BLOCK.search(text)
    assert found is not None
    match way:
        case "moved":  # a screen of letters in place of the first part
            other = text.replace(found[0], "").replace('<main id="main">', f'<main id="main">{found[0]}')
        case "styled":
            other = text.replace(' id="dataset" ', ' id="dataset" style="display:block;position:fixed;inset:0" ')
        case _:
            other = text.replace(found[0], f"{found[0]}<p>It was 9 µs.</p>")
    report.write_text(other)
    with pytest.raises(InvalidMeasurement, match="is in another place, or has other attributes"):
        block.read_page(report)


def test_a_changed_sentence_of_another_programs_page_is_found_by_its_digest(report, dataset):
    older = replace(dataset, about=replace(dataset.about, program="0" * 64, orch="0.0.9"))
    page = block.with_block(made.bare_page(dataset), older.to_bytes())
    report.write_text(page)
    assert checked.check(block.read_page(report)).differences == ()
    report.write_text(page.replace(" sooner than ", " later than "))
    (found,) = checked.check(block.read_page(report)).differences
    assert found.shown == "another text than its own digest is of"


def saved(text: str) -> str:
    """As a browser saves it, as far as what marks it goes."""
    return text.replace("<html lang", "<!-- saved from url=(0022)http://localhost/x -->\n<html data-script='on' lang")


def test_calling_a_page_saved_by_a_browser_hides_no_changed_sentence(report: Path, text):
    report.write_text(saved(text))
    found = checked.check(block.read_page(report))
    assert (found.compared, found.differences) == ("texts and charts", ())
    report.write_text(saved(text).replace(" sooner than ", " later than "))
    assert any("later than" in each.shown for each in checked.check(block.read_page(report)).differences)


def test_what_sliders_say_is_the_scripts_in_a_file_that_a_browser_saved():
    written = '<div class="place" hidden><output id="map-1-rtt-said"></output><ul class="stacked"></ul></div>'
    saved = '<div class="place"><output id="map-1-rtt-said">30 ms</output><ul class="stacked"><li>7 ms</li></ul></div>'
    assert texts_differ(saved, written) == []
    assert differences(saved, written)
    assert texts_differ(saved.replace("</div>", "<p>5 ms</p></div>"), written)
