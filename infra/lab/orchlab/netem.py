"""Distance by the kernel: a bridge in a namespace of its own, one veth pair per host, netem towards each host.

netem sits on the bridge's side, not on the sender's own device: there it would push back on the sender's TCP as no
network does, and the host could change it. Each source has its class, so each pair of hosts has its own distance. The
rate is netem's own: with one, packets keep their order in spite of jitter.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from orchlab.errors import LabError
from orchlab.paths import DEVICE, MTU_BYTES, End, OneWay

Command = list[str]
_BRIDGE = "br0"
_UNSHAPED = "100gbit"  # netem alone decides; the classes only tell sources apart
_FIRST_CLASS = 0x10


def is_offered() -> bool:
    """Whether this kernel has netem: tried on the loopback of a namespace that is gone at once."""
    trial = ["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    try:
        return subprocess.run(trial, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:  # no tc, no netem
        return False


def cabling(netns: str, ends: Sequence[End]) -> list[Command]:
    """The commands that make the bridge and connect the hosts, without any distance yet."""
    commands = [
        ["ip", "netns", "add", netns],
        ["ip", "-n", netns, "link", "add", _BRIDGE, "mtu", str(MTU_BYTES), "type", "bridge", "forward_delay", "0"],
        ["ip", "-n", netns, "link", "set", _BRIDGE, "up"],
    ]
    for index, end in enumerate(ends):
        port = f"h{index}"
        peer = ["peer", "name", DEVICE, "mtu", str(MTU_BYTES), "netns", end.netns]
        commands += [
            ["ip", "-n", netns, "link", "add", port, "mtu", str(MTU_BYTES), "type", "veth", *peer],
            # One segment at a time, as on a wire: a bundle of 64 kB would be delayed and lost as one packet.
            ["ip", "-n", end.netns, "link", "set", DEVICE, "gso_max_segs", "1"],
            ["ip", "-n", end.netns, "addr", "add", f"{end.address}/24", "dev", DEVICE],
            ["ip", "-n", end.netns, "link", "set", DEVICE, "up"],
            ["ip", "-n", netns, "link", "set", port, "master", _BRIDGE, "up"],
            *_classes(netns, port, index, ends),
        ]
    return commands


def _classes(netns: str, port: str, to_index: int, ends: Sequence[End]) -> list[Command]:
    """Tell apart what comes from each of the other hosts. ARP belongs to none of them and is not delayed."""
    shape = ["htb", "rate", _UNSHAPED, "quantum", "60000"]
    commands = [
        ["tc", "-n", netns, "qdisc", "add", "dev", port, "root", "handle", "1:", "htb", "default", "1"],
        ["tc", "-n", netns, "class", "add", "dev", port, "parent", "1:", "classid", "1:1", *shape],
    ]
    for index, end in enumerate(ends):
        if index != to_index:
            flow = f"1:{_FIRST_CLASS + index:x}"
            match = ["u32", "match", "ip", "src", f"{end.address}/32", "flowid", flow]
            commands += [
                ["tc", "-n", netns, "class", "add", "dev", port, "parent", "1:", "classid", flow, *shape],
                [
                    "tc",
                    "-n",
                    netns,
                    "filter",
                    "add",
                    "dev",
                    port,
                    "parent",
                    "1:",
                    "protocol",
                    "ip",
                    "prio",
                    "1",
                    *match,
                ],
            ]
    return commands


def distances(netns: str, ends: Sequence[End], ways: Mapping[tuple[str, str], OneWay]) -> list[Command]:
    """The commands that set, or change, the distance from each host to each other; `ways` by names (from, to)."""
    commands = []
    for to_index, destination in enumerate(ends):
        for index, source in enumerate(ends):
            if index == to_index:
                continue
            minor = f"{_FIRST_CLASS + index:x}"
            place = ["dev", f"h{to_index}", "parent", f"1:{minor}", "handle", f"{minor}:"]
            effect = netem_arguments(ways[source.name, destination.name])
            commands.append(["tc", "-n", netns, "qdisc", "replace", *place, "netem", *effect])
    return commands


def netem_arguments(way: OneWay) -> list[str]:
    """One direction in netem's words; netem draws jitter evenly from plus or minus what it is given."""
    arguments = ["limit", str(way.queue_packets), "delay", f"{way.delay_ns / 1000:.3f}us"]
    if way.jitter_ns:
        arguments.append(f"{way.jitter_ns / 1000:.3f}us")
    if way.loss:
        arguments += ["loss", f"{100 * way.loss:.6f}%"]
    return [*arguments, "rate", f"{round(8e9 / way.ns_per_byte)}bit"]


def run(commands: Sequence[Command]) -> None:
    """Run commands in order. LabError with the words of the first that fails."""
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"{' '.join(command)}: {done.stderr.strip() or f'exit status {done.returncode}'}")
