"""Programs that a run starts and that were built: of what they were made, what hosts run them with, whether they stay.

Their record goes into the manifest. A run that is resumed goes on with the same ones, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from orchestrator.catalogue import builds
from orchestrator.catalogue.builds import Built
from orchestrator.catalogue.read import catalogue
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import needed_languages
from orchestrator.hosts.base import Fleet
from orchestrator.hosts.runtimes import runtimes
from orchestrator.results.manifest import ProgramsRecord


def record(plan: Plan, built: Mapping[str, Built], fleet: Fleet) -> dict[str, ProgramsRecord]:
    """What the manifest says of each language that was built, or that hosts need something for.

    ProvisionError names a host that has not what the programs need there.
    """
    pairs, found = [fleet.pair(placement.id) for placement in plan.placements], {}
    ends = {host.name: host for pair in pairs for host in (*pair.requesters, pair.responder)}
    for language in needed_languages(plan):
        if language.name not in built and not language.needs:
            continue
        of = built.get(language.name)
        found[language.name] = ProgramsRecord(
            title=language.title,
            source="" if of is None else of.source,
            toolchain={} if of is None else dict(of.toolchain),
            platform="" if of is None else of.platform,
            contract=None if of is None else of.contract,
            artifacts={} if of is None else {name: artifact.sha256 for name, artifact in of.artifacts.items()},
            runtimes={host.name: runtimes(language, host) for host in ends.values()} if language.needs else {},
        )
    return found


def refuse_others(run: str, before: Mapping[str, ProgramsRecord], now: Mapping[str, ProgramsRecord]) -> None:
    """UsageError where an earlier session of the run measured other programs than these."""
    for name in before.keys() & now.keys():
        if before[name] != now[name]:
            old, new = asdict(before[name]), asdict(now[name])
            changed = ", ".join(key for key in old if old[key] != new[key])
            raise UsageError(
                f"run {run} cannot be resumed: the programs of {now[name].title} are not what they were ({changed})",
                hint="trials made under different conditions must not be mixed: start a new run",
            )


def changed(plan: Plan, before: Mapping[str, Built]) -> list[str]:
    """What of the files that were used has changed on this machine since: a clause for each language."""
    found = []
    for language in needed_languages(plan):
        folder, of = catalogue().folder / language.name, before.get(language.name)
        names = () if of is None else tuple(name for name, was in of.artifacts.items() if _now(folder / name) != was)
        if names:
            found.append(
                f"the programs of {language.title} were changed while this run used them ({', '.join(names)}):"
                " trials before and after that are of different programs"
            )
    return found


def _now(path: Path) -> builds.Artifact | None:
    try:
        return builds.artifact(path)
    except OSError:
        return None
