"""Text of others within Markdown: none of it is acted on."""

from __future__ import annotations

import re

from orchestrator.report.page import one_line

_MEANT = re.compile(r"[\\`*_{}\[\]<>&|~!$^]")  # what Markdown, HTML or TeX within it would act on
# A person, an issue, or what becomes a link by itself; they are found after entities were resolved.
_CALLING = re.compile(r"[@#]|(?i:\b(?:[a-z][a-z0-9+.-]{0,40}:(?=//)|www(?=\.)|mailto(?=:)|xmpp(?=:)))")


def escaped(text: str) -> str:
    """Text on one line that means nothing to Markdown, and calls nobody.

    >>> escaped("a|b <c> @d")
    'a&#124;b &#60;c&#62; @<!-- -->d'
    """
    return inert(one_line(text))


def inert(line: str) -> str:
    """The same of a part of a line, whose spaces stay."""
    plain = _MEANT.sub(lambda found: f"&#{ord(found.group())};", line)
    return _CALLING.sub(lambda found: _apart(plain, found), plain)


def _apart(text: str, found: re.Match[str]) -> str:
    is_entity = found.start() > 0 and text[found.start() - 1] == "&"
    return found.group() if is_entity else f"{found.group()}<!-- -->"
