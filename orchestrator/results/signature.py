"""A detached signature over a run's manifest, made with the user's SSH key by `ssh-keygen -Y` (OpenSSH 8.1 or newer).

The manifest holds the plan, the SHA-256 of every samples file and the journal's chain, so one signature covers them all.
"""

from __future__ import annotations

from pathlib import Path

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.results import sizes, verification
from orchestrator.results.documents import whole_file
from orchestrator.results.folder import RunFolder
from orchestrator.results.paths import digest, inside
from orchestrator.results.ssh_signatures import NAMESPACE, SIGNATURE, ssh_keygen, words


def sign(folder: RunFolder, key: Path) -> Path:
    """Sign a finished run of ours with a private key, or a public one whose private half an agent holds.

    UsageError when the run is not finished, was not made here, or the key cannot sign.
    """
    folder.require_ours("sign")
    verification.verify(folder)
    if not key.is_file():
        raise UsageError(f"there is no key {key}", hint="name a private key: --key ~/.ssh/id_ed25519")
    content = folder.manifest_bytes()
    done = ssh_keygen(["-Y", "sign", "-q", "-f", str(key), "-n", NAMESPACE], content)
    if done.returncode:
        raise UsageError(f"{key} cannot sign: {words(done)}", hint="is it a key, and is its passphrase right?")
    path = folder.path / SIGNATURE
    with whole_file(path) as partial:
        partial.write_bytes(done.stdout)
    return path


def verify(folder: RunFolder, signers: Path, identity: str) -> None:
    """Hold the signature against a file of allowed signers (ssh-keygen(1)); InvalidMeasurement when it does not hold.

    Nor does it when the journal continues after the signed manifest: figures would be made from the rest too.
    """
    path = folder.path / SIGNATURE
    if not path.is_file():
        raise InvalidMeasurement(f"run {folder.id} carries no signature", hint="its author makes one with `orch sign`")
    digest(inside(folder.path, SIGNATURE), sizes.SIGNATURE)  # a regular file, and none that never ends
    if not signers.is_file():
        raise UsageError(
            f"there is no file {signers}", hint="a line per signer: `name@example.org ssh-ed25519 AAAA...`"
        )
    arguments = ["-Y", "verify", "-f", str(signers), "-I", identity, "-n", NAMESPACE, "-s", str(path)]
    done = ssh_keygen(arguments, folder.manifest_bytes())
    if done.returncode:
        raise InvalidMeasurement(
            f"run {folder.id}: the signature is not {identity}'s over this manifest: {words(done)}",
            hint="ask whoever sent it which key signed it; do not publish it before",
        )
