"""A service of one's own whose request takes so much work: `work_service.py --port P --rounds N [--sleep-ms M] [--poll S]`.

The work is N rounds of SHA-256, so that another N makes a slow-down of a known share. With `--poll 0.2` a thread
uses a fifth of a CPU all the time, as a busy poller does.
"""

from __future__ import annotations

import argparse
import hashlib
import socket
import threading
import time

_REPLY = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{"done": 1}'


def serve(connection: socket.socket, rounds: int, sleep_s: float) -> None:
    """Answer every request of a connection."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection:
        while connection.recv(65_536).endswith(b"\r\n\r\n"):
            hashlib.pbkdf2_hmac("sha256", b"work", b"salt", rounds)
            if sleep_s:
                time.sleep(sleep_s)
            connection.sendall(_REPLY)


def poll(share: float) -> None:
    """Use so much of a CPU, a hundredth of a second at a time."""
    while True:
        until_s = time.monotonic() + 0.01 * share
        while time.monotonic() < until_s:
            pass
        time.sleep(0.01 * (1 - share))


def main() -> None:
    """Listen, and give each connection a thread."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--sleep-ms", type=float, default=0.0)
    parser.add_argument("--poll", type=float, default=0.0)
    given = parser.parse_args()
    if given.poll:
        threading.Thread(target=poll, args=(given.poll,), daemon=True).start()
    with socket.create_server((given.address, given.port)) as server:
        while True:
            connection, _ = server.accept()
            work = (connection, given.rounds, given.sleep_ms / 1000)
            threading.Thread(target=serve, args=work, daemon=True).start()


if __name__ == "__main__":
    main()
