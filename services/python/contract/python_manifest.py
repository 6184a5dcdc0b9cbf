"""`python -m services.python.contract.python_manifest`: writes `services/python/manifest.json`.

It holds what every `PROTOCOL` and every operation declares.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from services.python.contract import manifest, offers
from services.python.contract.strict import Part, hints_of, is_required

FILE = Path(__file__).resolve().parents[1] / manifest.FILE


def of_python() -> manifest.Manifest:
    """What the folder `services/python` offers."""
    programs = {
        name: f"services.python.programs.{name}" for name in ("respond", "request", "ping", "describe", "sample", "own")
    }
    return manifest.Manifest(
        language="python",
        title="Python",
        precedence=0,
        turns=True,
        roles=manifest.Roles(
            **{name: manifest.Role(argv=["{python}", "-m", module]) for name, module in programs.items()}
        ),
        protocols=[_protocol(protocol) for protocol in offers.protocols().values()],
        operations=[_operation(operation) for operation in offers.operations().values()],
    )


def text(what: manifest.Manifest) -> str:
    """The file: what is at its default may be left out, and is."""
    return json.dumps(_brief(what), indent=2, ensure_ascii=False) + "\n"


def _protocol(protocol: offers.Protocol) -> manifest.Protocol:
    return manifest.Protocol(
        operations=sorted(protocol.operations),
        responders=[_responder(responder, asks=_asks_postgresql(protocol)) for responder in protocol.responders],
        clients=[
            manifest.Client(**_shared(client, manifest.Client, without=("native",))) for client in protocol.clients
        ],
        knobs={
            name: manifest.Knob(default=values[0], values=list(values)) for name, values in protocol.every_knob.items()
        },
        **_shared(protocol, manifest.Protocol, without=("operations", "responders", "clients", "knobs")),
    )


def _operation(operation: Any) -> manifest.Operation:
    message = operation.message
    return manifest.Operation(
        message=message.name,
        request=dict(message.request),
        reply=dict(message.reply),
        **_shared(operation, manifest.Operation, without=("message", "request", "reply")),
    )


def _asks_postgresql(protocol: offers.Protocol) -> bool:
    """Whether one of the operations that it carries takes a driver."""
    return any("driver" in offers.operations()[name].resources for name in protocol.operations)


def _responder(responder: offers.Responder, *, asks: bool) -> manifest.Responder:
    of_parts = {f.name for f in fields(responder.parts)}
    without = of_parts if asks else {*of_parts, "drivers"}
    return manifest.Responder(**vars(responder.parts), **_shared(responder, manifest.Responder, without=without))


def _shared(declared: Any, kind: type[Any], without: Iterable[str] = ()) -> dict[str, Any]:
    """The keys of `kind` that a declaration has under the same name, as JSON has them."""
    values = {f.name: getattr(declared, f.name) for f in fields(kind) if f.name not in set(without)}
    return {key: _plain(value) for key, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _brief(value: Any) -> Any:
    if isinstance(value, list):
        return [_brief(item) for item in value]
    if isinstance(value, dict):
        return {key: _brief(item) for key, item in value.items()}
    if not isinstance(value, Part):
        return value
    kind: Any = type(value)
    hints, stated = hints_of(kind), vars(value)
    kept = [f for f in fields(kind) if is_required(f, hints[f.name]) or stated[f.name] != _default(f)]
    return {f.name: _brief(stated[f.name]) for f in kept}


def _default(declared: Any) -> Any:
    return declared.default if declared.default_factory is MISSING else declared.default_factory()


if __name__ == "__main__":
    FILE.write_text(text(of_python()), encoding="utf-8")
