"""A session of tests: the longest first, and the rule of retries.

What failed is tried once more, alone, and listed by name, if it is at most ten tests: `--retry` runs what failed last and
nothing else. Where more has failed there is a defect, and nothing is tried again.
"""

from __future__ import annotations

import pytest

MOST = 10
_RETRIED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--retry", action="store_true", help=f"only what failed last; UsageError for more than {MOST} tests"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_longest_s, reverse=True)
    if not config.getoption("--retry"):
        return
    assert config.cache is not None, "without its cache, pytest does not know what failed"
    failed = config.cache.get("cache/lastfailed", {})
    again = [item for item in items if item.nodeid in failed]
    if len(again) > MOST:
        raise pytest.UsageError(f"{len(again)} tests failed: more than {MOST} are a defect, and none is tried again")
    config.hook.pytest_deselected(items=[item for item in items if item not in again])
    items[:] = again
    config.stash[_RETRIED] = [item.nodeid for item in again]


def _longest_s(item: pytest.Item) -> float:
    """The time that a test is given: one that begins last keeps everybody waiting."""
    mark = item.get_closest_marker("timeout")
    return mark.args[0] if mark else 0.0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    retried = config.stash.get(_RETRIED, [])
    if retried:
        terminalreporter.section("tried once more, alone, as the machine may have been busy")
        for name in retried:
            terminalreporter.write_line(name)
