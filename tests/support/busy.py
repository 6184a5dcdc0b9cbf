"""The marker `busy`: a test that may wait for a busy machine in vain. What fails of these is tried once more, alone.

`--retry-busy` runs what failed last, if all of it carries the marker, and lists it by name; anything else has failed.
"""

from __future__ import annotations

import pytest

_RETRIED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--retry-busy", action="store_true", help="only what failed last and is marked `busy`; UsageError for the rest"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--retry-busy"):
        return
    assert config.cache is not None, "without its cache, pytest does not know what failed"
    failed = config.cache.get("cache/lastfailed", {})
    again = [item for item in items if item.nodeid in failed]
    for_good = [item.nodeid for item in again if item.get_closest_marker("busy") is None]
    if for_good:
        raise pytest.UsageError(f"failed, and not marked as waiting for a busy machine: {', '.join(for_good)}")
    config.hook.pytest_deselected(items=[item for item in items if item not in again])
    items[:] = again
    config.stash[_RETRIED] = [item.nodeid for item in again]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    retried = config.stash.get(_RETRIED, [])
    if retried:
        terminalreporter.section("tried once more, alone, as the machine may have been busy")
        for name in retried:
            terminalreporter.write_line(name)
