"""Calls of a recording by a browser (HAR): requests that differ in values alone become rows of one call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from orchestrator.experiment.drafts.draft import SAFE_METHODS, Draft, DraftCall, column, shortlist
from orchestrator.experiment.drafts.recorded import Recorded, Request
from orchestrator.experiment.model.own_services import METHODS

_STATIC = re.compile(r"^(image|font|video|audio)/|css|javascript|wasm")
_ID = re.compile(r"\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LEAST_ERROR, _NOT_MODIFIED = 400, 304
Shape = tuple[str, str, tuple[str, ...], str]


def har_draft(document: Mapping[str, Any], title: str) -> Draft:
    """Return the draft of a recording; ValueError, LookupError, TypeError or AttributeError for what is none."""
    by_shape: dict[Shape, list[Any]] = {}
    for entry in document["log"]["entries"]:
        if _is_call(entry):
            by_shape.setdefault(_shape(entry["request"]), []).append(entry)
    recorded = Recorded()
    chosen = shortlist(by_shape.items(), lambda each: each[0][0] in SAFE_METHODS)
    calls = [_call(shape, entries, recorded) for shape, entries in chosen]
    return recorded.draft("HAR", title, calls, len(by_shape))


def _is_call(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is a request that an experiment can repeat: no static file, no failure."""
    request, reply = entry["request"], entry["response"]
    is_http = urlsplit(request["url"]).scheme in ("http", "https") and request["method"] in METHODS
    is_static = _STATIC.search((reply.get("content") or {}).get("mimeType") or "")
    return is_http and 0 < reply["status"] < _LEAST_ERROR and not is_static


def _shape(request: Mapping[str, Any]) -> Shape:
    """What the requests of one call have alike: method, path without ids, names of the query, kind of body."""
    parts = urlsplit(request["url"])
    path = "/".join("" if _ID.fullmatch(segment) else segment for segment in parts.path.split("/"))
    query = tuple(name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    return request["method"], f"{parts.netloc}{path}", query, (request.get("postData") or {}).get("mimeType") or ""


def _call(shape: Shape, entries: Sequence[Any], recorded: Recorded) -> DraftCall:
    request, status = entries[0]["request"], entries[0]["response"]["status"]
    posted = request.get("postData") or {}
    headers = [(each["name"], each["value"]) for each in request.get("headers") or ()]
    for cookie in request.get("cookies") or ():
        recorded.credentials.place(cookie["name"], cookie["value"])
    if request.get("cookies") and not any(name.lower() == "cookie" for name, _ in headers):
        headers.append(("cookie", "; ".join(f"{each['name']}={each['value']}" for each in request["cookies"])))
    url, variables = _with_variables([entry["request"]["url"] for entry in entries])
    fields = [(each["name"], unquote(each.get("value") or "")) for each in posted.get("params") or ()]
    written = Request(
        method=shape[0],
        url=url,
        headers=headers,
        media_type=shape[3],
        text=posted.get("text") or "",
        fields=fields,
        variables=variables,
    )
    return recorded.call("", written, None if status == _NOT_MODIFIED else status)


def _with_variables(urls: Sequence[str]) -> tuple[str, dict[str, list[str]]]:
    """A URL in which ids of the path and values of the query are variables, with their values in all these URLs."""
    variables: dict[str, list[str]] = {}
    parts = [urlsplit(url) for url in urls]
    paths = [each.path.split("/") for each in parts]
    queries = [parse_qsl(each.query, keep_blank_values=True) for each in parts]
    segments = paths[0][:]
    for number, segment in enumerate(segments):
        if _ID.fullmatch(segment):
            name = f"{column(paths[0][number - 1])}_id"
            variables[name] = [path[number] for path in paths]
            segments[number] = f"{{{{{name}}}}}"
    query = []
    for number, (name, value) in enumerate(queries[0]):
        is_new = column(name) not in variables
        if is_new:
            variables[column(name)] = [pairs[number][1] for pairs in queries]
        query.append(f"{quote(name)}={f'{{{{{column(name)}}}}}' if is_new else quote(value)}")
    place = f"{parts[0].scheme}://{parts[0].netloc}{'/'.join(segments)}"
    return place + ("?" + "&".join(query) if query else ""), variables
