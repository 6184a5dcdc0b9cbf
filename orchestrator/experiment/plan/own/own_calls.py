"""Stacks that call services of the person's own: what they call, who answers, and the rows that requests are made of.

Files are read here, names of columns, methods and secrets looked up. A plan holds `${NAME}`, never a secret's value.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import re
import shlex
import socket
import ssl
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import jsonpath_rfc9535

from orchestrator.catalogue.offers import Protocol
from orchestrator.errors import UsageError, did_you_mean
from orchestrator.experiment.model.address import is_loopback, resolve
from orchestrator.experiment.model.experiment import StackSpec
from orchestrator.experiment.model.loader import Located, Steps
from orchestrator.experiment.model.own_services import BodySpec, ExpectSpec, OwnCallSpec, ServiceSpec
from orchestrator.experiment.plan.own.own_protos import (
    Unusable,
    compiled,
    described_by,
    near,
    paths_in,
    reflected,
    unknown_field,
)
from orchestrator.experiment.plan.placements import refuse_several_distances
from orchestrator.experiment.plan.plan import External, Operation, Plan, Start
from orchestrator.experiment.plan.stacks import Entry, chosen_calls, clients_of, external_responder
from orchestrator.experiment.providers import PROVIDERS, THIS_MACHINE
from orchestrator.experiment.read.problems import shown
from orchestrator.files import UnreadableFile, read_file
from services.python.contract.descriptors import method_of
from services.python.contract.limits import TLS, TLS_1_3
from services.python.contract.templates import PLACEHOLDER, columns, is_place, render, secrets, written

OPERATION = Operation(
    id="call", name="call", label="call", payload={"kind": "call"}, request_bytes=200, reply_bytes=1_000
)
"""The one operation of an experiment with services of one's own."""
MOST_ROWS = 100_000
MOST_FILE_BYTES = 64 * 2**20
_PLAIN = re.compile(r"\$(\.\w+|\[(\d+|\*)\])*")  # a JSONPath of names and places


def has_own_services(located: Located) -> bool:
    """Return whether the experiment's stacks call services of the person's own; what does not fit is noted."""
    experiment = located.experiment
    own = [spec.service is not None for spec in experiment.stacks]
    if any(own):
        if not all(own):
            reason = "stacks with a `service` of your own are compared among themselves."
            located.add(("stacks", own.index(False)), reason)
        if experiment.operations:
            located.add(("operations",), "your own services do what their `call` says: leave `operations` out.")
        return True
    if not experiment.operations:
        located.add((), "'operations' is missing. What each request does.")
    for key in experiment.model_fields_set & {"services", "data", "same"}:
        located.add((key,), f"no stack has a `service`, so `{key}` says nothing.")
    return False


def own_entries(located: Located, known: Mapping[str, Protocol]) -> tuple[Entry, ...]:
    """Return the entry of each stack and client. What cannot be is noted in `located`."""
    experiment = located.experiment
    rows = _rows(located)
    entries: list[Entry] = []
    placed: list[External] = []
    for number, spec in enumerate(experiment.stacks):
        path: Steps = ("stacks", number)
        service = experiment.services.get(spec.service or "")
        if service is None:
            if spec.service is not None:
                meant = near(spec.service, experiment.services)
                located.add((*path, "service"), f"`services` has no '{spec.service}'.{meant}")
            continue
        where = (_started if service.start else _running)(located, spec.service or "", service)
        if where and (external := _Calls(located, path, spec, where, rows).external()):
            placed.append(external)
            entries += _entries(located, path, spec, known, external)
    located.raise_problems()
    if ("together" in experiment.pin or len(experiment.pin) > 1) and any(each.start is None for each in placed):
        located.add(("pin",), "orch cannot pin a service that it does not start: leave `pin` out, or turn it off.")
    for number, external in enumerate(placed if PROVIDERS[experiment.provider].makes_hosts else ()):
        if external.start is None or any(secrets(external.call)):
            what = "a service that runs already" if external.start is None else "a call with a secret of yours"
            located.add(("stacks", number), f"{what} is measured by `provider: {THIS_MACHINE}` alone.")
    refuse_several_distances(located, placed)
    return tuple(entries)


