"""What every WebSocket client here has in common, and is never timed."""

from __future__ import annotations

from services.python.load.client import Reply, Request
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
