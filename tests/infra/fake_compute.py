"""A Compute API on loopback: enough of it for infra/gcp and its provider.py, with failures on demand.

What a fake must get right, because clients depend on it: 64-bit numbers (disk sizes, seconds of a run duration) are
JSON *strings*; operations are DONE at once (one that is not costs a client ten seconds); what is not there is a 404
with an `error.message`. A family of images resolves to its newest image, and whatever is stored names other things by
their full `https://www.googleapis.com/compute/v1/...` link, however they were named in the request: Terraform's provider
compares the two, and replaces an instance whose image it does not recognise.

Beside it stand the two other APIs that `orch doctor` asks: `testIamPermissions` of the Resource Manager, and the end
point where a service account gets its token.
"""

from __future__ import annotations

import base64
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
LINK = "https://www.googleapis.com/compute/v1/"  # what links begin with, wherever the API was asked
_RESOURCE = re.compile(
    r"projects/(?P<project>[^/]+)/(?P<place>global|zones/[^/]+|regions/[^/]+|aggregated)/(?P<kind>[a-zA-Z]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<action>[^/]+))?"
)
_PLACE = re.compile(r"projects/(?P<project>[^/]+)/(?P<kind>zones|regions)/(?P<name>[^/]+)")
_PROJECT = re.compile(r"projects/(?P<project>[^/:]+)")
_FAMILY_LINK = re.compile(r"(?:.*/)?projects/(?P<project>[^/]+)/global/images/family/(?P<name>[^/]+)$")
# project -> image -> family, oldest first.
_IMAGES = {
    "debian-cloud": {
        "debian-12-bookworm-arm64-v20260110": "debian-12-arm64",
        "debian-11-bullseye-v20260110": "debian-11",
        "debian-12-bookworm-v20251209": "debian-12",
        "debian-12-bookworm-v20260110": "debian-12",
    }
}
_CPUS = {
    "f1-micro": 1,
    "e2-micro": 2,
    "e2-small": 2,
    "e2-medium": 2,
    "e2-standard-4": 4,
    "t2a-standard-1": 1,
    "n2-standard-2": 2,
}
_REFERENCES = ("network", "subnetwork", "machineType", "source", "sourceImage", "diskType", "type")


