"""Certificates for a responder, right ones and each kind of wrong one, as the lines of the contract name them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from trustme import CA

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Made:
    """`tls` of a serve line, and `tls` of a trial line that vouches for it."""

    serving: dict[str, str]
    trusted: dict[str, str]


def certificates(folder: Path, *, address: str = HOST, has_expired: bool = False) -> Made:
    """Files in a folder of their own: a certificate for the address, valid until a day from now, or until yesterday."""
    folder.mkdir()
    authority, day = CA(), timedelta(days=1)
    until = datetime.now(UTC) + (-day if has_expired else day)
    leaf = authority.issue_cert(address, not_before=until - 10 * day, not_after=until)
    key, certificate, known = (folder / name for name in ("key.pem", "certificate.pem", "authority.pem"))
    key.write_bytes(leaf.private_key_pem.bytes())
    certificate.write_bytes(b"".join(pem.bytes() for pem in leaf.cert_chain_pems))
    known.write_bytes(authority.cert_pem.bytes())
    digest = hashlib.sha256(known.read_bytes()).hexdigest()
    return Made({"certificate": str(certificate), "key": str(key)}, {"path": str(known), "sha256": digest})
