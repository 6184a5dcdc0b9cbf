"""A self-contained page: templates, style, script and chart library in one file that asks the network for nothing.

The Content-Security-Policy in the page lets nothing load and lets only our own scripts run, each named by its hash;
so a page stays silent even if a text of an experiment ever found its way around the escaping.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

import jinja2
from markupsafe import Markup

from orchestrator import quantities
from orchestrator.disk import output
from orchestrator.questions.axes import words as axis_words
from orchestrator.questions.distance import words as link_words
from orchestrator.questions.prediction import words as model_words
from orchestrator.report import markup, palette
from orchestrator.report.check_groups import QUIET, shown_evidence
from orchestrator.report.groups import anchor
from orchestrator.wording.checks.sentences import explanation
from orchestrator.wording.left_out import verdicts
from orchestrator.wording.notes import warnings
from orchestrator.wording.phrasing import capital

# Controls, marks that reorder text, what has no width or is no character: no page of ours has any but tab and newline.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufffe\uffff]"
)
_PLOTLY_JS = "plotly-basic.min.js.gz"


def render_page(template: str, *, title: str, every_page: Sequence[str] = (), **context: object) -> str:
    """A page from a template that extends `base.html` (blocks: title, header, main).

    `title` stands on each sheet of paper, too, beside its number.
    `every_page`: what a reader must not miss, in a line above all else and on each sheet of paper.

    Everything in `context` is escaped unless it is `Markup`; what a reader cannot see is shown.
    """
    style = palette.css() + _text("page.css")
    script = _text("page.js")
    hashes = [_csp_hash(script.encode()), _csp_hash(gzip.decompress(plotly_library()))]
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src {' '.join(hashes)}"
    return shown(
        _environment()
        .get_template(template)
        .render(
            style=Markup(style),  # noqa: S704 - our own files, not an experiment's text
            script=Markup(script),  # noqa: S704
            policy=policy,
            every_page=every_page,
            every_sheet=Markup(css_text(" · ".join(every_page))),  # noqa: S704 - nothing but letters and codes is left
            sheet=Markup(css_text(title)),  # noqa: S704 - likewise
            title=title,
            library=base64.b64encode(plotly_library()).decode(),
            **context,
        )
    )


def css_text(text: str) -> str:
    r"""Text as the content of a string in a style sheet: whatever is not plain prose stands as its code.

    >>> css_text('1 check failed'), css_text('</style>')
    ('1 check failed', '\\3c /style\\3e ')
    """
    return re.sub(r"[^A-Za-z0-9 .,:;()/+-]", lambda match: f"\\{ord(match[0]):x} ", text)


def shown(text: str, backslash: str = "\\") -> str:
    """Text in which what a reader cannot see stands as its code, behind a backslash; JSON needs two."""
    return _UNSEEN.sub(lambda match: _escape(ord(match.group()), backslash), text)


def one_line(text: str) -> str:
    """Text as `shown`, on a single line: what a file of lines or of cells may hold."""
    return " ".join(shown(text).split())


def _escape(code: int, backslash: str) -> str:
    return f"{backslash}u{code:04x}" if code < 0x10000 else f"{backslash}U{code:08x}"


def pack(text: str) -> str:
    """Return text as the page's script unpacks it: gzip without a time stamp, then base64."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode()


def write_page(text: str, path: Path) -> Path:
    """Write the page so that it appears whole or not at all, and make its folder; errors as `disk.output`."""
    with output(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return path


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("orchestrator.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(_GLOBALS)
    return environment


# What templates may call and name: nothing of it depends on a run.
_GLOBALS: dict[str, object] = {
    "anchor": anchor,
    "capital": capital,
    "count": quantities.count,
    "dash": palette.dash,
    "evidence": shown_evidence,
    "axis_words": axis_words,
    "exact": markup.exact,
    "explanation": explanation,
    "link_words": link_words,
    "margin": quantities.margin,
    "model_words": model_words,
    "moment": markup.moment,
    "number": quantities.number,
    "percent": quantities.percent,
    "prose": markup.prose,
    "quiet_verdicts": QUIET,
    "series": palette.series,
    "text_of": markup.words,
    "verdicts": verdicts,
    "warnings": warnings,
    "words": quantities,
}


@cache
def plotly_library() -> bytes:
    """Return the chart library, compressed by gzip."""
    return resources.files("orchestrator.report").joinpath("assets", _PLOTLY_JS).read_bytes()


def _text(name: str) -> str:
    return resources.files("orchestrator.report").joinpath("assets", name).read_text(encoding="utf-8")


def _csp_hash(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"
