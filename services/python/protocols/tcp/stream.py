"""Whole frames over a blocking socket, for both ends."""

from __future__ import annotations

import socket

from services.python.protocols.tcp.frames import HEADER, HEADER_BYTES, LARGEST_BODY, FrameError

MORE_THAN_A_FRAME = "bytes after the end of a frame; this protocol has one request in flight"

_START_BYTES = 64 * 1024
_JOIN_BELOW = 16 * 1024  # copying so little costs less than a second buffer in the system call


def send_frame(sock: socket.socket, code: int, body: bytes) -> None:
    """Send one frame; OSError as the socket gives it."""
    header = HEADER.pack(len(body), code)
    if len(body) < _JOIN_BELOW or hasattr(sock, "context"):  # TLS copies into its records anyway
        sock.sendall(header + body)
        return
    sent = sock.sendmsg((header, body)) - HEADER_BYTES
    if sent < len(body):
        sock.sendall(memoryview(body)[max(sent, 0) :])


class FrameReader:
    """Reads one frame at a time into a buffer that is kept; no frame may follow before the last was answered."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray(_START_BYTES)

    def read(self) -> tuple[int, bytes] | None:
        """Code and body of the next frame; None at the end of the stream between two frames.

        ConnectionResetError when the stream ends inside a frame, FrameError when it is not one of ours.
        """
        buffer, have = self._buffer, 0
        receive_into = self._sock.recv_into
        with memoryview(buffer) as view:
            while have < HEADER_BYTES:
                count = receive_into(view[have:])
                if count == 0:
                    if have:
                        raise ConnectionResetError("the connection ended inside a frame")
                    return None
                have += count
        length, code = HEADER.unpack_from(buffer)
        if length > LARGEST_BODY:
            raise FrameError(f"a frame of {length:,} bytes; the largest is {LARGEST_BODY:,}")
        end = HEADER_BYTES + length
        if end > len(buffer):
            buffer.extend(bytes(end - len(buffer)))
        with memoryview(buffer) as view:
            while have < end:
                count = receive_into(view[have:end])
                if count == 0:
                    raise ConnectionResetError("the connection ended inside a frame")
                have += count
            if have > end:
                raise FrameError(MORE_THAN_A_FRAME)
            return code, bytes(view[HEADER_BYTES:end])