def _entries(
    located: Located, path: Steps, spec: StackSpec, known: Mapping[str, Protocol], external: External
) -> Iterator[Entry]:
    protocol = known[f"own_{external.call['kind']}"]
    chosen = {**chosen_calls(located, spec), TLS: (TLS_1_3 if external.authority else "none",)}
    responder = external_responder(protocol, external.name)
    entry = partial(Entry, path=path, protocol=protocol, responder=responder, chosen=chosen, external=external)
    if not spec.client:
        yield entry(client=None)
    call = external.call
    needs = {
        "steps": "steps" in call,
        "redirects": call.get("redirects"),
        "calls with your own certificate": external.certificate,
        "compressed replies": "accept-encoding" in map(str.lower, call.get("headers", ())),
    }
    beyond = [words for words, is_needed in needs.items() if is_needed]
    for client in clients_of(located, path, protocol, spec):
        if client.language.build and beyond:
            located.add((*path, "client"), f"{client.name} is compiled, and makes no {beyond[0]}: leave `client` out.")
        else:
            yield entry(client=client)


# ---- who answers


def _started(located: Located, name: str, service: ServiceSpec) -> External | None:
    if not (located.folder / service.folder).is_dir():
        located.add(("services", name, "folder"), f"there is no folder {service.folder} beside the experiment.")
        return None
    try:
        words, build = shlex.split(service.start or ""), shlex.split(service.build or "")
    except ValueError as error:
        located.add(("services", name), f"its command cannot be read: {error}.")
        return None
    ready = service.ready
    start = Start(
        argv=tuple(words),
        folder=service.folder,
        env=dict(service.env),
        build=tuple(build),
        ready="tcp" if ready is None else ready.kind,
        ready_at="" if ready is None else str(getattr(ready, ready.kind)),
        within_s=service.within,
    )
    return External(given="127.0.0.1", host="127.0.0.1", port=0, start=start)


def _running(located: Located, name: str, service: ServiceSpec) -> External | None:
    path: Steps = ("services", name, "url" if service.url else "address")
    (host, port, is_secured), authority = service.place, ""
    try:
        address = resolve(host)
        if not is_loopback(address) and not service.allow:
            raise ValueError(f"{host} is another machine: `allow: true` says that you may send it requests")
        if is_secured:
            authority = (service.tls and service.tls.ca) or ssl.get_default_verify_paths().cafile or ""
            if not authority or not (located.folder / authority).is_file():
                raise ValueError(f"no authority of its certificate is at {authority}: give `tls: {{ca: FILE}}`")
    except ValueError as error:
        located.add(path, f"{error}.")
        return None
    if host == "localhost" and not is_secured and not _listens(address, port) and _listens("::1", port):
        host = address = "::1"  # clients ask one family alone, and `localhost` is both (RFC 6761)
    files = {key: name for key in ("cert", "key") if service.tls is not None and (name := getattr(service.tls, key))}
    for key, name in files.items():
        _read(located, (*path[:-1], "tls", key), name)
    return External(given=host, host=address, port=port, authority=authority, certificate=tuple(files.values()))


