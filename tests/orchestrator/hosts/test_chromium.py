"""The browser that draws pictures: how it is called, and what happens where it fails."""

from __future__ import annotations

import pytest

from orchestrator.errors import MissingError
from orchestrator.hosts import chromium


def program(folder, text):
    path = folder / "chromium"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_it_has_a_profile_of_its_own_that_is_gone_afterwards_and_no_network(tmp_path):
    options = chromium.browse(program(tmp_path, "printf '%s\\n' \"$@\""), "file:///x.html").splitlines()
    assert {"--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"} <= set(options)
    assert options[-1] == "file:///x.html"
    (profile,) = (each.removeprefix("--user-data-dir=") for each in options if each.startswith("--user-data-dir="))
    assert not (tmp_path / profile).exists()


@pytest.mark.parametrize(("text", "why"), [("exit 3", "ended with status 3"), ("sleep 60", "did not end within")])
def test_one_that_fails_or_does_not_end_is_an_error(tmp_path, monkeypatch, text, why):
    monkeypatch.setattr(chromium, "_PATIENCE_S", 0.5)
    with pytest.raises(MissingError, match=why):
        chromium.browse(program(tmp_path, text), "file:///x.html")
