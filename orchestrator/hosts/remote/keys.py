"""SSH keys of a deployment: one for the user, one per host, made here and given to the hosts at birth.

Because we know a host's key before the host exists, it is verified from the first connection on; no key is ever
accepted on sight.
"""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat


def ensure_key(path: Path, comment: str) -> str:
    """The public half ("ssh-ed25519 AAAA... comment") of the key pair at `path`, made (mode 0600) if absent."""
    public = path.with_suffix(".pub")
    if not public.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        key = Ed25519PrivateKey.generate()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
        line = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
        public.write_text(f"{line} {comment}\n")
    return public.read_text().strip()
