"""`ssh-keygen -Y` (OpenSSH 8.1 or newer) over some bytes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from orchestrator.errors import MissingError, UsageError
from orchestrator.results import sizes

NAMESPACE = "orch-run"
SIGNATURE = "manifest.json.sig"
_TIMEOUT_S = 120.0  # a key may ask for its passphrase, or for a touch


def signs(signature: Path, content: bytes) -> bool | None:
    """Whether a file is anyone's signature of this content; None where that cannot be determined here."""
    if signature.stat().st_size > sizes.SIGNATURE:
        return False
    try:
        done = ssh_keygen(["-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(signature)], content)
    except (MissingError, UsageError):
        return None
    return done.returncode == 0


def ssh_keygen(arguments: list[str], content: bytes) -> subprocess.CompletedProcess[bytes]:
    """What `ssh-keygen` says of this content; MissingError when it is not here, UsageError when it gives no answer."""
    program = shutil.which("ssh-keygen")
    if program is None:
        raise MissingError("signatures need ssh-keygen", hint="install the OpenSSH client")
    try:
        return subprocess.run(
            [program, *arguments], input=content, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError("ssh-keygen gave no answer", hint="add the key to an agent first: ssh-add") from error


def words(done: subprocess.CompletedProcess[bytes]) -> str:
    """What it said, on one line."""
    return " ".join((done.stderr or done.stdout).decode(errors="replace").split())[:300]
