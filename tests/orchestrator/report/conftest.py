from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Page, browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Page]:
    with browser() as chromium:
        yield chromium


@pytest.fixture
def page(chromium: Page) -> Iterator[Page]:
    """Every test of a page ends with an empty console and with no request but for the file itself."""
    chromium.problems.clear()
    chromium.requests.clear()
    yield chromium
    assert chromium.problems == []
    assert [address for address in chromium.requests if not address.startswith(("file:", "data:", "blob:"))] == []
