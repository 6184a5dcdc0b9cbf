"""A detached signature over a run's manifest, made with the user's SSH key by `ssh-keygen -Y` (OpenSSH 8.1 or newer).

The manifest holds the plan, the SHA-256 of every samples file and the journal's chain, so one signature covers them all.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from orchestrator.disk import whole_file, writing
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.results import sizes, verification
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
    return _write(folder.path / SIGNATURE, _signed(folder.manifest_bytes(), key))


def sign_statement(folder: RunFolder, key: Path, name: str, content: bytes) -> Path:
    """Write a text into a run folder of ours as `name`, and its signature beside it; errors as `sign`."""
    folder.require_ours("sign")
    made = _signed(content, key)
    return _write(_write(folder.path / name, content).with_name(f"{name}.sig"), made)


def _signed(content: bytes, key: Path) -> bytes:
    done = ssh_keygen(["-Y", "sign", "-q", "-f", str(key), "-n", NAMESPACE], content)
    if done.returncode:
        raise UsageError(f"{key} cannot sign: {words(done)}", hint="is it a key, and is its passphrase right?")
    return done.stdout


def _write(path: Path, content: bytes) -> Path:
    with writing(path, "sign it again"), whole_file(path) as partial:
        partial.write_bytes(content)
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
        raise _no_signers(signers)
    _require_signed(
        f"run {folder.id}: the signature is not {identity}'s over this manifest",
        path,
        folder.manifest_bytes(),
        signers,
        identity,
    )


def verify_content(name: str, content: bytes, made: bytes, signers: Path, identity: str) -> None:
    """As `verify`, of some bytes and the signature `made` of them, which are from the file `name`."""
    if not signers.is_file():
        raise _no_signers(signers)
    with tempfile.TemporaryDirectory(prefix="orch-") as scratch:
        path = Path(scratch) / "signature"
        path.write_bytes(made)
        _require_signed(
            f"{name}: the signature is not {identity}'s over what it carries", path, content, signers, identity
        )


def _require_signed(otherwise: str, path: Path, content: bytes, signers: Path, identity: str) -> None:
    arguments = ["-Y", "verify", "-f", str(signers), "-I", identity, "-n", NAMESPACE, "-s", str(path)]
    done = ssh_keygen(arguments, content)
    if done.returncode:
        raise InvalidMeasurement(
            f"{otherwise}: {words(done)}", hint="ask whoever sent it which key signed it; do not publish it before"
        )


def _no_signers(path: Path) -> UsageError:
    return UsageError(f"there is no file {path}", hint="a line per signer: `name@example.org ssh-ed25519 AAAA...`")