@dataclass
class Quota:
    """So much of each metric, in the project and in every region."""

    limits: dict[str, float] = field(
        default_factory=lambda: {
            "NETWORKS": 5.0,
            "FIREWALLS": 100.0,
            "SUBNETWORKS": 100.0,
            "CPUS_ALL_REGIONS": 32.0,
            "CPUS": 24.0,
            "INSTANCES": 24.0,
            "IN_USE_ADDRESSES": 8.0,
            "DISKS_TOTAL_GB": 4096.0,
        }
    )
    used: dict[str, float] = field(default_factory=dict)

    def listed(self) -> list[Json]:
        return [{"metric": m, "limit": limit, "usage": self.used.get(m, 0.0)} for m, limit in self.limits.items()]


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
    quota: Quota = field(default_factory=Quota)
    granted: set[str] | None = None  # permissions of the account; None is all
    policies: dict[str, Json] = field(default_factory=dict)  # of the organisation, by constraint
    is_enabled: bool = True  # the Compute Engine API, in the project
    valid: set[str] | None = None  # tokens; None is any
    troubles: list[tuple[int, str | None]] = field(default_factory=list)  # of the next requests: status, Retry-After
    assertions: list[Json] = field(default_factory=list)  # what service accounts signed to get a token
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Json) -> tuple[int, Json]:
        """Status and JSON of one request; `path` is what follows the endpoint."""
        with self._lock:
            self.requests.append((method, path))
            if not self.is_enabled:
                message = "Compute Engine API has not been used in project demo before or it is disabled."
                return _error(403, message, reason="accessNotConfigured")
            match = _RESOURCE.fullmatch(path)
            if match is None:
                return self._get_place(path)
            place, kind, name = match["place"], match["kind"], match["name"]
            if kind == "images" and method == "GET":
                return self._image(match["project"], name, match["action"])
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

    def _get_place(self, path: str) -> tuple[int, Json]:
        """A project, a zone or a region."""
        project = _PROJECT.fullmatch(path)
        named = project or _PLACE.fullmatch(path)
        if named is None:
            return _error(404, f"no such path: {path}")
        if project:
            if "GET projects" in self.refused:
                return _error(*self.refused["GET projects"])
            return 200, {"name": project["project"], "quotas": self.quota.listed()}
        place = {"name": named["name"], "kind": named["kind"], "status": "UP", "selfLink": LINK + path}
        return 200, place | ({"quotas": self.quota.listed()} if named["kind"] == "regions" else {})

    def manage(self, path: str, body: Json) -> tuple[int, Json]:
        """The Resource Manager's `projects/X:testIamPermissions` and `:getEffectiveOrgPolicy`."""
        self.requests.append(("POST", path))
        if path.endswith(":getEffectiveOrgPolicy"):
            return 200, self.policies.get(body["constraint"].removeprefix("constraints/"), {})
        wanted = body["permissions"]
        return 200, {"permissions": [p for p in wanted if self.granted is None or p in self.granted]}

    def give_token(self, form: dict[str, list[str]]) -> tuple[int, Json]:
        """A token for what a service account signed (RFC 7523); the signature is kept with it for whoever checks it."""
        head, claims, signature = form["assertion"][0].split(".")
        self.assertions.append({**json.loads(_unpacked(claims)), "signed": f"{head}.{claims}", "signature": signature})
        return 200, {"access_token": "of-the-service-account", "expires_in": 3600, "token_type": "Bearer"}

    def _image(self, project: str, name: str, action: str | None) -> tuple[int, Json]:
        """An image by its name, or the newest of a family."""
        images = _IMAGES.get(project, {})
        matches = [image for image, family in images.items() if (family if action else image) == (action or name)]
        if not matches:
            kind = f"family/{action}" if action else name
            return _error(404, f"The resource 'projects/{project}/global/images/{kind}' was not found")
        link = f"{LINK}projects/{project}/global/images/{matches[-1]}"
        family = images[matches[-1]]
        return 200, {"name": matches[-1], "family": family, "selfLink": link, "diskSizeGb": "10", "status": "READY"}

    def _get(
        self, place: str, kind: str, name: str | None, action: str | None, query: dict[str, list[str]]
    ) -> tuple[int, Json]:
        if kind == "machineTypes":
            if name not in _CPUS:
                return _error(404, f"The resource '{place}/machineTypes/{name}' was not found")
            return 200, {"name": name, "guestCpus": _CPUS[name], "memoryMb": 1024}
        if name is None:
            return 200, self._list(place, kind, int(query.get("pageToken", ["0"])[0]))
        thing = self.things.get(f"{place}/{kind}/{name}")
        return (200, thing) if thing else _error(404, f"The resource '{place}/{kind}/{name}' was not found")

    def _list(self, place: str, kind: str, start: int) -> Json:
        matches = [(path, thing) for path, thing in sorted(self.things.items()) if path.split("/")[-2] == kind]
        if place != "aggregated":
            matches = [(path, thing) for path, thing in matches if path.startswith(f"{place}/")]
        page = matches[start : start + self.page_size]
        more = {"nextPageToken": str(start + self.page_size)} if start + self.page_size < len(matches) else {}
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
        thing, unknown = self._linked(project, body)
        if unknown:
            return _error(404, f"The resource '{unknown}' was not found")
        thing["id"] = str(next(self._numbers))
        thing["selfLink"] = f"{LINK}projects/{project}/{path}"
        thing["creationTimestamp"] = "2026-01-01T00:00:00.000-08:00"
        for word in ("zone", "region"):
            if place.startswith(f"{word}s/"):
                thing[word] = f"{LINK}projects/{project}/{place}"
        if kind == "instances":
            self._finish_instance(project, place, thing)
        self.things[path] = thing
        return 200, self._operation(place)

    def _linked(self, project: str, body: Json) -> tuple[Json, str]:
        """The body with every reference as a full link, families resolved; and the image that is not there, or ""."""
        unknown = ""

        def walk(value: Any, key: str = "") -> Any:
            nonlocal unknown
            if isinstance(value, dict):
                return {name: walk(item, name) for name, item in value.items()}
            if isinstance(value, list):
                return [walk(item) for item in value]
            if key not in _REFERENCES or not isinstance(value, str) or "/" not in value:
                return value
            family = _FAMILY_LINK.fullmatch(value)
            if family:
                status, image = self._image(family["project"], "family", family["name"])
                unknown = unknown or ("" if status == 200 else value)
                return image.get("selfLink", value)
            return value if value.startswith("https://") else LINK + _from_projects(value, project)

        return walk(body), unknown

    def _network_of(self, interface: Json) -> str:
        """The network of an interface's subnet, as far as that subnet is known."""
        path = str(interface.get("subnetwork", "")).partition("/projects/")[2].partition("/")[2]
        return str(self.things.get(path, {}).get("network", ""))

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
            interface.setdefault("network", self._network_of(interface))
            interface |= {"name": f"nic{index}", "networkIP": f"10.130.0.{number + 1}", "fingerprint": "AAAA"}
            for config in interface.get("accessConfigs", []):
                config |= {"natIP": f"203.0.113.{number}", "type": "ONE_TO_ONE_NAT", "name": "external-nat"}
                config.setdefault("networkTier", "PREMIUM")
        for index, disk in enumerate(thing.get("disks", [])):
            wanted = disk.pop("initializeParams", {})
            source = f"{LINK}projects/{project}/{place}/disks/{thing['name']}"
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
        operation["selfLink"] = f"{LINK}projects/x/{place}/operations/{name}"
        if place.startswith("zones/"):
            operation["zone"] = f"{LINK}projects/x/{place}"
        if place.startswith("regions/"):
            operation["region"] = f"{LINK}projects/x/{place}"
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


