"""The link of a deployment: made of netem or of the user-space emulator, calibrated, written down.

Either kind adds something of its own to a round trip: waking up, copying. It is nearly constant, so it is measured by
ping when the link comes up, and taken off the delay.
"""

from __future__ import annotations

import json
import re
import select
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from orchlab import host, interrupts, layout, namespaces, netem, ownership, paths, processes
from orchlab.errors import LabError

_READY_S = 15.0
_PINGS = 15
_PING_INTERVAL_S = 0.004
_SETTLING = 3  # the first pings pay for ARP and cold caches
_ROUNDS = 3  # of calibration, while a busy machine spoils it

Ways = Mapping[tuple[str, str], paths.OneWay]


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A link as Terraform asks for it; see infra/lab/main.tf. `kind` is auto, netem or user-space."""

    run_id: str
    kind: str
    hosts: Mapping[str, Mapping[str, str]]  # name -> address, zone, role
    links: Sequence[Mapping[str, Any]]


class Link(Protocol):
    """A way to make distance."""

    kind: str
    scheduler: str | None
    emulator_pid: int | None

    def start(self) -> None:
        """Give each host its device and address. LabError when that fails."""

    def set_ways(self, ways: Ways) -> None:
        """Put these distances in force, by names (from, to); back when they are."""

    def detach(self) -> None:
        """Let it run on its own."""


class NetemLink:
    """Distance by the kernel."""

    kind = "netem"
    scheduler: str | None = None
    emulator_pid: int | None = None

    def __init__(self, run_id: str, ends: Sequence[paths.End]) -> None:
        self._run_id = run_id
        self._netns = layout.instance_name(run_id, layout.LINK)
        self._ends = ends

    def start(self) -> None:
        """See `Link`."""
        namespaces.refuse_strangers_namespace(self._netns)
        netem.run(netem.cabling(self._netns, self._ends))
        netem.run([ownership.marking(self._run_id, self._netns)])

    def set_ways(self, ways: Ways) -> None:
        """See `Link`."""
        netem.run(netem.distances(self._netns, self._ends, ways))

    def detach(self) -> None:
        """Nothing of it is a process."""


class UserSpaceLink:
    """Distance by a process of ours, for kernels without netem."""

    kind = "user-space"
    scheduler: str | None = None
    emulator_pid: int | None = None

    def __init__(self, run_id: str, ends: Sequence[paths.End]) -> None:
        self._run_id = run_id
        self._ends = ends

    def start(self) -> None:
        """See `Link`."""
        folder = layout.link_dir(self._run_id)
        ends = []
        for end in self._ends:
            record = layout.read_record(layout.host_dir(self._run_id, end.name) / "host.json")
            if not record or "first" not in record:
                raise LabError(f"host {end.name} is not there, so it cannot be linked", hint="see provider.py status")
            ends.append(asdict(end) | {"pid": record["first"]["pid"]})
        layout.write_record(folder / "ends.json", {"ends": ends})
        argv = [sys.executable, "-ES", str(host.PROGRAM), "emulate", "--run-id", self._run_id]
        with (folder / "emulator.log").open("w") as errors:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True, cwd="/"
            )
        self.emulator_pid = self._process.pid
        emulator = processes.handle(self._process.pid).to_dict()
        layout.write_record(folder / "process.json", {"emulator": emulator})
        self.scheduler = self._answer()["scheduler"]

    def set_ways(self, ways: Ways) -> None:
        """See `Link`."""
        changes = [{"from": source, "to": destination, **asdict(way)} for (source, destination), way in ways.items()]
        assert self._process.stdin is not None  # noqa: S101  (asked for in start)
        try:
            self._process.stdin.write(json.dumps(changes).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended: reading its answer says why
        self._answer()

    def detach(self) -> None:
        """See `Link`."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None  # noqa: S101  (asked for in start)
            stream.close()

    def _answer(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101  (asked for in start)
        readable, _, _ = select.select([stdout], [], [], _READY_S)
        line = stdout.readline() if readable else b""
        if not line:
            words = (layout.link_dir(self._run_id) / "emulator.log").read_text().strip().splitlines()
            raise LabError(f"the link's emulator failed: {words[-1] if words else f'silent for {_READY_S:g} s'}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def up(spec: Spec) -> None:
    """Connect the hosts of a deployment, or leave nothing. LabError says why."""
    down(spec.run_id)
    try:
        link = _chosen(spec)
        layout.make_dir(layout.link_dir(spec.run_id))
        link.start()
        wanted = paths.wanted_by_zones(spec.links)
        achieved = calibrate(link, _ends(spec), wanted, ping)
        netem.run(paths.initial_windows(_ends(spec), wanted))
        link.detach()
        record = {
            "kind": link.kind,
            "mtu": paths.MTU_BYTES,
            "scheduler": link.scheduler,
            "emulator_pid": link.emulator_pid,
            "paths": achieved,
        }
        layout.write_record(layout.link_dir(spec.run_id) / "link.json", record)
    except BaseException:  # also when interrupted: Terraform does not clean up after a failed create
        interrupts.ignore_interrupts()
        down(spec.run_id)
        raise


def _ends(spec: Spec) -> list[paths.End]:
    return [
        paths.End(name=name, netns=layout.instance_name(spec.run_id, name), **end)
        for name, end in sorted(spec.hosts.items())
    ]


def _chosen(spec: Spec) -> Link:
    """The kind that was asked for, or the best that this machine has. LabError when it has none."""
    if spec.kind == "netem" or (spec.kind == "auto" and netem.is_offered()):
        return NetemLink(spec.run_id, _ends(spec))
    if not Path("/dev/net/tun").exists():
        hint = "load one of them: modprobe sch_netem, or modprobe tun"
        raise LabError(
            "this machine has neither netem nor /dev/net/tun, so it cannot emulate distance", hint=hint, exit_code=3
        )
    return UserSpaceLink(spec.run_id, _ends(spec))


def calibrate(
    link: Link,
    ends: Sequence[paths.End],
    wanted: Mapping[paths.ZonePair, paths.Wanted],
    ping: Callable[[paths.End, paths.End], list[float]],
) -> list[dict[str, Any]]:
    """Measure what the link adds, take it off, and put the wanted distances in force; what was achieved, by zones.

    `ping` gives round trips in ms between two hosts. What is random about a path is switched on last.
    """
    default = paths.Wanted(rtt_ms=0.0)
    pairs = paths.representatives(ends)
    zones_of_all = {paths.zone_pair(one.zone, other.zone) for one, other in paths.pairs(ends)}
    table = {zones: wanted.get(zones, default) for zones in zones_of_all}
    steady = {zones: paths.without_chance(distance) for zones, distance in table.items()}
    bias_ms = dict.fromkeys(table, 0.0)
    rtts_ms: dict[paths.ZonePair, list[float]] = {}
    link.set_ways(ways(ends, steady, bias_ms))
    for _ in range(_ROUNDS):
        for zones, (one, other) in pairs.items():
            off_ms = statistics.median(ping(one, other)) - steady[zones].rtt_ms
            bias_ms[zones] += off_ms if steady[zones].rtt_ms else 0.0  # nothing to take it off
        link.set_ways(ways(ends, steady, bias_ms))
        rtts_ms = {zones: ping(one, other) for zones, (one, other) in pairs.items()}
        if all(paths.is_near(statistics.median(rtts_ms[zones]), steady[zones].rtt_ms) for zones in pairs):
            break
    link.set_ways(ways(ends, table, bias_ms))
    return [
        {
            "from_zone": zones[0],
            "to_zone": zones[1],
            "hosts": [one.name, other.name],
            "wanted": paths.to_dict(table[zones]),
            "bias_ms": round(bias_ms[zones], 3),
            "achieved": {"rtt_ms": summary(rtts_ms[zones]), "count": len(rtts_ms[zones])},
        }
        for zones, (one, other) in pairs.items()
    ]


def ways(
    ends: Sequence[paths.End],
    table: Mapping[paths.ZonePair, paths.Wanted],
    bias_ms: Mapping[paths.ZonePair, float],
) -> dict[tuple[str, str], paths.OneWay]:
    """Both directions between every two hosts."""
    result = {}
    for one, other in paths.pairs(ends):
        zones = paths.zone_pair(one.zone, other.zone)
        way = paths.one_way(table[zones], bias_ms=bias_ms[zones])
        result[one.name, other.name] = result[other.name, one.name] = way
    return result


def ping(one: paths.End, other: paths.End) -> list[float]:
    """Round trips in ms over the link, sent from outside the host's cgroup so that its CPU limit plays no part."""
    count, interval_s = str(_PINGS + _SETTLING), str(_PING_INTERVAL_S)
    argv = [
        "nsenter",
        f"--net={namespaces.NETNS / one.netns}",
        "--",
        "ping",
        "-n",
        "-c",
        count,
        "-i",
        interval_s,
        "-W",
        "2",
    ]
    done = subprocess.run([*argv, other.address], capture_output=True, text=True, check=False)
    rtts_ms = [float(time_ms) for time_ms in re.findall(r" time=([0-9.]+) ms", done.stdout)]
    if len(rtts_ms) <= _SETTLING:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise LabError(
            f"no ping from {one.name} to {other.name} over the new link: {words[-1] if words else 'no reply'}"
        )
    return rtts_ms[_SETTLING:]


def summary(rtts_ms: Sequence[float]) -> dict[str, float]:
    """What a link achieved, in ms."""
    ordered = sorted(rtts_ms)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return {"min": ordered[0], "median": round(statistics.median(ordered), 3), "p95": p95, "max": ordered[-1]}


def down(run_id: str) -> None:
    """Remove the link of a deployment, whatever is left of it. Idempotent. A stranger's namespace is left alone."""
    if not ownership.is_ours(run_id, layout.LINK):
        return
    folder = layout.link_dir(run_id)
    record = layout.read_record(folder / "process.json") or {}
    processes.end(processes.from_record(record.get("emulator")), grace_s=0.0)
    namespaces.remove_namespace(layout.instance_name(run_id, layout.LINK))
    if folder.exists():
        shutil.rmtree(folder)
    layout.remove_empty(run_id)


def why_not_alive(run_id: str, living_hosts: Sequence[str]) -> str | None:
    """What is wrong with the link; None when nothing is."""
    record = layout.read_record(layout.link_dir(run_id) / "link.json")
    if record is None:
        return "there is no link"
    if record["kind"] == UserSpaceLink.kind:
        process = layout.read_record(layout.link_dir(run_id) / "process.json") or {}
        if not processes.is_alive(processes.from_record(process.get("emulator"))):
            return "its emulator has ended"
    elif not (namespaces.NETNS / layout.instance_name(run_id, layout.LINK)).exists():
        return "its bridge is gone"
    for name in living_hosts:
        show = ["ip", "-n", layout.instance_name(run_id, name), "link", "show", "wan0", "up"]
        if not subprocess.run(show, capture_output=True, check=False).stdout:
            return f"host {name} has no device on it"
    return None


def spec_from_json(text: str) -> Spec:
    """The link that Terraform asks for. LabError when the text is not what main.tf sends."""
    try:
        return Spec(**json.loads(text))
    except (TypeError, ValueError) as error:
        raise LabError(f"cannot parse the description of the link: {error}", exit_code=2) from error
