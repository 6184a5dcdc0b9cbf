"""A Compute API on loopback: enough of it for infra/gcp and its provider.py, with failures on demand.

What a fake must get right, because clients depend on it: 64-bit numbers (disk sizes, seconds of a run duration) are
JSON *strings*; operations are DONE at once (one that is not costs a client ten seconds); what is not there is a 404
with an `error.message`.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]
NO_ANSWER = 0  # as a status: the connection is closed without a word
_RESOURCE = re.compile(
    r"projects/(?P<project>[^/]+)/(?P<place>global|zones/[^/]+|regions/[^/]+|aggregated)/(?P<kind>[a-zA-Z]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<action>[^/]+))?"
)
_PLACE = re.compile(r"projects/(?P<project>[^/]+)/(?P<kind>zones|regions)/(?P<name>[^/]+)")


@dataclass
class FakeCompute:
    """The project's things by path, and what shall go wrong."""

    url: str = ""
    things: dict[str, Json] = field(default_factory=dict)  # "zones/z/instances/name" -> the resource
    refused: dict[str, tuple[int, str]] = field(default_factory=dict)  # "POST instances" -> status and message
    failing: dict[str, str] = field(default_factory=dict)  # "POST instances/name" -> the operation's error message
    requests: list[tuple[str, str]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    page_size: int = 500
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Json) -> tuple[int, Json]:
        """Status and JSON of one request; `path` is what follows the endpoint."""
        with self._lock:
            self.requests.append((method, path))
            match = _RESOURCE.fullmatch(path)
            if match is None:
                named = _PLACE.fullmatch(path)
                if named is None:
                    return _error(404, f"no such path: {path}")
                return 200, {"name": named["name"], "kind": named["kind"], "status": "UP"}
            place, kind, name = match["place"], match["kind"], match["name"]
            if kind == "operations":
                return 200, self._operation(place)
            if f"{method} {kind}" in self.refused:
                return _error(*self.refused[f"{method} {kind}"])
            handlers: dict[str, Callable[[], tuple[int, Json]]] = {
                "GET": lambda: self._get(place, kind, name, match["action"], query),
                "POST": lambda: self._create(match["project"], place, kind, body),
                "DELETE": lambda: self._delete(place, kind, name),
            }
            return handlers[method]()

    def _get(
        self, place: str, kind: str, name: str | None, action: str | None, query: dict[str, list[str]]
    ) -> tuple[int, Json]:
        if kind == "images":
            image = action if name == "family" else name
            return 200, {"name": image, "selfLink": f"{self.url}projects/x/global/images/{image}", "diskSizeGb": "10"}
        if kind == "machineTypes":
            return 200, {"name": name, "guestCpus": 1, "memoryMb": 614}
        if name is None:
            return 200, self._list(place, kind, int(query.get("pageToken", ["0"])[0]))
        thing = self.things.get(f"{place}/{kind}/{name}")
        return (200, thing) if thing else _error(404, f"The resource '{place}/{kind}/{name}' was not found")

    def _list(self, place: str, kind: str, start: int) -> Json:
        found = [(path, thing) for path, thing in sorted(self.things.items()) if path.split("/")[-2] == kind]
        if place != "aggregated":
            found = [(path, thing) for path, thing in found if path.startswith(f"{place}/")]
        page = found[start : start + self.page_size]
        more = {"nextPageToken": str(start + self.page_size)} if start + self.page_size < len(found) else {}
        if place != "aggregated":
            return {"items": [thing for _, thing in page], **more}
        groups: Json = {}
        for path, thing in page:
            groups.setdefault(path.rpartition(f"/{kind}/")[0], {}).setdefault(kind, []).append(thing)
        return {"items": groups, **more}

    def _create(self, project: str, place: str, kind: str, body: Json) -> tuple[int, Json]:
        path = f"{place}/{kind}/{body['name']}"
        if path in self.things:
            return _error(409, f"The resource '{path}' already exists")
        failure = self.failing.get(f"POST {kind}/{body['name']}")
        if failure:
            return 200, self._operation(place, failure)
        thing = dict(body)
        thing["id"] = str(next(self._numbers))
        thing["selfLink"] = f"{self.url}projects/{project}/{path}"
        thing["creationTimestamp"] = "2026-01-01T00:00:00.000-08:00"
        for word in ("zone", "region"):
            if place.startswith(f"{word}s/"):
                thing[word] = f"{self.url}projects/{project}/{place}"
        if kind == "instances":
            self._finish_instance(project, place, thing)
        self.things[path] = thing
        return 200, self._operation(place)

    def _finish_instance(self, project: str, place: str, thing: Json) -> None:
        """What the cloud adds to an instance: addresses, its disk, its state."""
        number = int(thing["id"])
        thing["status"] = "RUNNING"
        thing["labelFingerprint"] = thing["fingerprint"] = "AAAA"
        thing.setdefault("metadata", {})["fingerprint"] = "AAAA"
        thing.setdefault("tags", {})["fingerprint"] = "AAAA"
        thing["lastStartTimestamp"] = "2026-01-01T00:00:10.000-08:00"
        duration = thing.get("scheduling", {}).get("maxRunDuration", {})
        if "seconds" in duration:
            duration["seconds"] = str(duration["seconds"])
        for index, interface in enumerate(thing.get("networkInterfaces", [])):
            interface |= {"name": f"nic{index}", "networkIP": f"10.130.0.{number + 1}", "fingerprint": "AAAA"}
            for config in interface.get("accessConfigs", []):
                config |= {"natIP": f"203.0.113.{number}", "type": "ONE_TO_ONE_NAT", "name": "external-nat"}
                config.setdefault("networkTier", "PREMIUM")
        for index, disk in enumerate(thing.get("disks", [])):
            wanted = disk.pop("initializeParams", {})
            source = f"{self.url}projects/{project}/{place}/disks/{thing['name']}"
            disk |= {"source": source, "index": index, "deviceName": f"persistent-disk-{index}", "mode": "READ_WRITE"}
            disk["diskSizeGb"] = str(wanted.get("diskSizeGb", 10))
            self.things[f"{place}/disks/{thing['name']}"] = {
                "name": thing["name"],
                "selfLink": source,
                "sizeGb": disk["diskSizeGb"],
                "type": wanted.get("diskType", ""),
                "sourceImage": wanted.get("sourceImage", ""),
                "labels": wanted.get("labels", {}),
                "zone": thing["zone"],
            }

    def _delete(self, place: str, kind: str, name: str | None) -> tuple[int, Json]:
        path = f"{place}/{kind}/{name}"
        if path not in self.things:
            return _error(404, f"The resource '{path}' was not found")
        failure = self.failing.get(f"DELETE {kind}/{name}")
        if failure:
            return 200, self._operation(place, failure)
        users = [thing["name"] for thing in self.things.values() if _uses(thing, kind, str(name))]
        if users:
            return _error(400, f"The {kind} resource '{name}' is already being used by '{users[0]}'")
        del self.things[path]
        if kind == "instances":  # its boot disk goes with it
            self.things.pop(f"{place}/disks/{name}", None)
        return 200, self._operation(place)

    def _operation(self, place: str, failure: str | None = None) -> Json:
        name = f"operation-{next(self._numbers)}"
        operation: Json = {"kind": "compute#operation", "name": name, "status": "DONE", "progress": 100}
        operation["selfLink"] = f"{self.url}projects/x/{place}/operations/{name}"
        if place.startswith("zones/"):
            operation["zone"] = f"{self.url}projects/x/{place}"
        if place.startswith("regions/"):
            operation["region"] = f"{self.url}projects/x/{place}"
        if failure:
            operation["error"] = {"errors": [{"code": "FAKE", "message": failure}]}
            operation["httpErrorStatusCode"] = 400
        return operation


def _uses(thing: Json, kind: str, name: str) -> bool:
    """Whether a thing stands in the way of deleting another: a subnet in use, a network with rules or subnets."""
    links = [str(thing.get("network", ""))]
    for interface in thing.get("networkInterfaces", []):
        links += [str(interface.get("subnetwork", "")), str(interface.get("network", ""))]
    links += [str(disk.get("source", "")) for disk in thing.get("disks", [])]
    return any(link.endswith(f"/{kind}/{name}") for link in links)


def _error(status: int, message: str) -> tuple[int, Json]:
    return status, {"error": {"code": status, "message": message, "errors": [{"message": message}]}}


@contextmanager
def serving(fake: FakeCompute | None = None) -> Iterator[FakeCompute]:
    """Serve on a port of the kernel's choice; its `url` is what `compute_endpoint` takes."""
    fake = fake or FakeCompute()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            fake.tokens.add(self.headers.get("Authorization", ""))
            path = parts.path.removeprefix("/compute/v1/")
            status, document = fake.answer(self.command, path, parse_qs(parts.query), body)
            if status == NO_ANSWER:
                self.close_connection = True
                return
            text = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815  (the names that http.server calls)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_port}/compute/v1/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
