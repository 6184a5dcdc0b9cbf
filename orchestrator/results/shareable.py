"""What of plan and journal enters the manifest, which reports and exports read: no names of hosts, people or folders.

A host has the name of its role. Addresses, host names, command lines and what libraries and processes wrote stay in the
journal, in plan.json and in logs/, which no report and no export reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from orchestrator.experiment.model.address import is_loopback
from orchestrator.experiment.plan.plan import OwnHost, Plan, Stack
from orchestrator.results.manifest import BaselineRecord, Failure, TrialRecord, TurnRecord
from services.python.contract.description import Description
from services.python.contract.requester_lines import Done

HERE, ELSEWHERE = "127.0.0.1", "192.0.2.1"
"""The address that replaces that of a service that runs already: on this machine, or on another one (RFC 5737)."""
NO_FIGURES = "no figures"
_OF_A_HOST = ("role", "zone", "machine")
_OF_MACHINES = ("hosts", "inventory")


def plan(made: Plan) -> Plan:
    """The plan: the experiment by its file, services of the person's own by their role, without their calls.

    Machines of the person's own have name and role. Overrides of these machines are without their values, which may hold
    an address; so are those of stacks where a service of theirs is measured.
    """
    private = {*_OF_MACHINES, *(["stacks"] if any(stack.external for stack in made.stacks) else [])}
    return replace(
        made,
        stacks=tuple(map(_stack, made.stacks)),
        hosts=tuple(OwnHost(name=host.name, role=host.role) for host in made.hosts),
        experiment_path=file_name(made.experiment_path),
        overrides=tuple(_override(text, private) for text in made.overrides),
    )


def file_name(path: str) -> str:
    """A path within the working folder as it is, of any other the file's name.

    >>> file_name("experiments/rest.yaml"), file_name("/home/ada/rest.yaml"), file_name("../ada/rest.yaml")
    ('experiments/rest.yaml', 'rest.yaml', 'rest.yaml')
    """
    parts = PurePosixPath(path)
    is_outside = parts.is_absolute() or ".." in parts.parts or path.startswith("~")
    return parts.name if is_outside else path


def host(description: Description) -> Description:
    """A host's facts without its name and without what a cloud says of the instance."""
    return replace(description, host=None, cloud=None)


def fleet(document: Mapping[str, Any]) -> dict[str, Any]:
    """The provider's record of its hosts, without addresses and without the id of the deployment."""
    kept = {name: value for name, value in document.items() if name != "deployment"}
    if isinstance(hosts := kept.get("hosts"), dict):
        kept["hosts"] = {name: _facts(facts) for name, facts in hosts.items()}
    if isinstance(link := kept.get("link"), dict):
        kept["link"] = {"kind": link.get("kind")}
    return kept


def _facts(host: object) -> dict[str, Any]:
    return {key: host[key] for key in _OF_A_HOST if key in host} if isinstance(host, dict) else {}


def trial(record: TrialRecord) -> TrialRecord:
    """A trial without what processes and libraries wrote; of a failure, the stage and the kind remain."""
    requesters = tuple(replace(part, done=_done(part.done)) for part in record.requesters)
    failure = record.failure and Failure(stage=record.failure.stage, kind=record.failure.kind)
    return replace(record, failure=failure, requesters=requesters)


def baseline(record: BaselineRecord) -> BaselineRecord:
    """A reading of the floor without what libraries wrote."""
    return replace(record, done=_done(record.done)) if isinstance(record.done, Done) else record


def turn(record: TurnRecord) -> TurnRecord:
    """A load generator's turn without the text of its failure."""
    return replace(record, failure=NO_FIGURES) if record.failure else record


def _done(line: Done) -> Done:
    return replace(line, error_examples={})


def _stack(stack: Stack) -> Stack:
    service = stack.external
    if service is None:
        return stack
    call = {
        "kind": service.call["kind"],
        "expect": all(each["expect"] or each.get("save") for each in service.each_call),
        "events": any(each.get("events") for each in service.each_call),
    }
    shown = replace(
        service,
        given=stack.responder,
        host=HERE if is_loopback(service.host) else ELSEWHERE,
        authority="",
        certificate=(),
        call=call,
        start=service.start and replace(service.start, argv=(), folder="", env={}, build=(), ready_at=""),
    )
    return replace(stack, external=shown)


def _override(text: str, private: Set[str]) -> str:
    key = text.partition("=")[0]
    top = key.partition(".")[0]
    return f"{top}=..." if top in _OF_MACHINES else f"{key}=..." if top in private else text
