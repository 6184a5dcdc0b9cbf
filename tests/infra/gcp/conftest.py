"""A fake Compute API, and the provider's program asking it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_compute import FakeCompute, environment_of, serving


@pytest.fixture
def compute() -> Iterator[FakeCompute]:
    with serving() as fake:
        yield fake


@pytest.fixture
def cloud(compute: FakeCompute) -> dict[str, str]:
    """What a user would export, with the fake in Google's place."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TF_PLUGIN_CACHE_DIR")}
    manager = {"GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT": compute.url.replace("/compute/v1/", "/v1/")}
    return {**kept, **environment_of(compute), **manager}


Ask = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def ask(infra: Path, cloud: dict[str, str]) -> Ask:
    """Run provider.py: its exit status, its JSON (or None), its words on stderr. With `python=()`, google-auth is there."""

    def run(*arguments: str, python: tuple[str, ...] = ("-ES",), **changes: str | None) -> tuple[int, Any, str]:
        environment = {name: value for name, value in (cloud | changes).items() if value is not None}
        done = subprocess.run(
            [sys.executable, *python, str(infra / "gcp" / "provider.py"), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    return run
