"""From a file to a plan: everything resolved, everything that cannot be refused together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.catalogue.offers import Protocol
from orchestrator.catalogue.read import protocols
from orchestrator.errors import did_you_mean
from orchestrator.experiment.model.address import is_loopback
from orchestrator.experiment.model.factors import REQUESTERS
from orchestrator.experiment.model.host_rules import MOST_HOSTS
from orchestrator.experiment.model.loader import Located, load
from orchestrator.experiment.model.options import FEWEST, UntilSpec, most_blocks
from orchestrator.experiment.plan import topology
from orchestrator.experiment.plan.cells import makes_stores
from orchestrator.experiment.plan.estimate import cost_of, estimate, hosts_needed, round_trip_s, sent_to
from orchestrator.experiment.plan.matrix import Matrix, build_matrix
from orchestrator.experiment.plan.own.own_hosts import own_hosts
from orchestrator.experiment.plan.own.own_module import own_module
from orchestrator.experiment.plan.own.running import by_address
from orchestrator.experiment.plan.plan import Limits, Plan, Until
from orchestrator.experiment.plan.rules import refusals_of_plan
from orchestrator.experiment.plan.schedule import (
    NOT_OF_OWN_SERVICES,
    by_series,
    schedule,
    seal_all,
    why_not_fitted,
)
from orchestrator.experiment.plan.turn_lengths import with_turns
from orchestrator.experiment.providers import MAKERS, PROVIDERS, WITH_MACHINES, any_of
from orchestrator.experiment.read.units import format_duration


def make_plan(path: Path, overrides: Sequence[str] = (), known: Mapping[str, Protocol] | None = None) -> Plan:
    """The plan of an experiment file, against the catalogue unless other protocols are `known`; ExperimentError."""
    located = load(path, overrides)
    known = protocols() if known is None else known
    module = own_module(located)
    _check_provider(located)
    experiment = located.experiment
    matrix = build_matrix(located, known, own_hosts(located))
    sealed = _sealed(located, matrix)
    until = experiment.repeats if isinstance(experiment.repeats, UntilSpec) else None
    plan = Plan(
        name=experiment.name,
        question=experiment.question,
        provider=experiment.provider,
        machine=experiment.machine or PROVIDERS[experiment.provider].default_machine,
        pin=experiment.pin[0],
        **vars(matrix),
        trials=schedule(matrix.cells, most_blocks(experiment.repeats), experiment.seed),
        repeats=most_blocks(experiment.repeats),
        until=Until(within=until.until, at_least=until.at_least, at_most=until.at_most) if until else None,
        seed=experiment.seed,
        limits=Limits(wall_s=experiment.limits.wall, cost_usd=experiment.limits.cost, ttl_s=experiment.limits.ttl),
        metric=experiment.metric,
        matters=experiment.matters,
        stability=experiment.stability,
        hold_out=0.0 if experiment.predict is None else experiment.predict.hold_out,
        sealed=sealed,
        module=_as_named(Path(module)) if module else "",
        makes_stores=makes_stores(experiment.provider, matrix.cells),
        experiment_path=_as_named(path),
        experiment_sha256=located.sha256,
        overrides=tuple(overrides),
    )
    plan = with_turns(plan, experiment.turn, known)
    for key, reason in refusals_of_plan(plan):
        located.add((key,), reason)
    located.raise_problems()
    for check in (_check_hosts, _check_sent, _check_cost):
        check(located, plan)
        located.raise_problems()
    return plan


def _as_named(path: Path) -> str:
    """A file in the working folder relative to it, so that its path names no other folder."""
    absolute = path.absolute()
    return str(absolute.relative_to(Path.cwd()) if absolute.is_relative_to(Path.cwd()) else path)


def _check_provider(located: Located) -> None:
    experiment = located.experiment
    provider = PROVIDERS[experiment.provider]
    if not provider.makes_hosts:
        if experiment.machine is not None:
            located.add(("machine",), f"{provider.name} is this very machine: {any_of(WITH_MACHINES)} has a `machine`.")
        if any(hosts != 1 for hosts in getattr(experiment, REQUESTERS)):
            located.add((REQUESTERS,), f"{provider.name} has one host: several requesters need {any_of(MAKERS)}.")
        return
    if provider.hosts_are_given and experiment.machine is not None:
        located.add(("machine",), "a machine of your own is what it is: leave `machine` out.")
    elif not provider.module_is_given and experiment.machine not in (None, *provider.machines):
        meant = did_you_mean(str(experiment.machine), provider.machines)
        located.add(("machine",), f"{experiment.provider} has no machine type '{experiment.machine}'. {meant}")
    limits = experiment.limits
    if limits.ttl < limits.wall:
        ttl, wall = format_duration(limits.ttl), format_duration(limits.wall)
        located.add(("limits", "ttl"), f"hosts expire after {ttl}, before `limits.wall` ({wall}).")


def _sealed(located: Located, matrix: Matrix) -> tuple[str, ...]:
    """The cells that the cost model is tested on; none without `predict`. ExperimentError where it cannot be fitted."""
    wanted = located.experiment.predict
    if wanted is None:
        return ()
    rtts_s = {placement.id: round_trip_s(placement) for placement in matrix.placements}
    series = by_series(matrix.cells, matrix.stacks, matrix.operations, matrix.placements, rtts_s)
    if not series:
        reason = (
            "no cell is modelled: the cost model is of single calls over a `distance`, one in flight, in a closed loop"
            " without `think`, to stacks of orch; of no streams, mixes, searches, tasks of several calls or own services."
        )
        if any(stack.external is not None for stack in matrix.stacks):
            reason = f"{NOT_OF_OWN_SERVICES}: measure your own `distance`, and leave `predict` out."
        located.add(("predict",), reason)
    if most_blocks(located.experiment.repeats) < FEWEST:
        located.add(("repeats",), f"`predict` needs at least {FEWEST} blocks to know how far it may be off.")
    names = {operation.id: operation.name for operation in matrix.operations}
    for members in series.values():
        if why := why_not_fitted(members):
            name = names[members[0].cell.operation]
            reason = f"the cost model cannot be fitted to {name}: {why}; or ask it in an experiment without `predict`."
            located.add(("predict",), reason)
    located.raise_problems()
    return seal_all(series, wanted.hold_out, located.experiment.seed)


def _check_hosts(located: Located, plan: Plan) -> None:
    ends = topology.topology(plan).ends if plan.hosts else {}
    for placement in plan.placements if plan.hosts else ():
        there = len(ends[placement.id].requesters)
        if placement.kind != "local" and there < plan.requesters:
            wanted = f"{plan.requesters} requesters are wanted, and {there} can be in placement '{placement.id}'"
            located.add((REQUESTERS,), f"{wanted}: give further hosts `role: requester`.")
    if plan.makes_stores and any(each.store is None for each in ends.values()):
        reason = "PostgreSQL needs a host with `role: store`, or a server that ORCH_POSTGRESQL names."
        located.add(("hosts",), reason)
    if (count := len(hosts_needed(plan))) > MOST_HOSTS:
        near = "placements" if located.experiment.distance is None else "distance"
        reason = f"the placements need {count:,} hosts; a deployment has at most {MOST_HOSTS}."
        located.add((REQUESTERS if plan.requesters > 1 else near,), reason)


def _check_sent(located: Located, plan: Plan) -> None:
    """Refuse what a service on another machine, which somebody else may need, would get beyond the limits."""
    limits = located.experiment.limits
    elsewhere = [s for s in plan.stacks if s.running is not None and not is_loopback(s.running.host)]
    for address, stacks in by_address(elsewhere).items():
        sent = sent_to(plan, {stack.id for stack in stacks})
        for key, value, limit, words in (
            ("requests", sent.requests_at_most, limits.requests, "up to {:,.0f} requests"),
            ("rate", sent.rate_per_s, limits.rate, "up to {:,.0f} requests a second"),
            ("in_flight", sent.in_flight, limits.in_flight, "{:,.0f} requests at once"),
        ):
            if value > limit:
                more = f"{address} would get {words.format(value)}, more than `limits.{key}` ({limit:,.0f})."
                located.add(("limits", key), f"{more} Raise it if that service can bear them, or send fewer.")


def _check_cost(located: Located, plan: Plan) -> None:
    """Refuse what may cost more than allowed: every host until it ends itself, and all traffic that the plan allows."""
    provider = PROVIDERS[plan.provider]
    if not provider.costs_money or plan.machine is None:
        return
    lasting, most_usd = format_duration(plan.limits.ttl_s), plan.limits.cost_usd
    if provider.prices is None:
        if "cost" not in located.experiment.limits.model_fields_set:
            reason = f"orch has no prices of {provider.name}: look up what the hosts cost for {lasting}, and give that."
            located.add(("limits", "cost"), reason)
        return
    cost, traffic_usd = cost_of(plan, plan.limits.ttl_s / 3600), estimate(plan).traffic_usd
    if cost is None:
        prices = f"Choose a machine type and regions of infra/{plan.provider}/prices.json."
        located.add(("machine",), f"no price is known for {plan.machine} in all regions. {prices}")
    elif cost + traffic_usd > most_usd:
        advice = "ask fewer or smaller requests" if traffic_usd > cost else "shorten limits.ttl"
        what = f"hosts may cost {cost:.2f} USD until they expire after {lasting}, and traffic {traffic_usd:.2f} USD"
        reason = f"{what}, more than limits.cost ({most_usd:.2f} USD). Raise it, or {advice}."
        located.add(("limits", "cost"), reason)
