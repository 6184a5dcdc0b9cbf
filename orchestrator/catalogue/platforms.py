"""Which platform a program was made for, by its own first bytes, and which this machine is."""

from __future__ import annotations

import platform

HEAD_BYTES = 64
ANY = ""  # a script, or data: it runs, or is read, wherever what runs it does

# As `uname -m` has them on Linux, by other names that systems give, and by the number in the file's header.
_ALIKE = {"amd64": "x86_64", "arm64": "aarch64", "x64": "x86_64"}
_ELF = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}


def named(system: str, machine: str) -> str:
    """A platform's name.

    >>> named("Linux", "arm64"), named("linux", "x86_64")
    ('linux-aarch64', 'linux-x86_64')
    """
    return f"{system.lower()}-{_ALIKE.get(machine.lower(), machine.lower())}"


def here() -> str:
    """The platform of this machine."""
    return named(platform.system(), platform.machine())


def made_for(head: bytes) -> str:
    """The platform of the program for Linux that begins with these bytes; `ANY` for everything else.

    >>> made_for(b"#!/bin/sh")
    ''
    """
    if head[:4] == b"\x7fELF" and len(head) >= 20:
        number = int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")
        return f"linux-{_ELF.get(number, f'machine-{number}')}"
    return ANY
