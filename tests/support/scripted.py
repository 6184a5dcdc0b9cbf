"""A clock that only moves when told, and connections that do as scripted: load loops tested without time or network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from services.python.load.client import CallFailed
from services.python.probes.clock import Clock


@dataclass
class ScriptedClock:
    """Starts at 1 s; sleeping moves it on, and reading it by `tick_ns`."""

    now_ns: int = 1_000_000_000
    tick_ns: int = 0
    slept_s: list[float] = field(default_factory=list)

    def advance(self, ns: int) -> None:
        self.now_ns += ns

    def clock(self) -> Clock:
        return Clock(monotonic_ns=self._read, wall_ns=lambda: self.now_ns, sleep=self._sleep)

    def _read(self) -> int:
        self.now_ns += self.tick_ns
        return self.now_ns

    def _sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.now_ns += max(1, round(seconds * 1e9))


@dataclass
class ScriptedDialer:
    """Every call takes `service_ns`, then does what `script` says: give a reply, or raise CallFailed."""

    clock: ScriptedClock
    service_ns: int | Callable[[int], int] = 1000
    dial_ns: int = 0
    close_ns: int = 0
    script: dict[int, Exception | dict[str, Any]] = field(default_factory=dict)
    refuse_dials: set[int] = field(default_factory=set)
    calls: int = 0
    dials: int = 0
    closed: int = 0

    def dial(self) -> ScriptedConnection:
        self.dials += 1
        self.clock.advance(self.dial_ns)
        if self.dials in self.refuse_dials:
            raise CallFailed("refused", "nobody is there")
        return ScriptedConnection(self)


class ScriptedConnection:
    body = None

    def __init__(self, dialer: ScriptedDialer) -> None:
        self._dialer = dialer

    def call(self, request: Any) -> Any:
        dialer = self._dialer
        dialer.calls += 1
        dialer.clock.advance(dialer.service_ns(dialer.calls) if callable(dialer.service_ns) else dialer.service_ns)
        step = dialer.script.get(dialer.calls, {"right": True})
        if isinstance(step, Exception):
            raise step
        return step

    def value(self, reply: Any) -> Any:
        self._dialer.clock.advance(7)  # verifying takes time, and none of it may be counted
        return reply

    def sizes(self, request: Any, reply: Any) -> tuple[int, int]:
        return 10, 20

    def close(self) -> None:
        self._dialer.closed += 1
        self._dialer.clock.advance(self._dialer.close_ns)


class AwaitableDialer:
    """The same script for a client that is awaited."""

    def __init__(self, scripted: ScriptedDialer) -> None:
        self.scripted = scripted

    async def dial(self) -> AwaitableConnection:
        return AwaitableConnection(self.scripted.dial())


class AwaitableConnection:
    body = None

    def __init__(self, connection: ScriptedConnection) -> None:
        self._connection = connection
        self.value = connection.value
        self.sizes = connection.sizes

    async def call(self, request: Any) -> Any:
        return self._connection.call(request)

    async def close(self) -> None:
        self._connection.close()
