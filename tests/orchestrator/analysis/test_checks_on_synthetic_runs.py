"""Every check fires on exactly its own error, and none fails on a clean run. The errors here are made up in the data;
`test_checks_on_real_faults.py` has the harness itself commit them."""

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.analysis.checks import CHECKS
from orchestrator.analysis.summarise import summarise
from orchestrator.experiment import plan as p
from services.harness.contract import STATUSES
from tests.support.judged import of, verdicts
from tests.support.runs import MS, US, S, a_plan, a_run, host_counters

LINK = p.Link(rtt_ms=30.0, rate_mbit=1_000.0)
WEST = p.Placement(id="west", name="west", kind="cross-region", from_zone="a", to_zone="b", link=LINK)
HERE = p.Placement(id="local", name="local", kind="local")
BYTES = p.Operation(
    id="echo", name="echo", label="echo 100 kB", payload={"kind": "bytes"}, request_bytes=100_000, reply_bytes=100_000
)


CLEAN = {
    "sequential": {},
    "eight in flight": {"load": p.Load(concurrency=8, requests=4000)},
    "a new connection per request": {"connection": "per-request"},
    "an open loop": {"load": p.Load(concurrency=64, requests=2000, rate_per_s=500.0)},
    "two placements": {"placements": [HERE, WEST]},
    "a new connection far away": {"placements": [HERE, WEST], "connection": "per-request"},
    "a payload": {"operation": BYTES},
    "with a control": {"controls": 2},
}


@pytest.mark.parametrize("planned", CLEAN.values(), ids=CLEAN.keys())
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_clean_run_fails_nothing_and_warns_of_nothing(planned, seed):
    found = verdicts(a_run(seed=seed, **planned))
    if planned.get("load", p.Load()).rate_per_s is not None:
        assert found.pop("Little's law") == "cannot tell"
    assert set(found.values()) <= {"pass", "not applicable"}, found
    idle = {name for name, verdict in found.items() if verdict == "not applicable"}
    assert idle == expected_idle(planned)


def expected_idle(planned):
    """What has nothing to look at in such a run."""
    idle = set()
    if "controls" not in planned:
        idle.add("control")
    if planned.get("load", p.Load()).concurrency == 1:
        idle.add("requester's own work")
    if "placements" not in planned:
        idle.add("round-trips")
    return idle


def test_every_check_of_the_table_speaks_in_every_run():
    assert {check.name for check in CHECKS} == set(verdicts(a_run()))


def test_a_finding_gives_numbers_an_explanation_and_an_action():
    def spoil(draft):
        draft.columns["sent_ns"][:] = draft.columns["received_ns"] - 1_000

    for result in summarise(a_run(spoil=spoil)).checks:
        assert result.explanation.endswith(".")
        assert result.action.endswith(".")
        assert result.severity in ("fatal", "serious", "note")
        if result.verdict == "fail":
            assert result.evidence


def timer_stopped_early(draft):
    rows = draft.columns
    rows["received_ns"] = rows["sent_ns"] + (rows["received_ns"] - rows["sent_ns"]) // 100


def below_the_ping_but_not_the_socket(draft):
    draft.done["min_rtt_us"] = None
    timer_stopped_early(draft)


