"""Work as a user whom permissions stop: as root, in a process that gives root up; as anybody else, here."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

_NOBODY = 65534


def as_nobody(work: Callable[[], None], *owned: Path) -> None:
    """`work`, whose files below `owned` are its user's; AssertionError where it fails, whose words are on stderr.

    What `work` imports must be imported by then: nobody may not read where it lies.
    """
    if os.geteuid() != 0:
        work()
        return
    for folder in owned:
        for place in (folder, *folder.rglob("*")):
            os.chown(place, _NOBODY, _NOBODY, follow_symlinks=False)
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
            work()
        except BaseException:  # noqa: BLE001 - of a child that must never go on as pytest
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, "it failed as nobody; stderr says how"
