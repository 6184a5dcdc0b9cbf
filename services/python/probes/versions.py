"""The versions of installed packages, read when asked: `importlib.metadata` is not free at start-up."""

from __future__ import annotations

import platform
from collections.abc import Iterable


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Version by package name, `python` first; "not installed" for what is not there."""
    from importlib import metadata

    installed = {"python": platform.python_version()}
    for package in packages:
        try:
            installed[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            installed[package] = "not installed"
    return installed
