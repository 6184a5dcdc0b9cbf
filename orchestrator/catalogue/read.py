"""Reads every manifest below `services/`, strictly, and merges them into one catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from orchestrator.catalogue.offers import OF_FOLDER, Catalogue, Client, Language, Parts, Protocol, Responder
from orchestrator.errors import UsageError
from orchestrator.strict_json import read_json
from services.python.contract.manifest import FILE, Manifest, Operation, decoded
from services.python.contract.manifest import Client as ClientOffered
from services.python.contract.manifest import Protocol as ProtocolOffered
from services.python.contract.manifest import Responder as ResponderOffered
from services.python.contract.manifest import Role as RoleOffered

SERVICES = Path(__file__).resolve().parents[2] / "services"

Offered = TypeVar("Offered", Language, Parts, Protocol, Responder, Client)


def catalogue() -> Catalogue:
    """What this installation offers, read once; UsageError as `read_catalogue`."""
    return read_catalogue(SERVICES)


def protocols() -> Mapping[str, Protocol]:
    """Every protocol of this installation by name, in alphabetical order."""
    return catalogue().protocols


@cache
def read_catalogue(folder: Path) -> Catalogue:
    """The manifests of all languages below a folder as one; UsageError names a manifest that cannot be used."""
    spoken: list[tuple[Language, Manifest]] = []
    for path in sorted(folder.glob(f"*/{FILE}")):
        manifest = _read(path)
        spoken.append((_language(manifest), manifest))
    spoken.sort(key=lambda pair: (pair[0].precedence, pair[0].name))
    by_name: dict[str, list[tuple[Language, ProtocolOffered]]] = {}
    for language, manifest in spoken:
        for protocol in manifest.protocols:
            by_name.setdefault(protocol.name, []).append((language, protocol))
    return Catalogue(
        folder=folder,
        languages={language.name: language for language, _ in spoken},
        protocols={name: _merged(by_name[name]) for name in sorted(by_name)},
        operations=_operations(spoken),
    )


def _operations(spoken: Iterable[tuple[Language, Manifest]]) -> Mapping[str, Operation]:
    """Return the operations, which all languages declare alike; in the order of the first."""
    operations: dict[str, Operation] = {}
    for _, manifest in spoken:
        for operation in manifest.operations:
            operations.setdefault(operation.name, operation)
    return operations


def _read(path: Path) -> Manifest:
    try:
        return decoded(read_json(path))
    except ValueError as error:
        raise UsageError(
            f"{path.parents[1].name}/{path.parent.name}/{path.name} cannot be used: {error}",
            hint="protos/schemas/manifest.json says what a manifest holds",
        ) from error


def _artifacts(manifest: Manifest) -> tuple[str, ...]:
    words = (word for role in vars(manifest.roles).values() if role is not None for word in role.argv)
    named = (word.removeprefix(OF_FOLDER) for word in words if word.startswith(OF_FOLDER))
    return tuple(dict.fromkeys((*named, *manifest.artifacts)))


def _language(manifest: Manifest) -> Language:
    roles: Mapping[str, RoleOffered | None] = vars(manifest.roles)
    start = {name: tuple(role.argv) for name, role in roles.items() if role is not None}
    return _as(Language, manifest, name=manifest.language, start=start, artifacts=_artifacts(manifest))


def _merged(spoken: list[tuple[Language, ProtocolOffered]]) -> Protocol:
    """Return a protocol of all languages: described by the first; ends of another one describe how they differ."""
    _, first = spoken[0]
    operations = frozenset(operation for _, protocol in spoken for operation in protocol.operations)
    responders = [r for speaker, p in spoken for r in _responders(speaker, p, first, operations)]
    clients = [c for speaker, p in spoken for c in _clients(speaker, p, first, operations)]
    asking = next(p for _, p in spoken if p.sequential is not None)
    return _as(
        Protocol,
        first,
        operations=operations,
        responders=tuple(responders),
        clients=tuple(clients),
        sequential=str(asking.sequential),
        concurrent=str(asking.concurrent),
    )


def _responders(
    language: Language, protocol: ProtocolOffered, first: ProtocolOffered, operations: Iterable[str]
) -> Iterator[Responder]:
    for end in protocol.responders:
        yield _as(Responder, end, parts=_as(Parts, end), **_shared(end, language, protocol, first, operations))


def _clients(
    language: Language, protocol: ProtocolOffered, first: ProtocolOffered, operations: Iterable[str]
) -> Iterator[Client]:
    differs = protocol.round_trips_to_open != first.round_trips_to_open
    for end in protocol.clients:
        own = end.round_trips_to_open
        opening = protocol.round_trips_to_open if own is None and differs else own
        shared = _shared(end, language, protocol, first, operations)
        yield _as(Client, end, round_trips_to_open=opening, **shared)


def _shared(
    end: ResponderOffered | ClientOffered,
    language: Language,
    protocol: ProtocolOffered,
    first: ProtocolOffered,
    operations: Iterable[str],
) -> dict[str, Any]:
    """Return what both kinds of ends have of their language and protocol, as far as it differs from the first one's."""
    uncarried = {o: f"{language.title} does not carry it" for o in operations if o not in protocol.operations}
    otherwise = {key: value for key, value in protocol.settings.items() if first.settings.get(key) != value}
    return {
        "language": language,
        "refuses": {**uncarried, **end.refuses},
        "settings": {**otherwise, **end.settings},
        "knobs": {name: tuple(knob.values) for name, knob in protocol.knobs.items()},
        "without_knobs": protocol.without_knobs,
    }


def _as(kind: type[Offered], declared: object, **others: Any) -> Offered:
    """What a manifest declares as a type of the catalogue: fields of the same name, lists as tuples, and the others."""
    alike = {
        field.name: _frozen(getattr(declared, field.name)) for field in fields(kind) if hasattr(declared, field.name)
    }
    return kind(**(alike | others))


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
