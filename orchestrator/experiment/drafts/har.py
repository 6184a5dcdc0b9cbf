"""Calls of a recording by a browser (HAR): requests that differ in values alone become rows of one call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from orchestrator.experiment.drafts.credentials import is_credential
from orchestrator.experiment.drafts.draft import SAFE_METHODS, Draft, column, shortlist
from orchestrator.experiment.drafts.written_requests import Recorded, Request
from orchestrator.experiment.model.own_services import METHODS

_STATIC = re.compile(r"^(image|font|video|audio)/|css|javascript|wasm")
_ID = re.compile(r"\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LEAST_ERROR, _NOT_MODIFIED = 400, 304


def har_draft(document: Mapping[str, Any], title: str) -> Draft:
    """Return the draft of a recording; ValueError, LookupError, TypeError or AttributeError for what is none."""
    requests: dict[tuple[str, str, str], tuple[Any, list[dict[str, str]]]] = {}
    for entry in document["log"]["entries"]:
        if _is_call(entry):
            request = entry["request"]
            url, values = _with_variables(request["url"])
            media_type = (request.get("postData") or {}).get("mimeType") or ""
            requests.setdefault((request["method"], url, media_type), (entry, []))[1].append(values)
    recorded = Recorded()
    calls = []
    for (method, url, media_type), (entry, rows) in shortlist(
        requests.items(), lambda each: each[0][0] in SAFE_METHODS
    ):
        posted, reply = entry["request"].get("postData") or {}, entry["response"]
        for cookie in entry["request"].get("cookies") or ():
            if is_credential(cookie["name"], cookie["value"]):
                recorded.credentials.place(cookie["name"], cookie["value"])
        written = Request(
            method=method,
            url=url,
            headers=[(each["name"], each["value"]) for each in entry["request"].get("headers") or ()],
            media_type=media_type,
            text=posted.get("text") or "",
            fields=[(each["name"], unquote(each.get("value") or "")) for each in posted.get("params") or ()],
            variables={name: [row[name] for row in rows] for name in rows[0]},
        )
        status = None if reply["status"] == _NOT_MODIFIED else reply["status"]
        calls.append(recorded.call("", written, status, (reply.get("content") or {}).get("mimeType") or ""))
    return recorded.draft("HAR", title, calls, len(requests))


def _is_call(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is a request that an experiment can repeat: no static file, no failure."""
    request, reply = entry["request"], entry["response"]
    is_http = urlsplit(request["url"]).scheme in ("http", "https") and request["method"] in METHODS
    is_static = _STATIC.search((reply.get("content") or {}).get("mimeType") or "")
    return is_http and 0 < reply["status"] < _LEAST_ERROR and not is_static


def _with_variables(url: str) -> tuple[str, dict[str, str]]:
    """A URL in which ids of the path and values of the query are variables, and their values."""
    parts = urlsplit(url)
    values: dict[str, str] = {}

    def variable(name: str, value: str) -> str:
        while name in values:
            name += "_"
        values[name] = value
        return f"{{{{{name}}}}}"

    segments = [
        variable(f"{column(before)}_id", segment) if _ID.fullmatch(segment) else segment
        for before, segment in pairwise(["", *parts.path.split("/")])
    ]
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = "&".join(f"{quote(name)}={variable(column(name), value)}" for name, value in pairs)
    return f"{parts.scheme}://{parts.netloc}{'/'.join(segments)}" + (f"?{query}" if query else ""), values
