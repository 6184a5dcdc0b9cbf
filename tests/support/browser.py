"""The distribution's Chromium, driven by Playwright: what a page says to its console and asks of the network."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, sync_playwright
from playwright.sync_api import Page as Tab

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NEEDS_BROWSER = [
    pytest.mark.browser,
    pytest.mark.busy,
    pytest.mark.skipif(PROGRAM is None, reason="no chromium on PATH"),
]
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--hide-scrollbars")
_PATIENCE_S = 60.0
_PAGE = re.compile(rb"/Type\s*/Page\b")


class Page:
    """One page at a time. `problems` holds console errors, exceptions and policy violations, `requests` every address."""

    def __init__(self, chromium: Browser) -> None:
        self._chromium = chromium
        self._tab: Tab | None = None
        self.problems: list[str] = []
        self.requests: list[str] = []

    @property
    def _shown(self) -> Tab:
        assert self._tab is not None, "no page is open"
        return self._tab

    def open(
        self,
        path: Path | str,
        *,
        width: int = 1280,
        height: int = 900,
        scheme: str = "light",
        script: bool = True,
        before: str = "",
    ) -> None:
        """Load a file from disk, or an address, in a window of this size whose system prefers this colour scheme.

        `before` runs ahead of the page's own scripts; without `script` none of them runs.
        """
        self.close()
        context = self._chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            is_mobile=width < 600,
            java_script_enabled=script,
        )
        context.set_default_timeout(_PATIENCE_S * 1000)
        if before:
            context.add_init_script(before)
        self._tab = context.new_page()
        self._tab.on("request", lambda request: self.requests.append(request.url))
        self._tab.on("pageerror", lambda error: self.problems.append(str(error)))
        self._tab.on("console", self._note)
        self._tab.goto(path if isinstance(path, str) else path.as_uri())

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        return self._shown.evaluate(expression)

    def wait_for(self, condition: str) -> None:
        """Return when the expression is true; AssertionError after a minute."""
        end = time.monotonic() + _PATIENCE_S
        while not self.evaluate(condition):
            assert time.monotonic() < end, f"never true: {condition}; problems: {self.problems}"
            self._shown.wait_for_timeout(50)

    def text(self) -> str:
        """What a reader sees of the page, as text; also where its scripts do not run."""
        return self._shown.locator("body").inner_text()

    def count(self, selector: str) -> int:
        """How many elements a reader sees; also where the page's scripts do not run."""
        return sum(element.is_visible() for element in self._shown.locator(selector).all())

    def print(self) -> None:
        """Show the page from here on as paper would."""
        self._shown.emulate_media(media="print")

    def press(self, key: str) -> None:
        """Press a key, as on a keyboard."""
        self._shown.keyboard.press(key)

    def pages_on_paper(self) -> int:
        """How many A4 pages it is printed on."""
        return len(_PAGE.findall(self.paper()))

    def paper(self) -> bytes:
        """It as a PDF, on A4."""
        return self._shown.pdf(format="A4", prefer_css_page_size=True)

    def download(self, button: str) -> tuple[str, bytes]:
        """Press a button, by its selector: name and content of the file that it saves."""
        with self._shown.expect_download() as saved:
            self._shown.locator(button).first.click()
        return saved.value.suggested_filename, saved.value.path().read_bytes()

    def close(self) -> None:
        """Leave the page, and all that it has stored."""
        if self._tab is not None:
            self._tab.context.close()
            self._tab = None

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning", "assert"}:
            self.problems.append(message.text)


@contextmanager
def browser() -> Iterator[Page]:
    """A browser with a profile of its own; both are gone afterwards. Nothing is downloaded for it."""
    assert PROGRAM, "no chromium"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=PROGRAM, headless=True, args=list(FLAGS))
        page = Page(chromium)
        try:
            yield page
        finally:
            page.close()
            chromium.close()
