"""Responders that run already: which address each stands for, what is known of them, and what cannot be asked of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from orchestrator.catalogue.offers import Client, Protocol, Responder
from orchestrator.experiment.model.address import is_loopback, parse_address, resolve
from orchestrator.experiment.model.factors import KNOBS
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.differences import NOT_KNOWN
from orchestrator.experiment.plan.estimate import requests_of
from orchestrator.experiment.plan.plan import External, Plan, Stack
from orchestrator.experiment.providers import PROVIDERS, THIS_MACHINE
from services.python.contract.knobs import READ_RATE, READ_RATES

NAME = "external"
"""What stands for the implementation that answers: nobody here knows it."""

_UNTOLD = "the responder runs already, and orch tells it nothing"


def resolve_externals(located: Located) -> Mapping[int, External]:
    """The responder that runs already of each stack item that names one, by the item's number.

    Names are looked up once, here. What cannot be is noted in `located`: another provider than this machine, a name
    without an address, a distance that is not the same for all.
    """
    experiment = located.experiment
    named = {n: spec.external for n, spec in enumerate(experiment.stacks) if spec.external is not None}
    if not named:
        return {}
    if PROVIDERS[experiment.provider].makes_hosts:
        for number in named:
            located.add(
                ("stacks", number, "external"),
                f"provider {experiment.provider} makes its own hosts, which need not reach this address; only"
                f" `provider: {THIS_MACHINE}` asks a responder that runs already.",
            )
        return {}
    if "together" in experiment.pin or len(experiment.pin) > 1:
        located.add(("pin",), "orch cannot pin a responder that it does not start: leave `pin` out, or turn it off.")
    known: dict[str, str] = {}
    found = {}
    for number, spec in named.items():
        host, port = parse_address(spec.address)
        try:
            known[host] = known.get(host) or resolve(host)
        except ValueError as error:
            located.add(("stacks", number, "external"), f"{error}.")
            continue
        found[number] = External(given=host, host=known[host], port=port, is_anonymous=spec.identity == "none")
    _refuse_several_distances(located, found)
    return found


def _refuse_several_distances(located: Located, found: Mapping[int, External]) -> None:
    """Stacks at different distances cannot be compared: a difference would be the network's."""
    for number, reason in several_distances([found.get(number) for number in range(len(located.experiment.stacks))]):
        located.add(
            ("stacks", number), f"{reason} Measure them in two experiments, or have both answer on one machine."
        )


def several_distances(answering: Sequence[External | None]) -> Iterator[tuple[int, str]]:
    """The stacks, by number, that answer from elsewhere than the first on another machine, and why that cannot be.

    `answering`: who answers each stack; None where orch starts the responder, on this machine.
    """
    away = [external for external in answering if external is not None and not is_loopback(external.host)]
    if not away:
        return
    first = away[0]
    for number, external in enumerate(answering):
        if external is None or external.host != first.host:
            where = "this machine" if external is None or is_loopback(external.host) else external.host
            yield (
                number,
                f"it answers from {where}, another stack from {first.host}: their difference would be the network's.",
            )


def is_elsewhere(externals: Iterable[External]) -> bool:
    """Whether their addresses are of another machine than this one; who answers behind one of this machine is not known."""
    return any(not is_loopback(external.host) for external in externals)


def names(externals: Iterable[External]) -> Mapping[External, str]:
    """What stands for each in ids, labels and tables: `external`, `external-2`."""
    every = dict.fromkeys(externals)
    return {external: NAME if not number else f"{NAME}-{number + 1}" for number, external in enumerate(every)}


def responder(protocol: Protocol, name: str) -> Responder:
    """What takes a responder's place in a stack: one that can do what the protocol can, and is told nothing."""
    codec, unknown = protocol.responder().parts, _unknown(protocol, name)
    return Responder(
        name=name,
        language=protocol.responder().language,
        knobs={READ_RATE: READ_RATES},  # which is the requester's alone
        without_knobs={factor.name: _UNTOLD for factor in KNOBS if factor.name != READ_RATE},
        parts=replace(codec, server=unknown, framework=unknown, validation=unknown),
    )


def parts(known: Mapping[str, str], protocol: Protocol, name: str, client: Client) -> dict[str, str]:
    """The parts of a stack whose responder is of that name, out of those that it would have if it were known."""
    unknown = _unknown(protocol, name)
    language = f"{unknown}, asked in {client.language.title}"
    return {**known, "framework": unknown, "language": language, "reading": unknown}


def _unknown(protocol: Protocol, name: str) -> str:
    """Of two responders nobody knows whether what is not known is alike: each has its own text.

    So have two protocols at one address: a proxy there may have a responder for each.
    """
    return f"{NOT_KNOWN} ({protocol.name}, {name})"


def given(stacks: Iterable[Stack]) -> dict[str, External]:
    """Who answers, where that runs already, by the stack's label; without the controls that enter a stack again."""
    return {s.label: s.external for s in stacks if s.external is not None and s.control_of is None}


def sentence(stacks: Collection[Stack]) -> str:
    """What a reader of the numbers must know of responders that run already; empty without one."""
    told = [f"{label} at {address(external)}" for label, external in given(stacks).items()]
    if not told:
        return ""
    one = len(told) == 1
    unlike = (
        f" Unlike the others {'it does' if one else 'they do'} not start afresh for every trial,"
        f" {'is' if one else 'are'} not pinned by orch, and may answer from farther away, through a tunnel, a container or"
        " a proxy: their difference may be that."
        if any(stack.external is None for stack in stacks)
        else ""
    )
    return (
        f"Answered by {'a service' if one else 'services'} that orch did not start: {'; '.join(told)}."
        f" {'Its' if one else 'Their'} version, CPU, settings and own work are not known.{unlike}"
    )


def behind_loopback(stacks: Iterable[Stack]) -> str:
    """What is known of where those answer whose address is one of the loopback; empty without one."""
    labels = [label for label, external in given(stacks).items() if is_loopback(external.host)]
    return f"{' and '.join(labels)} at a loopback address; who answers behind it is not known" if labels else ""


def address(external: External) -> str:
    """The address as the experiment names it, `db.example:80`; of a manifest's plan the role with the port."""
    return f"{external.given}:{external.port}"


def announcements(plan: Plan) -> list[str]:
    """To whom requests will go that orch did not start, and about how many; one line for each address."""
    by_address: dict[External, list[Stack]] = {}
    for stack in plan.stacks:
        if stack.external is not None:
            by_address.setdefault(stack.external, []).append(stack)
    return [
        f"{', '.join(given(stacks))}: about {requests_of(plan, {s.id for s in stacks}):,} requests go to"
        f" {address(external)}{'' if external.given == external.host else f' ({external.host})'}, which runs already;"
        " orch starts nothing there, and ends nothing"
        for external, stacks in by_address.items()
    ]
