"""What every WebSocket client here has in common, and is never timed."""

from __future__ import annotations

from services.python.load.client import CallFailed, Reply, Request
from services.python.load.handshake import tls_failure
from services.python.protocols.websocket import frames


class ConnectionBase:
    """Reads exchanges."""

    body: frames.Frame | None = None
    """See `load.client.Connection.body`."""

    def value(self, reply: frames.Exchange) -> Reply:
        """The reply in plain values."""
        return frames.value(reply)

    def sizes(self, request: Request, reply: frames.Exchange) -> tuple[int, int]:  # noqa: ARG002 - the exchange holds the frame
        """Bytes of both frames' payloads."""
        return frames.sizes(reply)


def socket_failure(error: OSError) -> CallFailed:
    """An error of the socket in the record's words. TimeoutError is an OSError, too."""
    if isinstance(error, TimeoutError):
        return CallFailed("timeout", str(error) or "nothing came in time")
    if failure := tls_failure(error):
        return failure
    if isinstance(error, ConnectionResetError | ConnectionAbortedError | BrokenPipeError):
        return CallFailed("closed", str(error))
    return CallFailed("refused", str(error))
