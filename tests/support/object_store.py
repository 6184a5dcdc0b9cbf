"""A server on loopback that speaks as much of S3 as a dataset needs, with objects in memory.

GET with ranges, HEAD, PUT, DELETE, several at once, lists (version 2) and uploads in parts. A call without an AWS4 signature
by the one known key is refused; signatures are not computed again. An object is there once all of it is.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET, KEY = "team", "AKIDTESTS"


@dataclass
class Store:
    """What is kept, and which calls came. `fail_on`: part of a path whose PUT is refused as by a full quota."""

    port: int = 0
    objects: dict[str, bytes] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    puts: list[str] = field(default_factory=list)
    fail_on: str = ""

    def uri(self, prefix: str, bucket: str = BUCKET) -> str:
        return f"s3://{bucket}/{prefix}?endpoint_override=127.0.0.1:{self.port}&scheme=http&region=eu-test-1"


@contextmanager
def running() -> Iterator[Store]:
    """The server, until the block ends."""
    store = Store()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"store": store}))
    store.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    store: Store

    def log_message(self, *_: object) -> None:
        """Nobody watches."""

    def _call(self) -> tuple[str, str, dict[str, str]] | None:
        """Bucket, key and query; None where the call was refused."""
        self.body = self._read()
        url = urlsplit(self.path)
        bucket, _, key = unquote(url.path).lstrip("/").partition("/")
        signed = self.headers.get("Authorization", "")
        if not re.match(rf"AWS4-HMAC-SHA256 Credential={KEY}/.*Signature=[0-9a-f]{{64}}$", signed):
            self._error(403, "AccessDenied")
            return None
        if bucket != BUCKET:
            self._error(404, "NoSuchBucket")
            return None
        query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        return bucket, key, query

    def _read(self) -> bytes:
        """The body, out of HTTP's chunks and out of those of AWS within."""
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            body = b""
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
            return body
        found = b""
        while body:
            head, _, body = body.partition(b"\r\n")
            size = int(head.partition(b";")[0] or b"0", 16)
            if not size:
                break
            found, body = found + body[:size], body[size + 2 :]
        return found

    def do_GET(self) -> None:
        if (call := self._call()) is None:
            return
        _, key, query = call
        if not key:
            self._list(query)
        elif key in self.store.objects:
            self._object(key)
        else:
            self._error(404, "NoSuchKey")

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_PUT(self) -> None:
        if (call := self._call()) is None:
            return
        _, key, query = call
        if self.store.fail_on and self.store.fail_on in key:
            self._error(403, "QuotaExceeded")
            return
        if "uploadId" in query:
            self.store.uploads[query["uploadId"]][int(query["partNumber"])] = self.body
        else:
            self.store.puts.append(key)
            self.store.objects[key] = self.body
        self._answer(200, b"", ETag=f'"{hashlib.md5(self.body).hexdigest()}"')  # noqa: S324 - S3's own

    def do_POST(self) -> None:
        if (call := self._call()) is None:
            return
        _, key, query = call
        if "uploads" in query:
            upload = f"u{len(self.store.uploads)}"
            self.store.uploads[upload] = {}
            self._xml(f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>")
        elif "uploadId" in query:
            parts = self.store.uploads.pop(query["uploadId"])
            self.store.puts.append(key)
            self.store.objects[key] = b"".join(parts[number] for number in sorted(parts))
            self._xml("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
        else:
            for gone in re.findall(r"<Key>(.*?)</Key>", self.body.decode()):
                self.store.objects.pop(gone, None)
            self._xml("<DeleteResult></DeleteResult>")

    def do_DELETE(self) -> None:
        if (call := self._call()) is None:
            return
        self.store.objects.pop(call[1], None)
        self._answer(204, b"")

    def _list(self, query: dict[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        contents, common = [], {}
        for key, value in sorted(self.store.objects.items()):
            if not key.startswith(prefix):
                continue
            head, sign, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
            if sign:
                common[prefix + head + sign] = True
            else:
                contents.append(
                    f"<Contents><Key>{escape(key)}</Key><Size>{len(value)}</Size>"
                    "<LastModified>2026-11-21T00:00:00.000Z</LastModified><ETag>x</ETag></Contents>"
                )
        folders = "".join(f"<CommonPrefixes><Prefix>{escape(of)}</Prefix></CommonPrefixes>" for of in common)
        count = len(contents) + len(common)
        self._xml(
            f"<ListBucketResult><Name>{BUCKET}</Name><KeyCount>{count}</KeyCount><IsTruncated>false</IsTruncated>"
            f"{''.join(contents)}{folders}</ListBucketResult>"
        )

    def _object(self, key: str) -> None:
        content = self.store.objects[key]
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked is None:
            self._answer(200, content)
            return
        first, last = int(asked[1]), min(int(asked[2] or len(content) - 1), len(content) - 1)
        self._answer(206, content[first : last + 1], Content_Range=f"bytes {first}-{last}/{len(content)}")

    def _xml(self, text: str, status: int = 200) -> None:
        self._answer(status, f'<?xml version="1.0"?>{text}'.encode(), Content_Type="application/xml")

    def _error(self, status: int, code: str) -> None:
        self._xml(f"<Error><Code>{code}</Code><Message>{code}</Message></Error>", status)

    def _answer(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
