"""Reads files that people name: regular ones, up to a size."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path


class UnreadableFile(Exception):
    """A file that is not read; the message says why, to follow the file's name ("... is no regular file")."""


class TooLarge(UnreadableFile):
    """A file above the limit that was given."""


def read_file(path: Path, most_bytes: int) -> bytes:
    """All of a regular file of at most `most_bytes`; a pipe or a device is refused without waiting for it.

    FileNotFoundError when there is none; TooLarge, or another UnreadableFile, for everything else.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableFile("is no regular file")
        if status.st_size > most_bytes:
            raise TooLarge(f"is larger than {most_bytes:,} bytes")
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise UnreadableFile("is not a name that a file can have") from error
    except OSError as error:
        raise UnreadableFile(f"cannot be read: {error.strerror}") from error


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file of any size, hexadecimal; OSError when it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
