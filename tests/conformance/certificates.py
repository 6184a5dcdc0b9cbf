"""Certificates for a responder, right ones and each kind of wrong one, as the lines of the contract name them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from trustme import CA

from tests.conformance.kit import Implementation, Pair

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Made:
    """`tls` of a serve line, and `tls` of a trial line that vouches for it; `folder` has its files."""

    serving: dict[str, str]
    trusted: dict[str, str]
    folder: Path


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
    return Made({"certificate": str(certificate), "key": str(key)}, {"path": str(known), "sha256": digest}, folder)


def assert_believes_nobody_else(ends: Implementation, pair: Pair, knobs: dict[str, str], made: Made) -> None:
    """Not whom another authority vouches for, nor who is at another address, nor whose certificate has expired."""
    others = certificates(made.folder / "others")
    elsewhere = certificates(made.folder / "elsewhere", address="198.18.0.1")
    expired = certificates(made.folder / "expired", has_expired=True)
    for served, trusted in ((made, others.trusted), (elsewhere, elsewhere.trusted), (expired, expired.trusted)):
        serve = {"knobs": knobs, "tls": served.serving}
        trial, stats = ends.meet(pair, made.folder / "record", serve=serve, knobs=knobs, tls=trusted)
        assert stats["answered"] == 0
        assert trial.failed["kind"] == "refused"
        assert "tls" in trial.failed["message"]
