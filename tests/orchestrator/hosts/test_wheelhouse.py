"""What is sent to hosts."""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import ProvisionError
from orchestrator.hosts.provision import archives, wheelhouse
from orchestrator.hosts.provision.wheelhouse import Target

DEBIAN = Target(python="3.11.2", machine="x86_64", glibc=(2, 36))
LOCK = """
alpha==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
beta==2.0 ; python_full_version < '3.12' \\
    --hash=sha256:cc
beta==3.0 ; python_full_version >= '3.12' \\
    --hash=sha256:dd
gamma==1.0 ; sys_platform == 'win32' \\
    --hash=sha256:ee
"""


def test_markers_are_evaluated_for_the_host_not_for_the_controller() -> None:
    old = wheelhouse.for_target(LOCK, DEBIAN)
    assert old.splitlines() == ["alpha==1.0 --hash=sha256:aa --hash=sha256:bb", "beta==2.0 --hash=sha256:cc"]
    new = wheelhouse.for_target(LOCK, Target(python="3.13.1", machine="aarch64", glibc=(2, 39)))
    assert "beta==3.0" in new


def test_equal_code_is_an_equal_tar_and_changed_code_another(tmp_path: Path) -> None:
    source = tmp_path / "services"
    source.mkdir()
    (source / "a.py").write_text("A = 1\n")
    first = wheelhouse.code(tmp_path, tmp_path / "one")
    again = wheelhouse.code(tmp_path, tmp_path / "two")
    assert first.path.read_bytes() == again.path.read_bytes()
    (source / "a.py").write_text("A = 2\n")
    assert wheelhouse.code(tmp_path, tmp_path / "one").digest != first.digest


WHEELS = ("alpha-1.0-py3-none-any.whl", "pip-99.0-py3-none-any.whl")


def one_wheel(folder: Path, target: Target) -> None:
    """What a download of one wheel leaves, and pip's own beside it."""
    for name in WHEELS:
        with zipfile.ZipFile(folder / name, "w") as wheel:
            module = zipfile.ZipInfo(f"{name.split('-')[0]}/__init__.py")
            wheel.writestr(module, "def where():\n    return where.__code__.co_filename\n")


def lock_of(folder: Path) -> Path:
    """A lock of what `one_wheel` gives."""
    folder.mkdir()
    one_wheel(folder, DEBIAN)
    lines = []
    for name in WHEELS:
        package, version, *_ = name.split("-")
        lines.append(f"{package}=={version} --hash=sha256:{hashlib.sha256((folder / name).read_bytes()).hexdigest()}\n")
    (folder / "a.lock").write_text("".join(lines))
    return folder / "a.lock"


def test_bytecode_comes_along_and_is_loaded_where_the_wheel_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheelhouse, "_download", one_wheel)
    lock, site = lock_of(tmp_path / "locked"), tmp_path / "site-packages"
    here = replace(DEBIAN, python=platform.python_version())
    subprocess.run(
        ["tar", "-xf", wheelhouse.wheelhouse(lock, here, tmp_path / "cache").path, "-C", tmp_path], check=True
    )
    site.mkdir()
    subprocess.run(["tar", "-xzf", tmp_path / "wheelhouse" / "bytecode.tar.gz", "-C", site], check=True)
    assert not (site / "pip").exists()
    (compiled,) = site.rglob("*.pyc")
    shipped = compiled.read_bytes()
    shutil.unpack_archive(tmp_path / "wheelhouse" / "alpha-1.0-py3-none-any.whl", site, "zip")

    program = "import alpha; print(alpha.__cached__, alpha.where())"
    done = subprocess.run([sys.executable, "-c", program], cwd=site, env={}, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(compiled), str(site / "alpha" / "__init__.py")]
    assert compiled.read_bytes() == shipped, "Python did not take what was shipped, and compiled anew"
    assert str(tmp_path).encode() not in shipped


def test_a_lock_that_cannot_be_had_leaves_nothing_behind(tmp_path: Path) -> None:
    lock = tmp_path / "impossible.lock"
    lock.write_text("orch-no-such-package-anywhere==0.0.0 --hash=sha256:" + "0" * 64 + "\n")
    with pytest.raises(ProvisionError, match=r"no wheels for Python 3\.11"):
        wheelhouse.wheelhouse(lock, DEBIAN, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_cache_is_the_users_own_and_not_the_checkouts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ORCH_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert archives.cache_folder() == tmp_path / "orch"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert archives.cache_folder() == tmp_path / "home" / ".cache" / "orch"
