"""The folder of Node.js is what it says, as far as that can be told without Node.js itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "services" / "node"


def read(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def test_what_is_read_elsewhere_in_the_repository_is_declared_as_source() -> None:
    """What is not named there changes without the build being stale, and a build elsewhere does not find it."""
    sources = read("manifest.json")["sources"]
    imported = {
        (path.parent / name).resolve().relative_to(ROOT).as_posix()
        for path in (FOLDER / "src").rglob("*.js")
        for name in re.findall(r'from "(\.[^"]+)"', path.read_text(encoding="utf-8"))
        if not (path.parent / name).resolve().is_relative_to(FOLDER)
    }
    assert len(imported) >= 4
    assert [name for name in imported if not any(name == one or name.startswith(f"{one}/") for one in sources)] == []
    assert [one for one in sources if not any(name == one or name.startswith(f"{one}/") for name in imported)] == []


def test_the_lock_names_no_download_host_and_the_digest_of_every_package() -> None:
    lock = read("package-lock.json")
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if "integrity" not in package] == []


def test_the_lock_has_the_optional_packages_of_every_platform() -> None:
    """One that a registry did not have when the lock was written is left out of it, and `npm ci` then refuses the lock."""
    packages = read("package-lock.json")["packages"]
    wanted = {name for package in packages.values() for name in package.get("optionalDependencies", {})}
    there = {name.rpartition("node_modules/")[2] for name in packages}
    assert wanted
    assert wanted - there == set()