def _from_projects(reference: str, project: str) -> str:
    """A reference from `projects/` on: it may begin there, at its place (`regions/r/...`), or with an end point."""
    if "projects/" in reference:
        return reference[reference.index("projects/") :]
    return f"projects/{project}/{reference}"


def _unpacked(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _error(status: int, message: str, reason: str | None = None) -> tuple[int, Json]:
    detail = {"message": message} | ({"reason": reason} if reason else {})
    return status, {"error": {"code": status, "message": message, "errors": [detail]}}


def environment_of(fake: FakeCompute) -> dict[str, str]:
    """What a user would export, with the fake in Google's place: nobody's own login is looked at, nor a metadata service."""
    return {
        "GOOGLE_PROJECT": "demo",
        "GOOGLE_OAUTH_ACCESS_TOKEN": "secret",
        "TF_VAR_compute_endpoint": fake.url,
        "CLOUDSDK_CONFIG": "/nowhere",
        "NO_GCE_CHECK": "true",
    }


@contextmanager
def serving(fake: FakeCompute | None = None) -> Iterator[FakeCompute]:
    """Serve on a port of the kernel's choice; its `url` is what `compute_endpoint` takes.

    Its root has the Resource Manager under `/v1/`, and the tokens of service accounts at `/token`.
    """
    fake = fake or FakeCompute()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, document, retry_after = self._answer(raw)
            if status == NO_ANSWER:
                self.close_connection = True
                return
            text = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            if retry_after is not None:
                self.send_header("Retry-After", retry_after)
            self.end_headers()
            self.wfile.write(text)

        def _answer(self, raw: bytes) -> tuple[int, Json, str | None]:
            if fake.troubles:
                status, retry_after = fake.troubles.pop(0)
                fake.requests.append((self.command, self.path))
                return *_error(status, "try again later"), retry_after
            parts = urlsplit(self.path)
            if parts.path == "/token":
                return *fake.give_token(parse_qs(raw.decode())), None
            token = self.headers.get("Authorization", "")
            fake.tokens.add(token)
            if fake.valid is not None and token not in fake.valid:
                return *_error(401, "Request had invalid authentication credentials."), None
            body = json.loads(raw) if raw else {}
            if parts.path.startswith("/v1/"):
                return *fake.manage(parts.path.removeprefix("/v1/"), body), None
            path = parts.path.removeprefix("/compute/v1/")
            status, document = fake.answer(self.command, path, parse_qs(parts.query), body)
            return status, document, "0" if status == 429 or status >= 500 else None

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
