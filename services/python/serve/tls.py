"""A responder's certificate, for servers on Python's `ssl` and for gRPC's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from services.python.serve.responder import CannotServe

if TYPE_CHECKING:
    import ssl

    from services.python.contract.responder_lines import Tls


def server_context(tls: Tls | None) -> ssl.SSLContext | None:
    """TLS 1.3 and nothing older, one for all connections, so that sessions can be resumed; None for plain ones.

    CannotServe where certificate and key cannot be used.
    """
    if tls is None:
        return None
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.load_cert_chain(tls.certificate, tls.key)
    except OSError as error:  # `ssl.SSLError` is one
        raise _unusable(tls, error) from error
    return context


def pem(tls: Tls) -> tuple[bytes, bytes]:
    """Key and certificate; CannotServe where they cannot be used, which gRPC tells as a port that it cannot take."""
    server_context(tls)
    try:
        return Path(tls.key).read_bytes(), Path(tls.certificate).read_bytes()
    except OSError as error:
        raise _unusable(tls, error) from error


def _unusable(tls: Tls, error: OSError) -> CannotServe:
    return CannotServe(f"tls: certificate {tls.certificate} and key {tls.key} cannot be used: {error}")
