"""The hosts and built programs of a run: whether they are those of an earlier session, and whether CPUs suffice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from orchestrator.catalogue.builds import Built
from orchestrator.errors import UsageError
from orchestrator.experiment.model.factors import requesters_of
from orchestrator.experiment.plan.cells import processes_of, workers_of
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import needed_languages
from orchestrator.hosts.base import Fleet, runtimes
from orchestrator.results.manifest import ProgramsRecord
from services.python.contract.description import Description
from services.python.contract.requester_lines import Done
from services.python.contract.responder_lines import Ready

# What `services.python.programs.describe` says of a host and may differ between two readings of an unchanged one.
VOLATILE = frozenset(
    {"counters", "load_average", "uptime_s", "boot_id", "monotonic_ns", "wall_ns", "clock", "metadata"}
)
# What says which instance it is, and nothing of the conditions: hosts that are made anew for `--resume` have others.
# Its machine type, zone, image, CPU platform, kernel and settings are conditions. So is its name: it follows from the
# run's id, and stays; where the provider gives none (local) it is all that tells one machine from another.
INSTANCE = frozenset({"cloud.id"})
# What the kernel works out at boot from the memory that is free then: it differs by some pages between two boots of the
# same machine. Compared as numbers.
SIZED_AT_BOOT = frozenset({"memory_bytes", "sysctl.net.ipv4.tcp_rmem", "sysctl.net.ipv4.tcp_wmem"})
_SIZE_TOLERANCE = 0.02


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two descriptions of a host, as `what: before, now after`; empty when nothing does.

    >>> differences({"kernel": "6.1", "uptime_s": 1}, {"kernel": "6.2", "uptime_s": 2})
    ['kernel: 6.1, now 6.2']
    """
    old, new = dict(_flat(before)), dict(_flat(after))
    return [
        f"{key}: {old.get(key, 'not there')}, now {new.get(key, 'not there')}"
        for key in sorted(old.keys() | new.keys())
        if key not in INSTANCE and not _is_same(key, old.get(key), new.get(key))
    ]


def versions(ready: Ready | None, dones: Sequence[Done]) -> dict[str, str]:
    """The libraries of both ends as a responder's `ready` and requesters' `done` lines name them."""
    libraries = dict(ready.versions) if ready is not None else {}
    for line in dones:
        libraries |= line.versions
    return libraries


def _is_same(key: str, before: Any, after: Any) -> bool:
    if before == after:
        return True
    if key not in SIZED_AT_BOOT or before is None or after is None:
        return False
    old, new = str(before).split(), str(after).split()
    if len(old) != len(new) or not all(word.isdigit() for word in (*old, *new)):
        return False
    return all(math.isclose(int(a), int(b), rel_tol=_SIZE_TOLERANCE) for a, b in zip(old, new, strict=True))


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in facts.items():
        if key in VOLATILE:
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def programs_record(plan: Plan, built: Mapping[str, Built], fleet: Fleet) -> dict[str, ProgramsRecord]:
    """What the manifest says of each language that was built, or that hosts need something for.

    ProvisionError names a host that has not what the programs need there.
    """
    pairs, records = [fleet.pair(placement.id) for placement in plan.placements], {}
    ends = {host.name: host for pair in pairs for host in (*pair.requesters, pair.responder)}
    for language in needed_languages(plan):
        if language.name not in built and not language.needs:
            continue
        build = built.get(language.name)
        records[language.name] = ProgramsRecord(
            title=language.title,
            source="" if build is None else build.source,
            toolchain={} if build is None else dict(build.toolchain),
            platform="" if build is None else build.platform,
            contract=None if build is None else build.contract,
            artifacts={} if build is None else {name: artifact.sha256 for name, artifact in build.artifacts.items()},
            runtimes={host.name: runtimes(language, host) for host in ends.values()} if language.needs else {},
        )
    return records


def refuse_other_programs(run: str, before: Mapping[str, ProgramsRecord], now: Mapping[str, ProgramsRecord]) -> None:
    """UsageError where an earlier session of the run measured other programs than these."""
    for name in before.keys() & now.keys():
        if before[name] != now[name]:
            old, new = asdict(before[name]), asdict(now[name])
            changed = ", ".join(key for key in old if old[key] != new[key])
            raise UsageError(
                f"run {run} cannot be resumed: the programs of {now[name].title} are not what they were ({changed})",
                hint="trials made under different conditions must not be mixed: start a new run",
            )


def crowded(plan: Plan, fleet: Fleet, facts: Mapping[str, Description]) -> Iterator[str]:
    """Yield a sentence for each host with fewer CPUs than requester processes, or responder workers, use at once."""
    ends: dict[tuple[str, str], tuple[int, int | None]] = {}  # the most of them there, and the CPUs that they have
    for cell in plan.cells:
        pair, processes, workers = fleet.pair(cell.placement), processes_of(cell.factors), workers_of(cell.factors)
        own = None if pair.requester_cpus is None else len({pair.cpus_of(number) for number in range(processes)})
        hosts = [
            (host.name, "requester processes", processes, own)
            for host in pair.asked_from(requesters_of(cell.factors)).requesters
        ]
        hosts.append((pair.responder.name, "responder workers", workers, None if pair.responder_cpus is None else 1))
        for name, what, count, pinned in hosts:
            cpus = pinned or facts[name].usable_cpus or facts[name].cpus
            if count > ends.get((name, what), (1, None))[0]:
                ends[name, what] = count, cpus
    for (name, what), (count, cpus) in ends.items():
        if cpus is not None and cpus < count:
            share = "one CPU" if cpus == 1 else f"{cpus} CPUs"
            yield f"on {name}, {count} {what} share {share}: they wait for each other"
