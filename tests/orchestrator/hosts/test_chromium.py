"""The browser that draws pictures: what it is told, and what is said where it does not."""

from __future__ import annotations

from orchestrator.hosts import chromium


def program(folder, text):
    path = folder / "chromium"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_it_has_a_profile_of_its_own_that_is_gone_afterwards_and_no_network(tmp_path):
    seen = tmp_path / "seen"
    shot = 'for a; do case $a in --screenshot=*) printf png > "${a#--screenshot=}";; esac; done'
    told = chromium.draw(
        program(tmp_path, f"printf '%s\\n' \"$@\" > {seen}; {shot}"), tmp_path / "a.svg", tmp_path / "a.png", 720, 500
    )
    assert told == ""
    assert (tmp_path / "a.png").read_text() == "png"
    said = seen.read_text().splitlines()
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in said
    assert "--window-size=720,500" in said
    (profile,) = (each.removeprefix("--user-data-dir=") for each in said if each.startswith("--user-data-dir="))
    assert not (tmp_path / profile).exists()


def test_one_that_draws_nothing_is_said(tmp_path):
    told = chromium.draw(program(tmp_path, "exit 0"), tmp_path / "a.svg", tmp_path / "a.png", 1, 1)
    assert told.endswith("ended with status 0 and drew nothing")
    assert not (tmp_path / "a.png").exists()


def test_one_that_does_not_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(chromium, "_PATIENCE_S", 0.2)
    told = chromium.draw(program(tmp_path, "sleep 60"), tmp_path / "a.svg", tmp_path / "a.png", 1, 1)
    assert "did not end within" in told


def test_none_is_found_where_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert chromium.find() is None
    assert program(tmp_path, "") == chromium.find()