def _listens(address: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((address, port), timeout=1.0):
        return True
    return False


# ---- what is called


@dataclass(frozen=True)
class _Calls:
    """What one stack calls, resolved; what cannot be is noted at its place in the file."""

    located: Located
    path: Steps
    spec: StackSpec
    where: External
    rows: Rows

    def external(self) -> External | None:
        """The service with its call; None where that cannot be made."""
        if (call := self._all()) is None:
            return None
        for name in _secrets_of(call, self.where):
            if name not in os.environ:
                path = (*self.path, "call" if self.spec.call else "steps")
                self.located.add(path, f"the environment has no {name}, which this call names as `${{{name}}}`.")
        return replace(self.where, name=self.spec.name or self.spec.service or "", call=call)

    def _all(self) -> dict[str, Any] | None:
        """A call as plans and call files have it, or the steps of a task."""
        spec, path, add = self.spec, self.path, self.located.add
        shared = {"order": self.rows.order, "data": self.rows.source}
        if spec.call is not None:
            call = self._one((*path, "call"), spec.call, ())
            return None if call is None else {**call, **shared, "same": self._same((*path, "call"), spec.call, call)}
        steps: list[dict[str, Any]] = []
        saved: dict[str, None] = {}
        for number, name in enumerate(spec.steps):
            if (called := spec.calls.get(name)) is None:
                add((*path, "steps", number), f"`calls` has no '{name}'.{near(name, spec.calls)}")
                return None
            if (step := self._one((*path, "calls", name), called, tuple(saved))) is None:
                return None
            steps.append(step)
            saved |= dict.fromkeys(called.save)
        kinds = {step["kind"] for step in steps}
        is_kept = kinds & {"websocket", "socketio"} and len({(s["path"], str(s["headers"])) for s in steps}) > 1
        if is_kept or (len(kinds) > 1 and kinds != {"http", "graphql"}):
            reason = "steps are made on one connection, and these are not of one kind, path and headers."
            add((*path, "steps"), reason)
        kind = steps[0]["kind"] if len(kinds) == 1 else "http"
        same = self._same((*path, "calls", spec.steps[-1]), spec.calls[spec.steps[-1]], steps[-1])
        return {"kind": kind, "steps": steps, **shared, "same": same}

    def _one(self, path: Steps, spec: OwnCallSpec, saved: Collection[str]) -> dict[str, Any] | None:
        """One call; None where it cannot be made. `saved`: what earlier steps save."""
        located, rows = self.located, self.rows
        call: dict[str, Any] = {
            "kind": spec.kind,
            "headers": dict(spec.headers),
            "decode": spec.decode,
            "expect": self._expect(path, spec),
        }
        if spec.save:
            call["save"] = {name: self._query((*path, "save", name), place) for name, place in spec.save.items()}
        if spec.redirects:
            call["redirects"] = spec.redirects
        problems = len(located.problems)
        call |= self._request(path, spec)
        if len(located.problems) > problems:
            return None
        templated = {key: value for key, value in call.items() if key not in ("query", "descriptors")}
        columns_there = (*rows.columns, *saved)
        for column in dict.fromkeys(columns(templated)):
            if column not in columns_there:
                where = [key for key in spec.model_fields_set if column in columns(_plain(getattr(spec, key)))]
                known = did_you_mean(column, columns_there) if columns_there else "There is no `data`."
                located.add((*path, *where[:1]), f"`{{{column}}}` names no column. {known}")
        if len(located.problems) == problems and spec.grpc is not None:
            self._refuse_unfit_message(path, call, saved)
        elif len(located.problems) == problems and spec.body is not None:
            self._refuse_unfit_body((*path, "body"), spec, spec.body, saved)
        return call

    def _request(self, path: Steps, spec: OwnCallSpec) -> dict[str, Any]:
        """What is sent, by the kind of the call."""
        match spec.kind:
            case "http" | "sse":
                method, _, target = (spec.http or spec.sse or "").partition(" ")
                events = {} if spec.sse is None else {"events": spec.events}
                return {"method": method, "path": target, "body": self._body(path, spec.body), **events}
            case "graphql":
                query = _document(self.located, (*path, "graphql"), spec.graphql or "")
                return {"path": spec.path or "/graphql", "query": query, "variables": spec.variables or {}}
            case "websocket":
                return {"path": spec.websocket, "send": spec.send}
            case "socketio":
                return {"path": spec.path or "/socket.io", "event": spec.socketio, "send": spec.send}
        message, descriptors = {} if spec.message is None else spec.message, self._descriptors(path, spec)
        return {"method": spec.grpc, "message": message, "descriptors": descriptors}

    def _expect(self, path: Steps, spec: OwnCallSpec) -> dict[str, Any]:
        expect = spec.expect
        values = {self._query((*path, "expect"), key): value for key, value in expect.values.items()}
        wanted = {"status": list(expect.status or ()), "values": values, "size": expect.size, "sha256": expect.sha256}
        return {key: value for key, value in wanted.items() if value}

    def _same(self, path: Steps, spec: OwnCallSpec, call: Mapping[str, Any]) -> dict[str, str]:
        known = self.located.experiment.same
        for name in spec.same:
            if name not in known:
                reason = f"the experiment's `same` has no '{name}'.{near(name, known)}"
                self.located.add((*path, "same"), reason)
        same = {}
        for name, usual in known.items():
            key: Steps = (*path, "same", name) if name in spec.same else ("same", name)
            same[name] = self._query(key, spec.same.get(name, usual))
            own = "" if name in spec.same else f" Give this call a `same` of its own: `same: {{{name}: ...}}`."
            self._refuse_unknown_place(key, call, same[name], own)
        return same

    def _query(self, path: Steps, text: str) -> str:
        """A JSONPath; fields with points are one from the top."""
        query = text if text.startswith("$") else f"$.{text}"
        try:
            jsonpath_rfc9535.compile(query)
        except jsonpath_rfc9535.JSONPathError as error:
            reason = str(error).splitlines()[0]
            self.located.add(path, f"'{shown(text)}' is no JSONPath (RFC 9535): {reason}.")
        return query

    def _body(self, path: Steps, body: BodySpec | None) -> dict[str, Any]:
        if body is None:
            return {}
        if body.file is not None:
            return {"hex": _read(self.located, (*path, "body", "file"), body.file).hex()}
        if body.form is not None:
            return {"form": body.form}
        return {"text": body.text} if body.text is not None else {"json": body.document}

    def _descriptors(self, path: Steps, spec: OwnCallSpec) -> str:
        """The descriptor set of a method, base64; empty where there is none, which is noted."""
        key = "proto" if spec.proto else "descriptors" if spec.descriptors else "reflection"
        method, where, folder = str(spec.grpc), self.where, self.located.folder
        try:
            if spec.proto:
                content = compiled(folder / spec.proto)
            elif spec.descriptors:
                content = _read(self.located, (*path, key), spec.descriptors)
            elif where.start is not None:
                raise Unusable("a service that orch starts does not run while it is planned: give `proto`.")
            else:
                files = [str(folder / name) for name in where.certificate]
                trusted = where.authority and str(folder / where.authority)
                content = reflected(where.given, where.port, trusted, files, method.partition("/")[0])
            return base64.b64encode(described_by(content, method)).decode()
        except Unusable as error:
            self.located.add((*path, error.key or key), str(error))
            return ""

    def _refuse_unfit_message(self, path: Steps, call: Mapping[str, Any], saved: Collection[str]) -> None:
        method = method_of(call["descriptors"], call["method"])
        for keys in paths_in(call["message"]):
            if reason := unknown_field(method.request_type.DESCRIPTOR, keys):
                self.located.add((*path, "message", *keys), reason)
                return
        places = {"expect": call["expect"].get("values", {}), "save": call.get("save", {}).values()}
        for key, place in ((key, place) for key, named in places.items() for place in named):
            self._refuse_unknown_place((*path, key), call, place)
        environment = dict.fromkeys(secrets(call["message"]), "secret")
        for number, row in enumerate(self.rows.rows, start=1):
            try:
                method.request(render(call["message"], {**row, **dict.fromkeys(saved, PLACEHOLDER)}, environment))
            except ValueError as error:
                reason = f"row {number} makes no request of {call['method']}: {error}."
                self.located.add((*path, "message"), reason)
                return

    def _refuse_unknown_place(self, path: Steps, call: Mapping[str, Any], place: str, hint: str = "") -> None:
        """Note a place of names and numbers in the reply of a unary method that its message has not."""
        if call["kind"] != "grpc" or not _PLAIN.fullmatch(place):
            return
        method = method_of(call["descriptors"], call["method"])
        names = [] if method.is_stream else re.findall(r"\.(\w+)", place)
        if reason := unknown_field(method.reply.DESCRIPTOR, names, is_reply=True):
            self.located.add(path, f"{reason}{hint}")

    def _refuse_unfit_body(self, path: Steps, spec: OwnCallSpec, body: BodySpec, saved: Collection[str]) -> None:
        """Note a body that says that it is JSON, and is none: a text with its first row, a file, JSON within quotes."""
        document, text = body.document, body.text
        if isinstance(document, str) and document.lstrip()[:1] in ("{", "[") and not is_place(document):
            reason = "it is a text: write the JSON value without quotes, or give it as `text`."
            self.located.add((*path, "json"), reason)
        media = [value for name, value in spec.headers.items() if name.lower() == "content-type"]
        if not (any("json" in value for value in media) or str(body.file).endswith(".json")):
            return
        if text is not None:
            row = {**self.rows.rows[0], **dict.fromkeys(saved, PLACEHOLDER)}
            text = written(render(text, row, dict.fromkeys(secrets(text), PLACEHOLDER)))
        elif body.file is not None:
            text = _text(self.located, (*path, "file"), body.file)
        try:
            json.loads(text or "null")
        except ValueError as error:
            key = "text" if body.file is None else "file"
            self.located.add((*path, key), f"{body.file or 'its first row'} is no JSON: {error}.")


def _plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, BodySpec | ExpectSpec) else value


