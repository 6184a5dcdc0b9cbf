"""Certificates for tests, as the contract's types."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.python.contract.lines import Authority
from services.python.contract.responder_lines import Tls
from tests.conformance import certificates as files

HOST = files.HOST
TLS = {"tls": "tls1.3"}
RESUMED = {**TLS, "session": "resumed"}


@dataclass(frozen=True, kw_only=True)
class Made:
    """A certificate, and the authority that vouches for it."""

    tls: Tls
    authority: Authority

    @property
    def serving(self) -> dict[str, Any]:
        """Keys of a serve line."""
        return {"tls": self.tls, "knobs": TLS}


def certificates(folder: Path, *, address: str = HOST, has_expired: bool = False) -> Made:
    """See `tests.conformance.certificates.certificates`."""
    made = files.certificates(folder, address=address, has_expired=has_expired)
    return Made(tls=Tls(**made.serving), authority=Authority(**made.trusted))
