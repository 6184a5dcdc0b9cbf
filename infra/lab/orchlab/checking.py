"""Can this machine be a lab? Asked before anything is made; every answer names what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from orchlab import cgroups, inside, netem
from orchlab.errors import LabError

Missing = dict[str, str]
_PROGRAMS = {"ip": "iproute2", "nsenter": "util-linux", "unshare": "util-linux", "ping": "iputils-ping"}


def missing() -> list[Missing]:
    """What this machine lacks, each as `what` and `hint`; empty when a lab can be made here. Makes nothing."""
    if not sys.platform.startswith("linux"):
        return [_lack(f"the lab needs Linux, and this is {sys.platform}", "use a Linux machine or VM, or provider gcp")]
    if os.geteuid() != 0:
        return [_lack("the lab makes namespaces, which needs root", "run the same command with sudo")]
    lacks = lacking_programs(lambda name: shutil.which(name) is not None, inside.SSHD)
    if not lacks and not _may_make_namespaces():
        lacks.append(
            _lack("this root may not make namespaces (a container without privileges?)", "run on the machine itself")
        )
    if not lacks and not netem.is_offered() and not Path("/dev/net/tun").exists():
        lacks.append(
            _lack("neither netem nor /dev/net/tun is there, so there is no distance", "modprobe sch_netem, or tun")
        )
    try:
        cgroups.find_tree(Path("/proc/mounts").read_text())
    except LabError as error:
        lacks.append(_lack(error.message, error.hint or ""))
    return lacks


def lacking_programs(is_there: Callable[[str], bool], sshd: Path) -> list[Missing]:
    """The programs that are not installed, each with the package that has it."""
    lacks = [
        _lack(f"the program {program} is not installed", f"apt-get install {package}")
        for program, package in _PROGRAMS.items()
        if not is_there(program)
    ]
    if not sshd.exists():
        lacks.append(_lack(f"{sshd} is not installed", "apt-get install openssh-server (it need not run)"))
    return lacks


def _lack(what: str, hint: str) -> Missing:
    return {"what": what, "hint": hint}


def _may_make_namespaces() -> bool:
    trial = ["unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "true"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


def require() -> None:
    """LabError that names everything that is missing; nothing when all is there."""
    lacks = missing()
    if lacks:
        raise LabError(
            "; ".join(lack["what"] for lack in lacks), hint="; ".join(lack["hint"] for lack in lacks), exit_code=3
        )
