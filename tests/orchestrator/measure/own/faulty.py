"""A small service with one fault: `python faulty.py PORT FAULT [ADDRESS [CERTIFICATE KEY]]`; it answers GET /N."""

from __future__ import annotations

import json
import os
import socket
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

EXPIRES_AFTER = 150  # requests
DIES_AFTER = 40
FAULT = sys.argv[2]
REQUESTS = count(1)


class Handler(BaseHTTPRequestHandler):
    """Answers on kept connections."""

    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """A row, or what the fault makes of it."""
        number, row = next(REQUESTS), int(self.path.strip("/") or 0)
        status, total = 200, 10 * row
        if FAULT == "wrong" and row % 100 == 7:
            total += 1
        if FAULT == "redirects":
            status = 302
        if FAULT == "closes" and number % 100 == 0:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if FAULT == "refuses" or (FAULT == "expires" and number > EXPIRES_AFTER):
            status = 401
        if FAULT == "dies" and number > DIES_AFTER:
            sys.stderr.write("out of orders\n")
            sys.stderr.flush()
            os._exit(3)
        content = json.dumps({"id": row, "total": total}).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/1")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


class Server(ThreadingHTTPServer):
    """At an address of either family."""

    daemon_threads = True


if __name__ == "__main__":
    if FAULT == "sleeps":
        time.sleep(600)
    address = sys.argv[3] if len(sys.argv) > 3 else "127.0.0.1"
    Server.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = Server((address, int(sys.argv[1])), Handler)
    if len(sys.argv) > 4:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[4], sys.argv[5])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()