def _secrets_of(call: Mapping[str, Any], service: External) -> list[str]:
    """Names of the secrets of a call and of the environment in which its service is started, each once."""
    return list(dict.fromkeys(secrets([call, dict(service.start.env) if service.start else {}])))


# ---- files


@dataclass(frozen=True)
class Rows:
    """The rows of the data; one without values where there is none. `source`: its file and digest, as a plan has them."""

    rows: Sequence[Mapping[str, Any]]
    order: str = "file"
    source: Mapping[str, str] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that every row has."""
        return tuple(name for name in self.rows[0] if all(name in row for row in self.rows))


def _rows(located: Located) -> Rows:
    spec = located.experiment.data
    if spec is None:
        return Rows(rows=({},))
    content = _read(located, ("data",), spec.file)
    located.raise_problems()
    try:
        rows = parse_rows(spec.file, content)
    except ValueError as error:
        located.add(("data",), f"{spec.file}: {error}.")
        located.raise_problems()
    return Rows(rows, spec.order, {"path": spec.file, "sha256": hashlib.sha256(content).hexdigest()})


def parse_rows(name: str, content: bytes) -> list[dict[str, Any]]:
    """Return the rows of a CSV with a header line, or of JSON lines; ValueError for what is neither."""
    text = content.decode("utf-8-sig")
    rows: list[dict[str, Any]] = []
    if name.endswith(".csv"):
        rows = list(csv.DictReader(StringIO(text, newline=""), strict=True))
        if odd := next((number for number, row in enumerate(rows, 1) if None in row or None in row.values()), None):
            raise ValueError(f"row {odd} has another number of values than the header")
    elif name.endswith((".jsonl", ".ndjson")):
        rows = [_object(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    else:
        raise ValueError("data are in a .csv, .jsonl or .ndjson file")
    if not 1 <= len(rows) <= MOST_ROWS:
        raise ValueError(f"it has {len(rows):,} rows; 1 to {MOST_ROWS:,} are used")
    return rows


def _object(number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise ValueError(f"line {number} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"line {number} is no JSON object")
    return value


def _document(located: Located, path: Steps, name: str) -> str:
    """A GraphQL document beside the experiment; one with a fault in its syntax is noted."""
    from graphql import GraphQLSyntaxError, parse

    try:
        parse(text := _text(located, path, name) or "{_}")
    except GraphQLSyntaxError as error:
        line, column = error.locations[0] if error.locations else (1, 1)
        located.add(path, f"{name}:{line}:{column} is no GraphQL: {error.message.removeprefix('Syntax Error: ')}")
    return text


def _text(located: Located, path: Steps, name: str) -> str:
    try:
        return _read(located, path, name).decode()
    except UnicodeDecodeError:
        located.add(path, f"{name} is no text in UTF-8.")
        return ""


def _read(located: Located, path: Steps, name: str) -> bytes:
    """A file beside the experiment; empty where it cannot be read, which is noted."""
    try:
        return read_file(located.folder / name, MOST_FILE_BYTES)
    except FileNotFoundError:
        files = [file.name for file in (located.folder / name).parent.glob("*") if file.is_file()]
        located.add(path, f"there is no file {name} beside the experiment.{near(Path(name).name, files)}")
    except UnreadableFile as error:
        located.add(path, f"{name} {error}.")
    return b""


def call_file(plan: Plan, external: External) -> bytes:
    """Return the call file of a stack: its call with the rows; UsageError where the data are not those of the plan."""
    source = external.call["data"]
    rows: Sequence[Mapping[str, Any]] = ({},)
    if source is not None:
        try:
            content = read_file(beside(plan, source["path"]), MOST_FILE_BYTES)
        except (FileNotFoundError, UnreadableFile):
            content = b""
        if hashlib.sha256(content).hexdigest() != source["sha256"]:
            hint = f"plan again: orch plan {plan.experiment_path}"
            raise UsageError(f"{source['path']}, the data of the plan, is gone or has changed", hint=hint)
        rows = parse_rows(source["path"], content)
    call = {key: value for key, value in external.call.items() if key != "data"}
    if external.certificate:
        call["certificate"] = [str(beside(plan, name).resolve()) for name in external.certificate]
    return json.dumps({**call, "rows": rows}, ensure_ascii=False).encode()


def beside(plan: Plan, name: str) -> Path:
    """Return a file or folder that the experiment names, which stands beside it."""
    return Path(plan.experiment_path).parent / name


def own_stacks(plan: Plan) -> Iterable[tuple[str, External]]:
    """Yield the id of each stack that calls a service of the person's own, and that service."""
    return ((stack.id, stack.external) for stack in plan.stacks if stack.external is not None)


def require_secrets(plan: Plan) -> None:
    """Return when the environment has every variable that a plan's calls name; UsageError with those that it has not."""
    named = {name for _, own in own_stacks(plan) for name in _secrets_of(own.call, own)}
    if missing := sorted(named - os.environ.keys()):
        raise UsageError(
            f"the environment has no {', '.join(missing)}, which the plan's calls name",
            hint="set it first, or name a file that has it: orch --secrets FILE run",
        )
