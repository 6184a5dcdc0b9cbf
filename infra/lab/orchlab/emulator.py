"""The user-space link: one TUN device per host, and this process carrying packets between them, later.

What makes Python accurate enough here: timers that fire when due, real-time scheduling, `select` (whose time-out has
microseconds; epoll's has milliseconds), and no garbage collector. It reads its paths as JSON lines on stdin, one at a
time, and answers each with a line, until end of input; then it serves on. It ends when the last of its hosts has ended.
"""

from __future__ import annotations

import fcntl
import gc
import heapq
import json
import os
import random
import select
import struct
import sys
import time
from collections import deque
from typing import Any

from orchlab import kernel
from orchlab.namespaces import NETNS, ip
from orchlab.paths import DEVICE, MTU_BYTES
from orchlab.processes import let_go_of_output

_TUNSETIFF = 0x4004_54CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
_BATCH = 64  # packets read from one host before the others, and the clock, get their turn
_FIFO_PRIORITY = 20


class Direction:
    """One direction between two hosts: what is wanted of it, and what is on its way."""

    __slots__ = (
        "buffer_ns",
        "delay_ns",
        "free_ns",
        "jitter_ns",
        "last_ns",
        "loss",
        "ns_per_byte",
        "order",
        "out",
        "queue",
    )

    def __init__(self, out: int, order: int) -> None:
        self.out = out  # the descriptor that its packets are written to
        self.order = order  # decides between two packets due in the same nanosecond
        self.queue: deque[tuple[int, bytes]] = deque()
        self.free_ns = 0  # when the wire has sent what was handed to it
        self.last_ns = 0  # when the last packet is due: packets keep their order
        self.set(delay_ns=0, jitter_ns=0, ns_per_byte=0.0, buffer_ns=0, loss=1.0)

    def set(self, *, delay_ns: int, jitter_ns: int, ns_per_byte: float, buffer_ns: int, loss: float) -> None:
        """What happens to packets from now on."""
        self.delay_ns = delay_ns
        self.jitter_ns = jitter_ns
        self.ns_per_byte = ns_per_byte
        self.buffer_ns = buffer_ns
        self.loss = loss

    def due_ns(self, now_ns: int, size_bytes: int) -> int | None:
        """When a packet that comes now arrives; None when it is lost or finds the buffer full."""
        if self.loss and random.random() < self.loss:
            return None
        start_ns = self.free_ns if self.free_ns > now_ns else now_ns
        if start_ns - now_ns > self.buffer_ns:
            return None
        self.free_ns = start_ns + int(size_bytes * self.ns_per_byte)
        due_ns = self.free_ns + self.delay_ns
        if self.jitter_ns:
            due_ns += int((2 * random.random() - 1) * self.jitter_ns)
        if due_ns < self.last_ns:
            due_ns = self.last_ns
        self.last_ns = due_ns
        return due_ns


class Emulator:
    """The devices, the paths between them, and the heap of directions with something on its way."""

    def __init__(self, ends: list[dict[str, Any]]) -> None:
        self.devices = [open_device(end["netns"], end["address"]) for end in ends]
        self.paths: dict[int, dict[bytes, Direction]] = {device: {} for device in self.devices}
        self.by_name: dict[tuple[str, str], Direction] = {}
        for source, device in zip(ends, self.devices, strict=True):
            for end, out in zip(ends, self.devices, strict=True):
                if out != device:
                    path = Direction(out, len(self.by_name))
                    self.by_name[source["name"], end["name"]] = path
                    self.paths[device][bytes(map(int, end["address"].split(".")))] = path
        self.heap: list[tuple[int, int, Direction]] = []

    def set_paths(self, line: str) -> None:
        """Take new paths: a list of `{"from", "to", "delay_ns", "jitter_ns", "ns_per_byte", "buffer_ns", "loss"}`."""
        for change in json.loads(line):
            self.by_name[change.pop("from"), change.pop("to")].set(**change)

    def take(self, device: int) -> None:
        """Read what a host has sent and put it on its way."""
        routes = self.paths[device]
        for _ in range(_BATCH):
            try:
                packet = os.read(device, 65_536)
            except BlockingIOError:
                return
            path = routes.get(packet[16:20])  # where an IPv4 header has its destination
            if path is None or packet[0] >> 4 != 4:
                continue
            due_ns = path.due_ns(time.monotonic_ns(), len(packet))
            if due_ns is None:
                continue
            path.queue.append((due_ns, packet))
            if len(path.queue) == 1:
                heapq.heappush(self.heap, (due_ns, path.order, path))

    def deliver(self) -> None:
        """Hand over everything that is due."""
        now_ns = time.monotonic_ns()
        while self.heap and self.heap[0][0] <= now_ns:
            _, _, path = heapq.heappop(self.heap)
            queue = path.queue
            while queue and queue[0][0] <= now_ns:
                packet = queue.popleft()[1]
                try:
                    os.write(path.out, packet)
                except OSError:  # the host is going down, or its queue is full: a network loses the packet too
                    continue
            if queue:
                heapq.heappush(self.heap, (queue[0][0], path.order, path))

    def wait_s(self) -> float | None:
        """How long nothing is due; None for as long as nothing comes."""
        return max(0, self.heap[0][0] - time.monotonic_ns()) / 1e9 if self.heap else None


def open_device(netns: str, address: str) -> int:
    """Make a host's device; the descriptor that carries its packets. OSError as the kernel says."""
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        kernel.setns(NETNS / netns, kernel.CLONE_NEWNET)
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), _IFF_TUN | _IFF_NO_PI))
    finally:
        kernel.setns(f"/proc/self/fd/{own}", kernel.CLONE_NEWNET)
        os.close(own)
    ip("-n", netns, "addr", "add", f"{address}/24", "dev", DEVICE)
    ip("-n", netns, "link", "set", DEVICE, "mtu", str(MTU_BYTES), "txqueuelen", "1000", "up")
    return device


def urgent() -> str:
    """Ask for real-time scheduling; what was got: `fifo`, or `nice` where the kernel refuses (cgroup v1 may)."""
    kernel.sharpen_timers()
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_FIFO_PRIORITY))
    except PermissionError:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        return "nice"
    return "fifo"


def serve(ends: list[dict[str, Any]]) -> None:
    """Carry packets until the last host has ended. Says `ready` and the scheduling on stdout once devices are there.

    Each end is `{"name", "netns", "address", "pid"}`, the pid being the host's first process.
    """
    emulator = Emulator(ends)
    living = {os.pidfd_open(end["pid"]) for end in ends}
    control = sys.stdin
    print(json.dumps({"ready": True, "scheduler": urgent()}), flush=True)
    gc.collect()
    gc.disable()
    devices = set(emulator.devices)
    watched: set[int] = devices | living | {control.fileno()}
    while living:
        readable, _, _ = select.select(watched, [], [], emulator.wait_s())
        for descriptor in readable:
            if descriptor in devices:
                emulator.take(descriptor)
            elif descriptor in living:
                living.remove(descriptor)
                watched.remove(descriptor)
            elif line := control.readline():
                emulator.set_paths(line)
                print(json.dumps({"set": True}), flush=True)
            else:
                watched.remove(descriptor)
                let_go_of_output()
        emulator.deliver()
