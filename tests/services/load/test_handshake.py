"""Why no connection came about: nobody there, or nothing left to open one with."""

from __future__ import annotations

import errno
import os

import pytest

from services.python.load.handshake import no_connection, socket_failure


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (errno.ECONNREFUSED, "refused"),
        (errno.EADDRNOTAVAIL, "exhausted"),
        (errno.EMFILE, "exhausted"),
        (errno.ENFILE, "exhausted"),
    ],
)
def test_a_host_without_ports_or_files_is_exhausted_and_not_refused(number: int, status: str) -> None:
    error = OSError(number, os.strerror(number))
    wrapped = RuntimeError("no connection")
    wrapped.__cause__ = error
    assert {of.status for of in (socket_failure(error), no_connection(wrapped), no_connection(str(error)))} == {status}