def stamps_of_a_batch(draft):
    rows = draft.columns
    rows["sent_ns"] = rows["sent_ns"][np.arange(rows["sent_ns"].size) // 10 * 10]
    rows["intended_ns"] = rows["sent_ns"]


def two_requests_at_once(draft):
    rows = draft.columns
    rows["sent_ns"][1:] -= 50 * US
    rows["intended_ns"] = rows["sent_ns"]


def everything_sent_at_once(draft):
    rows = draft.columns
    rows["sent_ns"] = rows["sent_ns"].min() + np.arange(rows["sent_ns"].size) * 1_000
    rows["intended_ns"] = rows["sent_ns"]


def place_in_line_as_latency(draft):
    """Each reply's time since the batch was begun, while requests went out one after the other."""
    rows = draft.columns
    measured = np.flatnonzero(rows["phase"] == 1)
    rows["received_ns"][measured] += np.arange(measured.size) * 500 * US


def cpu_time_for_wall_time(draft):
    rows = draft.columns
    rows["received_ns"] = rows["sent_ns"] + (rows["received_ns"] - rows["sent_ns"]) // 5
    draft.done["cpu_share"], draft.done["cpu_s"] = 0.2, 0.2 * draft.done["measured_s"]


def slow_samples_dropped(draft):
    rows = draft.columns
    latency = rows["received_ns"] - rows["sent_ns"]
    kept = latency < np.quantile(latency, 0.99)
    draft.columns = {name: values[kept] for name, values in rows.items()}
    draft.done["rows"] = int(kept.sum())
    draft.done["requests"] = int((rows["phase"][kept] == 1).sum())


def more_answered_than_recorded(draft):
    draft.stats["answered"] += 50


def another_responder(draft):
    draft.done["identity"] = "somebody else"


def unverified(draft):
    draft.done["verified"] = 0


def wrong_replies(draft):
    draft.columns["status"][-5:] = 1


def connections_kept(draft):
    draft.columns["connection"][:] = 0
    draft.done["connections_opened"] = 1
    draft.stats["peers"] = 3


def connections_not_kept(draft):
    draft.columns["connection"] = np.arange(draft.columns["connection"].size)
    draft.done["connections_opened"] = draft.done["requests"]
    draft.stats["peers"] = draft.done["requests"] + 2


def half_the_load(draft):
    draft.columns["sent_ns"] = draft.columns["intended_ns"] + (
        draft.columns["intended_ns"] - draft.columns["intended_ns"].min()
    )
    draft.columns["received_ns"] = draft.columns["sent_ns"] + 300 * US
    draft.done["anchor_end"]["monotonic_ns"] += 600 * S


def another_rate(draft):
    start = draft.columns["intended_ns"].min()
    for name in ("intended_ns", "sent_ns", "received_ns"):
        draft.columns[name] = start + (draft.columns[name] - start) * 2
    draft.done["anchor_end"]["monotonic_ns"] += 600 * S


def requester_saturated(draft):
    draft.done["cpu_share"] = 0.97


def cold_start(draft):
    rows = draft.columns
    measured = np.flatnonzero(rows["phase"] == 1)
    extra = np.zeros(rows["phase"].size, dtype=np.int64)
    extra[measured[: measured.size // 5]] = 150 * US
    shift = np.concatenate([[0], np.cumsum(extra)[:-1]])
    rows["sent_ns"] = rows["sent_ns"] + shift
    rows["intended_ns"] = rows["sent_ns"]
    rows["received_ns"] = rows["received_ns"] + shift + extra
    draft.done["anchor_end"]["monotonic_ns"] += S
    draft.done["anchor_end"]["wall_ns"] += S


def one_hiccup(draft):
    draft.columns["received_ns"][-1] += 2 * S
    draft.done["anchor_end"]["monotonic_ns"] += 2 * S
    draft.done["anchor_end"]["wall_ns"] += 2 * S
    draft.done["cpu_s"] += 2.0


def clipped_tail(draft):
    rows = draft.columns
    latency = rows["received_ns"] - rows["sent_ns"]
    rows["received_ns"] = rows["sent_ns"] + np.minimum(latency, int(np.quantile(latency, 0.98)))


def steal(draft):
    draft.done["host_after"] = host_counters(10 * S, steal=100)


def throttling(draft):
    draft.done["host_after"] = host_counters(10 * S, throttled=30)


def pressure(draft):
    draft.done["host_after"] = host_counters(10 * S, pressure_us=4_000_000)


def foreign_work(draft):
    draft.done["host_after"] = host_counters(10 * S, busy=900)


def a_clock_of_milliseconds(draft):
    for name in ("sent_ns", "intended_ns", "received_ns"):
        draft.columns[name] = draft.columns[name] // MS * MS


def a_clock_that_runs_backwards(draft):
    draft.columns["received_ns"][5] = draft.columns["sent_ns"][5] - 10
    draft.columns["received_ns"][-5] = draft.columns["sent_ns"][-5] - 10


def stamps_of_another_clock(draft):
    for name in ("sent_ns", "intended_ns", "received_ns"):
        draft.columns[name] = draft.columns[name] - 10**12


def a_wall_clock_that_was_set(draft):
    if draft.block == 0:
        draft.done["anchor_end"]["wall_ns"] += 5 * S


def a_payload_that_stayed_at_home(draft):
    draft.columns["bytes_sent"][:] = 500


def a_body_that_never_reached_the_wire(draft):
    draft.done["wire"]["bytes_sent"] = 100


OPEN = {"load": p.Load(concurrency=64, requests=2000, rate_per_s=500.0)}
FAULTS = [
    (timer_stopped_early, "floor", "fail", {}),
    (below_the_ping_but_not_the_socket, "floor", "fail", {}),
    (timer_stopped_early, "floor", "fail", {"placements": [HERE, WEST]}),
    (stamps_of_a_batch, "one stamp per sample", "fail", {}),
    (two_requests_at_once, "in flight", "fail", {}),
    (everything_sent_at_once, "in flight", "fail", {}),
    (everything_sent_at_once, "queueing ramp", "fail", {}),
    (place_in_line_as_latency, "queueing ramp", "fail", {}),
    (place_in_line_as_latency, "Little's law", "fail", {}),
    (cpu_time_for_wall_time, "Little's law", "fail", {}),
    (cpu_time_for_wall_time, "Little's law", "fail", {"load": p.Load(concurrency=8, requests=4000)}),
    (cpu_time_for_wall_time, "Little's law", "fail", {"connection": "per-request"}),
    (slow_samples_dropped, "completeness", "fail", {}),
    (more_answered_than_recorded, "completeness", "fail", {}),
    (another_responder, "reply", "fail", {}),
    (unverified, "reply", "fail", {}),
    (wrong_replies, "reply", "fail", {}),
    (connections_kept, "connections", "fail", {"connection": "per-request"}),
    (connections_not_kept, "connections", "fail", {}),
    (half_the_load, "offered load", "fail", OPEN),
    (another_rate, "offered load", "fail", OPEN),
    (requester_saturated, "offered load", "warn", {"load": p.Load(concurrency=8, requests=4000)}),
    (requester_saturated, "offered load", "pass", {}),
    (cold_start, "steady state", "warn", {}),
    (one_hiccup, "tail shape", "warn", {}),
    (clipped_tail, "tail shape", "warn", {}),
    (steal, "noise", "warn", {}),
    (throttling, "noise", "warn", {}),
    (pressure, "noise", "warn", {}),
    (foreign_work, "noise", "warn", {}),
    (a_clock_of_milliseconds, "clocks", "fail", {}),
    (a_clock_that_runs_backwards, "clocks", "fail", {}),
    (stamps_of_another_clock, "clocks", "fail", {}),
    (a_wall_clock_that_was_set, "clocks", "warn", {}),
    (a_payload_that_stayed_at_home, "codec size", "fail", {"operation": BYTES}),
    (a_body_that_never_reached_the_wire, "codec size", "fail", {}),
]


@pytest.mark.parametrize(
    ("spoil", "check", "verdict", "planned"), FAULTS, ids=[f"{f[0].__name__}-{f[1]}-{i}" for i, f in enumerate(FAULTS)]
)
def test_the_check_fires_on_its_error(spoil, check, verdict, planned):
    assert verdicts(a_run(spoil=spoil, **planned))[check] == verdict


def test_a_shortfall_of_a_few_per_cent_below_the_ping_cannot_be_told():
    def spoil(draft):
        """A path that was 5 % quicker while the requests ran than while the pings did."""
        if draft.cell.placement == "west":
            draft.done["min_rtt_us"] = None
            draft.columns["received_ns"] = draft.columns["received_ns"] - 2 * MS

    run = a_run(spoil=spoil, placements=[HERE, WEST])
    assert {result.cell: result.verdict for result in of(run, "floor")}["grpc-thin.add.west"] == "cannot tell"


def test_without_any_baseline_the_floor_cannot_be_told():
    def spoil(draft):
        draft.done["min_rtt_us"] = None

    assert verdicts(a_run(spoil=spoil, baselines=False))["floor"] == "cannot tell"


def test_more_bytes_than_the_link_carries_is_impossible():
    narrow = replace(WEST, link=p.Link(rtt_ms=30.0, rate_mbit=10.0))
    run = a_run(placements=[narrow], operation=BYTES)  # 100 kB each 30 ms are 26 Mbit/s
    assert verdicts(run)["goodput"] == "fail"


def test_too_few_trials_cannot_tell_how_they_spread():
    assert verdicts(a_run(blocks=2))["between trials"] == "cannot tell"


@pytest.mark.parametrize(
    ("reason", "why"),
    [("connections-busy", "all connections were busy"), ("requester-behind", "the requester could not keep up")],
)
def test_what_was_not_sent_is_no_error_and_counted_once(reason, why):
    """The second half of the schedule is never sent, as the first took the whole window."""

    def overload(draft):
        rows = draft.columns
        order = np.argsort(rows["intended_ns"], kind="stable")
        unsent = order[order.size // 2 :]
        first, last = int(rows["intended_ns"].min()), int(rows["intended_ns"].max())
        stretched = first + (rows["intended_ns"] - first) * 2
        rows["received_ns"] = stretched + 300 * US
        rows["sent_ns"] = stretched
        rows["connection"][unsent] = rows["bytes_sent"][unsent] = rows["bytes_received"][unsent] = -1
        rows["sent_ns"][unsent] = rows["received_ns"][unsent] = last
        rows["status"][unsent] = STATUSES.index("not-sent")
        sent = int(((rows["phase"] == 1) & (rows["status"] == 0)).sum())
        draft.done |= {"requests": sent, "verified": sent, "not_sent": unsent.size, "not_sent_reason": reason}
        draft.stats["answered"] -= unsent.size

    run = a_run(spoil=overload, stacks=("rest",), warmup=0, **OPEN)
    (cell,) = summarise(run).cells
    assert (cell.errors, cell.not_sent, cell.not_sent_reasons) == ({}, 5 * 1000, (why,))
    (result,) = of(run, "offered load")
    assert result.verdict == "fail"
    assert cell.is_of_those_sent
    assert {trial.not_sent for trial in cell.trials} == {1000}
    assert result.evidence["block"] == cell.trials[result.evidence["trial"]].block + 1  # a single cell: trial is block
    assert f"Only 50 % of 500 requests a second were sent, 1,000 were not ({why})" in result.explanation
    assert verdicts(run)["completeness"] == verdicts(run)["reply"] == verdicts(run)["one stamp per sample"] == "pass"


def test_trials_that_differ_more_than_requests_are_a_warning():
    assert verdicts(a_run(between=0.4))["between trials"] == "warn"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_trials_in_two_groups_are_a_warning(seed):
    slow = np.random.default_rng(seed)

    def every_other_trial_by_chance(draft):
        if slow.integers(0, 2):
            latency = draft.columns["received_ns"] - draft.columns["sent_ns"]
            draft.columns["received_ns"] += latency * 3 // 10

    (result,) = of(a_run(spoil=every_other_trial_by_chance, controls=2, blocks=12), "trial modes")
    assert result.verdict == "warn"
    assert result.evidence["step"] == pytest.approx(0.3, abs=0.05)
    assert "fall into two groups" in result.explanation


def test_three_blocks_cannot_show_groups_of_trials():
    (result,) = of(a_run(blocks=3), "trial modes")
    assert result.verdict == "cannot tell"
    (result,) = of(a_run(blocks=2), "trial modes")
    assert result.verdict == "cannot tell"


def test_few_samples_are_told():
    few = verdicts(a_run(load=p.Load(concurrency=1, requests=100)))
    assert few["percentile support"] == "warn"


def test_a_control_that_differs_from_itself_is_a_warning():
    def spoil(draft):
        if "-aa" in draft.cell.stack:
            rows = draft.columns
            shift = np.arange(rows["sent_ns"].size) * 40 * US
            rows["sent_ns"], rows["received_ns"] = rows["sent_ns"] + shift, rows["received_ns"] + shift + 40 * US
            rows["intended_ns"] = rows["sent_ns"]
            draft.done["anchor_end"]["monotonic_ns"] += 100 * S
            draft.done["anchor_end"]["wall_ns"] += 100 * S

    assert verdicts(a_run(spoil=spoil, controls=1))["control"] == "warn"


def test_a_failed_trial_is_a_warning_and_the_others_count():
    run = a_run()
    first, *rest = run.stored.trials
    failed = replace(first, outcome="failed", requesters=(), failure={"kind": "responder-died", "message": "it died"})
    run.stored = replace(run.stored, trials=(failed, *rest))
    summary = summarise(run)
    assert [c.verdict for c in summary.checks if c.name == "completeness" and c.cell == failed.cell] == ["warn"]
    assert summary.failed_trials[0]["failure"]["message"] == "it died"
    assert [len(cell.trials) for cell in summary.cells if cell.id == failed.cell] == [4]


def test_the_cell_that_suffers_most_comes_first():
    def spoil(draft):
        draft.done["host_after"] = host_counters(10 * S, steal=200 if draft.cell.stack == "grpc-thin" else 50)

    assert [result.cell for result in of(a_run(spoil=spoil), "noise")] == ["grpc-thin.add.local", "rest-thin.add.local"]


def test_a_backlog_ends_its_tail_abruptly_and_is_not_called_cut_off():
    def spoil(draft):
        """One stall holds up a twentieth of an open loop's requests until the same moment."""
        rows = draft.columns
        place = np.argsort(rows["sent_ns"])[-100:]
        rows["received_ns"][place] = rows["sent_ns"][place].max() + 500 * MS

    assert verdicts(a_run(spoil=spoil, **OPEN))["tail shape"] == "pass"


@pytest.mark.parametrize(("provider", "verdict"), [("lab", "pass"), ("gcp", "warn")])
def test_in_a_lab_the_other_end_of_the_wire_is_no_foreign_work(provider, verdict):
    def spoil(draft):
        """The responder was busy for six seconds of ten, which both ends' counters hold only on one machine."""
        draft.stats["cpu_s"], draft.done["cpu_s"] = 6.2, 0.3
        draft.done["host_before"], draft.done["host_after"] = host_counters(0), host_counters(10 * S, busy=630)
        draft.stats["host"] = host_counters(10 * S, busy=630)

    plan = replace(a_plan(placements=[WEST]), provider=provider)
    assert verdicts(a_run(plan, spoil=spoil))["noise"] == verdict
