"""A headless Chromium over the DevTools protocol's pipe: what a page says to its console and asks of the network."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Page:
    """One tab. `problems` holds console errors, exceptions and policy violations, `requests` every address asked for."""

    def __init__(self, write_fd: int, read_fd: int) -> None:
        self._write_fd, self._read_fd = write_fd, read_fd
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.problems: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command and return its result; events that arrive meanwhile are noted."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write_fd, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, path: Path, *, width: int = 1280, height: int = 900, scheme: str = "light", query: str = "") -> None:
        """Load a file from disk in a window of this size whose system prefers this colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=path.as_uri() + query)
        self.wait_for("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, condition: str, timeout_s: float = 60.0) -> None:
        """Return when the expression is true; AssertionError after the time-out."""
        end = time.monotonic() + timeout_s
        while not self.evaluate(condition):
            assert time.monotonic() < end, f"never true: {condition}; problems: {self.problems}"
            select.select([self._read_fd], [], [], 0.1)

    def _receive(self, timeout_s: float = 60.0) -> dict[str, Any]:
        end = time.monotonic() + timeout_s
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read_fd], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._read_fd, 1 << 20)
            assert part, "the browser has ended"
            self._rest += part
        line, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, params: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and params["type"] in {"error", "warning", "assert"}:
            self.problems.append(json.dumps(params["args"]))
        elif event == "Log.entryAdded" and params["entry"]["level"] in {"error", "warning"}:
            self.problems.append(params["entry"]["text"])


@contextmanager
def browser() -> Iterator[Page]:
    """A browser with one tab and a profile of its own; both are gone afterwards."""
    assert PROGRAM, "no chromium"
    to_browser, from_browser = os.pipe(), os.pipe()
    # The child's ends move away from 3 and 4 first, where the protocol wants them.
    commands, answers = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_browser[0], from_browser[1]))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        silence = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)
        moves = [(os.POSIX_SPAWN_DUP2, commands, 3), (os.POSIX_SPAWN_DUP2, answers, 4), silence]
        arguments = [PROGRAM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        pid = os.posix_spawn(PROGRAM, arguments, dict(os.environ), file_actions=moves, setpgroup=0)
        for fd in (to_browser[0], from_browser[1], commands, answers):
            os.close(fd)
        try:
            yield Page(to_browser[1], from_browser[0])
        finally:
            os.close(to_browser[1])
            os.close(from_browser[0])
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
