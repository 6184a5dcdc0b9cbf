"""Whether the programs of a language are built here, for tests that start them."""

from __future__ import annotations

from orchestrator.catalogue import builds, platforms, toolchains
from orchestrator.catalogue.read import catalogue


def why_not(language: str) -> str:
    """Why its programs cannot be started here, with what to call; empty where they can, or nothing of it is built."""
    found = catalogue()
    if language not in found.languages:
        return ""
    of = found.languages[language]
    state = builds.look(of, found.folder, platforms.here())
    if state.why:
        return f"the programs of {of.title} cannot be used: {state.why}; make native"
    return toolchains.lacking(toolchains.look(tool, found.folder / language) for tool in of.needs)
