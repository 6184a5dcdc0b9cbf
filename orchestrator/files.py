"""Reads files that people name, or that lie in folders from elsewhere: regular ones up to a size, that come to an end."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path


class UnreadableFile(Exception):
    """A file that is not read; the message says why, to follow the file's name ("... is a directory")."""


class TooLarge(UnreadableFile):
    """A file above the limit that was given."""


def read_file(path: Path, most_bytes: int) -> bytes:
    """All of a regular file of at most `most_bytes`.

    A pipe, a device or a socket is refused without waiting for it, and so is a file that grows or shrinks meanwhile: one
    of the kernel's (/proc) gives no size, and may not end. FileNotFoundError when there is none; TooLarge, or another
    UnreadableFile, for everything else.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise UnreadableFile("is not a name that a file can have") from error
    except OSError as error:
        raise UnreadableFile(f"cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableFile(f"is {_kind(status.st_mode)}, not a file")
        if status.st_dev in _kernel_devices():
            raise UnreadableFile("is made by the kernel as it is read, not a file on a disk")
        if status.st_size > most_bytes:
            raise TooLarge(f"is larger than {most_bytes:,} bytes")
        return _read_exactly(descriptor, status.st_size)
    finally:
        os.close(descriptor)


def sha256_of_file(path: Path, most_bytes: int) -> str:
    """The SHA-256 of a file, hexadecimal; errors as `read_file`."""
    return hashlib.sha256(read_file(path, most_bytes)).hexdigest()


def _read_exactly(descriptor: int, size: int) -> bytes:
    parts: list[bytes] = []
    length = 0
    try:
        while length <= size and (part := os.read(descriptor, size + 1 - length)):
            parts.append(part)
            length += len(part)
    except OSError as error:
        raise UnreadableFile(f"cannot be read: {error.strerror}") from error
    if length != size:
        raise UnreadableFile("changes while it is read")
    return b"".join(parts)


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((name for is_one, name in kinds if is_one(mode)), "a device")


def _kernel_devices() -> set[int]:
    """The devices of the file systems that the kernel makes up, where this system has them."""
    found = set()
    for mount in ("/proc", "/sys"):
        try:
            found.add(os.stat(mount).st_dev)  # noqa: PTH116 - a device number, not a file
        except OSError:
            continue
    return found - {os.stat("/").st_dev}  # noqa: PTH116
