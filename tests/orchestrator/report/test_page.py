from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import get_args

import plotly.offline
import pytest

import orchestrator.report
from orchestrator.errors import MissingError
from orchestrator.report import page
from orchestrator.report.figures.base import figure
from orchestrator.report.groups import anchor
from orchestrator.statistics.terms import Standing

ASSETS = Path(orchestrator.report.__file__).parent / "assets"


def test_the_chart_library_is_the_one_that_the_installed_plotly_was_made_for():
    library = gzip.decompress((ASSETS / "plotly-basic.min.js.gz").read_bytes())
    assert f"v{plotly.offline.get_plotlyjs_version()}" in library[:200].decode()


def test_the_chart_library_is_what_its_readme_says():
    packed = (ASSETS / "plotly-basic.min.js.gz").read_bytes()
    readme = (ASSETS / "README.md").read_text()
    assert hashlib.sha256(gzip.decompress(packed)).hexdigest() in readme
    assert plotly.offline.get_plotlyjs_version() in readme
    assert packed[4:8] == bytes(4), "a time stamp in the gzip header makes every packing another file"
    assert "MIT" in (ASSETS / "plotly-LICENSE.txt").read_text()


def test_a_place_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(MissingError, match=r"page\.html cannot be used"):
        page.write_page("", tmp_path / "file" / "page.html")


def test_what_a_reader_cannot_see_stands_as_its_code():
    text = page.render_page("base.html", title="a\u202egpj.exe\u200b\u2066\x85 5\u202f%")
    assert r"a\u202egpj.exe\u200b\u2066\u0085 5" in text
    assert "\u202f%" in text, "our own narrow space stays"


def test_charts_show_it_too():
    packed = figure("a", "b", [], {"title": {"text": "a\u202eb"}}, 100).packed
    document = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert document["layout"]["title"]["text"] == r"a\u202eb"


@pytest.mark.parametrize("standing", get_args(Standing))
def test_no_rule_for_something_else_hides_a_verdict(standing):
    """`more` was hidden, as the hint to scroll a table had that class."""
    rules = re.findall(r"([^{}]+)\{[^{}]*display: none", (ASSETS / "page.css").read_text())
    assert rules
    selectors = [one.split()[-1] for rule in rules for one in rule.split(",") if one.split()]
    assert f".{anchor(standing)}" not in selectors
