"""A small service whose work can be made slower, for `benchmarks.gate`: `python gate_service.py PORT cpu 5`.

A request reads an order's items from SQLite, computes, and answers them as JSON: `WHOLE_S` in all, on the machine of
docs/validation while it is quiet. The work is always the same, so it takes longer while the machine is slow. It takes so
many per cent of the whole longer by `sleep`, `cpu` or `memory`; a `query` more; or, as one of fifty, 20 ms (`tail`).
"""

from __future__ import annotations

import ctypes
import json
import socketserver
import sqlite3
import sys
import time

ROWS, ITEMS = 200, 100
ROUNDS = 10_000
WHOLE_S = 0.0007
PER_S = 20_000_000  # rounds of `compute`; of `allocate` a third
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"

port, slow, by = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
shop = sqlite3.connect(":memory:", check_same_thread=False)
shop.execute("CREATE TABLE items (number INT, article TEXT, cents INT)")
rows = [(number, f"article {item}", 7 * item) for number in range(ROWS) for item in range(ITEMS)]
shop.executemany("INSERT INTO items VALUES (?, ?, ?)", rows)
shop.execute("CREATE INDEX by_number ON items (number)")


def compute(rounds: int) -> int:
    """Use the CPU."""
    total = 0
    for number in range(rounds):
        total += number * number
    return total


def allocate(pieces: int) -> list[bytearray]:
    """Use the CPU and memory."""
    return [bytearray(512) for _ in range(pieces)]


def items(number: int) -> list[tuple[str, int]]:
    """The articles and prices of an order."""
    return shop.execute("SELECT article, cents FROM items WHERE number = ?", (number % ROWS,)).fetchall()


def answer(number: int, count: int) -> bytes:
    """The reply to a connection's request of that count."""
    body = json.dumps({"id": number, "items": items(number)}).encode()
    compute(ROUNDS)
    more_s = WHOLE_S * by / 100
    if slow == "sleep":
        time.sleep(more_s)
    if slow == "cpu":
        compute(round(PER_S * more_s))
    if slow == "memory":
        allocate(round(PER_S * more_s / 3))
    if slow == "query":
        items(number + 1)
    if slow == "tail" and count % 50 == 0:
        time.sleep(0.02)
    return HEAD % len(body) + body


class Connection(socketserver.StreamRequestHandler):
    """A connection that is kept."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Answer each request."""
        count = 0
        while head := self.rfile.readline():
            while self.rfile.readline() not in (b"\r\n", b""):
                pass
            count += 1
            self.wfile.write(answer(int(head.split()[1].rpartition(b"/")[2]), count))


class Server(socketserver.ThreadingTCPServer):
    """A thread for each connection."""

    allow_reuse_address = daemon_threads = True


if __name__ == "__main__":
    ctypes.CDLL(None).prctl(29, 1)  # PR_SET_TIMERSLACK, ns: a short sleep is not much longer
    Server(("127.0.0.1", port), Connection).serve_forever()
