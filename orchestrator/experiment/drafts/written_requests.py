"""Calls of requests that were recorded or written down: in a HAR, a Postman collection, or as a URL."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from orchestrator.experiment.drafts.credentials import Credentials, is_credential, is_named
from orchestrator.experiment.drafts.draft import SAFE_METHODS, SERVICE, Draft, DraftCall, column, http_call

VARIABLE = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
_URL = re.compile(r"((?:\w+|\{\{[^{}]*\}\})://)?((?:\{\{[^{}]*\}\}|[^/?#])*)([^?#]*)\??([^#]*)(?:#.*)?", re.DOTALL)
_segment = partial(quote, safe=":@!$&'()*+,;=")
_OF_A_CLIENT = re.compile(
    r":|(host|connection|content-length|user-agent|origin|referer|pragma|cache-control|dnt|te|priority|postman-token)$"
    r"|(sec|if|accept-(encoding|language)|upgrade|keep-alive|transfer|x-(forwarded|devtools))\b"
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request; `{{name}}` in its texts is a variable. `fields`: of a form."""

    method: str
    url: str
    headers: Sequence[tuple[str, str]] = ()
    media_type: str = ""
    text: str = ""
    fields: Sequence[tuple[str, str]] = ()
    variables: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Recorded:
    """Makes calls of requests; keeps the services and the credentials that they have in common."""

    def __init__(self) -> None:
        self.credentials = Credentials()
        self._services: dict[str, str] = {}

    def draft(self, kind: str, title: str, calls: Sequence[DraftCall], total: int) -> Draft:
        """Return the draft of these calls, whose credentials are hidden wherever they occur."""
        return Draft(
            kind=kind,
            title=title,
            calls=[DraftCall(**self.credentials.sweep(vars(call))) for call in calls],
            total=total,
            services={name: origin for origin, name in self._services.items()},
            secrets=self.credentials.names,
        )

    def call(self, name: str, request: Request, status: int | None = None, media_type: str = "") -> DraftCall:
        """Return the call of a request, with the status and media type of its reply, where they are known."""
        texts = _Texts(request.variables, self.credentials)
        service, target = self._address(request.url, texts)
        headers = {
            key.lower(): texts.template(value, key)
            for key, value in request.headers
            if not _OF_A_CLIENT.match(key.lower())
        }
        body, notes = _body(request, texts)
        if "json" in body or "form" in body:
            headers.pop("content-type", None)
        expect = {"status": status} if status else None
        query = body["json"].get("query") if isinstance(body.get("json"), dict) else None
        return DraftCall(
            name=name or f"{request.method} {target.partition('?')[0]}",
            service=service,
            call=http_call(request.method, target, media_types=[media_type], headers=headers, body=body, expect=expect),
            is_safe=request.method in SAFE_METHODS
            or (isinstance(query, str) and query.lstrip().startswith(("query", "{"))),
            values=texts.values,
            notes=notes,
        )

    def _address(self, url: str, texts: _Texts) -> tuple[str, str]:
        """The service of a URL, and the rest of it as a template."""
        parts = _URL.fullmatch(url)
        assert parts is not None  # noqa: S101 - it matches every text
        place = texts.plain((parts[1] or "") + parts[2])
        known = urlsplit(place if "://" in place else f"http://{place}")
        is_known = known.netloc and "{" not in place
        origin = f"{known.scheme}://{known.netloc.rpartition('@')[2]}" if is_known else ""
        number = len(self._services) + 1
        service = self._services.setdefault(origin, SERVICE if number == 1 else f"{SERVICE}-{number}")
        segments = ((known.path.rstrip("/") if is_known else "") + parts[3]).split("/")
        path = "/".join(texts.template(unquote(segment), "segment", _segment) for segment in segments) or "/"
        pairs = parse_qsl(parts[4], keep_blank_values=True)
        query = "&".join(f"{quote(key)}={texts.template(value, key, quote)}" for key, value in pairs)
        return service, path + (f"?{query}" if query else "")


def url_draft(url: str) -> Draft:
    """Return the draft of one request, a GET."""
    recorded = Recorded()
    call = recorded.call("", Request(method="GET", url=url))
    return recorded.draft("a URL", call.name, [call], 1)


class _Texts:
    """Texts of one request: `{{name}}` becomes `{name}`, a column with its values, and a credential `${NAME}`."""

    def __init__(self, variables: Mapping[str, Sequence[str]], credentials: Credentials) -> None:
        self.values: dict[str, Sequence[Any]] = {}
        self._variables = variables
        self._credentials = credentials

    def plain(self, text: str) -> str:
        """Return a text with the values of its variables; those that have none stay."""
        for _ in range(5):  # values name variables, too
            text = VARIABLE.sub(lambda place: [*self._variables.get(place[1], ()), place[0]][0], text)
        return text

    def template(self, text: str, name: str, written: Any = str) -> str:
        """Return a text as a template; `written` writes what is neither a variable nor a credential."""
        if VARIABLE.search(text) is None:
            return self._credentials.place(name, text) if self._is_hidden(name, text) else written(text)
        return VARIABLE.sub(lambda place: self._place(place[1], is_hidden=is_named(name)), text)

    def tree(self, value: Any, name: str = "") -> Any:
        """Return a JSON value as a template."""
        if isinstance(value, dict):
            return {key: self.tree(part, key) for key, part in value.items()}
        if isinstance(value, list):
            return [self.tree(part, name) for part in value]
        if isinstance(value, str):
            return self.template(value, name)
        is_number = value is not None and not isinstance(value, bool)
        return self._credentials.place(name, str(value)) if is_number and is_credential(name, str(value)) else value

    def _is_hidden(self, name: str, value: str) -> bool:
        return is_credential(name, value) or value in self._credentials

    def _place(self, name: str, *, is_hidden: bool) -> str:
        values = [self.plain(value) for value in self._variables.get(name, ())]
        value = values[0] if values else ""
        if is_hidden or self._is_hidden(name, value or "?"):
            return self._credentials.place(name, value)
        self.values[column(name)] = values or ["1"]
        return f"{{{column(name)}}}"


def _body(request: Request, texts: _Texts) -> tuple[dict[str, Any], list[str]]:
    if "multipart" in request.media_type:
        return {}, ["Its body is a form of several parts: give `body`."]
    if "form-urlencoded" in request.media_type:
        return {"form": texts.tree(dict(request.fields or parse_qsl(request.text, keep_blank_values=True)))}, []
    if not request.text:
        return {}, []
    for text in (request.text, re.sub(r'(?<!")(\{\{[^{}]+\}\})(?!")', r'"\1"', request.text)):  # a variable as a number
        try:
            return {"json": texts.tree(json.loads(text))}, []
        except ValueError:
            continue
    return {"text": texts.template(request.text, "body")}, []
