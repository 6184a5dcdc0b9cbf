"""Calls of a Postman collection (format 2.0 or 2.1), with its folders, variables and ways to authorise."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from orchestrator.experiment.drafts.credentials import Credentials
from orchestrator.experiment.drafts.draft import SAFE_METHODS, Draft, shortlist
from orchestrator.experiment.drafts.written_requests import VARIABLE, Recorded, Request
from orchestrator.experiment.model.own_services import METHODS

_DYNAMIC = {"$guid": ["3fa85f64-5717-4562-b3fc-2c963f66afa6"], "$timestamp": ["1767225600"]}
_MEDIA_TYPES = {"urlencoded": "application/x-www-form-urlencoded", "formdata": "multipart/form-data"}


def postman_draft(document: Mapping[str, Any], title: str) -> Draft:
    """Return the draft of a collection; ValueError, LookupError, TypeError or AttributeError for what is none."""
    recorded = Recorded()
    requests = list(_requests(document, _DYNAMIC, {}, recorded.credentials))
    chosen = shortlist(requests, lambda each: each[1].method in SAFE_METHODS)
    calls = [recorded.call(name, request) for name, request in chosen]
    return recorded.draft("Postman", str(document["info"].get("name") or title), calls, len(requests))


def _requests(
    item: Mapping[str, Any], variables: Mapping[str, list[str]], auth: Mapping[str, Any], credentials: Credentials
) -> Iterator[tuple[str, Request]]:
    """Yield name and request of all items in a folder; variables and authorisation hold for what is within it."""
    auth = item.get("auth") or auth
    variables = {**variables, **_values(item.get("variable"))}
    for each in _enabled(item.get("variable")):
        if each.get("type") == "secret" and each.get("value"):
            credentials.place(each["key"], str(each["value"]))
    for child in item.get("item") or ():
        yield from _requests(child, variables, auth, credentials)
    if "request" in item:
        given = item["request"]
        request: Mapping[str, Any] = {"url": given} if isinstance(given, str) else given
        if request.get("method", "GET") in METHODS:
            yield str(item.get("name") or ""), _request(request, variables, request.get("auth") or auth)


def _values(items: Any) -> dict[str, list[str]]:
    return {each["key"]: [str(each["value"])] for each in _enabled(items) if each.get("value") not in (None, "")}


def _request(request: Mapping[str, Any], variables: Mapping[str, list[str]], auth: Mapping[str, Any]) -> Request:
    address = request.get("url") or ""
    address = {"raw": address} if isinstance(address, str) else address
    url = re.sub(r"(?<=/):(\w[\w-]*)", r"{{\1}}", str(address.get("raw") or ""))
    if "query" in address:
        pairs = [f"{each['key']}={_escaped(str(each.get('value') or ''))}" for each in _enabled(address["query"])]
        url = url.partition("?")[0] + ("?" + "&".join(pairs) if pairs else "")
    fields, query, secrets = _authorisation(auth)
    body = request.get("body") or {}
    mode = body.get("mode") or "raw"
    text = str(body.get("raw") or "")
    if mode == "graphql":
        values = json.loads(body["graphql"].get("variables") or "{}")
        text = json.dumps({"query": body["graphql"]["query"], "variables": values})
    return Request(
        method=request.get("method", "GET"),
        url=url + (("&" if "?" in url else "?") + query if query else ""),
        headers=[(each["key"], str(each.get("value") or "")) for each in _enabled(request.get("header"))] + fields,
        media_type=_MEDIA_TYPES.get(mode, ""),
        text=text,
        fields=[(each["key"], str(each.get("value") or "")) for each in _enabled(body.get("urlencoded"))],
        variables={**variables, **_values(address.get("variable")), **secrets},
    )


def _escaped(text: str) -> str:
    return "".join(part if VARIABLE.fullmatch(part) else quote(part) for part in re.split(r"(\{\{[^{}]+\}\})", text))


def _authorisation(auth: Mapping[str, Any]) -> tuple[list[tuple[str, str]], str, dict[str, list[str]]]:
    """Header fields, and a part of the query, by which a request authorises itself; and variables that they name."""
    kind = auth.get("type", "noauth")
    options = auth.get(kind) or {}
    if isinstance(options, list):
        options = {each["key"]: str(each.get("value") or "") for each in options}
    if kind == "noauth":
        return [], "", {}
    if kind == "apikey":
        key, place = options.get("key") or "api_key", "{{auth_api_key}}"
        secrets = {"auth_api_key": [options.get("value") or ""]}
        return ([], f"{key}={place}", secrets) if options.get("in") == "query" else ([(key, place)], "", secrets)
    if kind == "basic":
        return [("authorization", "Basic {{user_password_base64}}")], "", {}
    token = options.get("token") or options.get("accessToken") or "{{token}}"
    return [("authorization", f"Bearer {token}")], "", {}


def _enabled(items: Any) -> list[Any]:
    return [each for each in items or () if each.get("key") and not each.get("disabled")]
