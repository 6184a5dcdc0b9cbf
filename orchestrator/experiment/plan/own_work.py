"""What a stack's latency holds, or leaves out, that its protocol does not call for; from what the catalogue declares.

Manifests have the declarations (`adds`, `without`, `omits`); a plan carries them under `resolved`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.catalogue.offers import Client, Responder
from orchestrator.experiment.plan import external
from orchestrator.experiment.plan.plan import Stack

# How a plan says by which rule a stack is timed (`protos/fields.md`); a plan that says neither was made before the rule.
ALL_READ = "every one read once, on both ends, within the call"
SOME_UNREAD = "not all read within the call"
NOT_KNOWN = "not known of a responder that orch did not start"


def declared(*ends: Responder | Client) -> list[dict[str, str]]:
    """The declarations of a stack's ends, as a plan keeps them: what is empty is left out."""
    told = (
        {"name": end.name, "adds": end.adds, "without": getattr(end, "without", ""), "omits": end.omits} for end in ends
    )
    return [{key: words for key, words in end.items() if words} for end in told if end["adds"] or end["omits"]]


def added(stacks: Sequence[Stack], resolved: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """`rest: fastapi validates every JSON body with pydantic models (starlette does not)`; stacks alike share one."""
    return _phrases(stacks, resolved, "adds")


def unread(stacks: Sequence[Stack], resolved: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Likewise, which ends leave fields unread that a caller would use."""
    return _phrases(stacks, resolved, "omits")


def sentences(stacks: Sequence[Stack], resolved: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """What a reader of a comparison must know besides: one sentence each, where there is something to say."""
    found = [external.sentence(stacks)] if any(stack.external for stack in stacks) else []
    if omitted := unread(stacks, resolved):
        found.append(
            "Some stacks leave fields unread: theirs is the cost of passing a message on, not of using it. "
            f"{'; '.join(omitted)}."
        )
    if work := added(stacks, resolved):
        found.append(f"These latencies include work that is not the protocol's. {'; '.join(work)}.")
    return tuple(found)


def _phrases(stacks: Sequence[Stack], resolved: Mapping[str, Mapping[str, Any]], key: str) -> list[str]:
    labels: dict[str, list[str]] = {}
    for stack in stacks:
        if stack.control_of is None:
            for end in resolved.get(stack.id, {}).get("own_work", ()):
                if key in end:
                    spared = f" ({end['without']} does not)" if key == "adds" and "without" in end else ""
                    labels.setdefault(f"{end['name']} {end[key]}{spared}", []).append(stack.label)
    return [f"{', '.join(dict.fromkeys(of))}: {phrase}" for phrase, of in labels.items()]
