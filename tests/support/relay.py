"""Distance in user space: a relay that holds every message for half a round trip each way, and a new one's first for one.

    python -m tests.support.relay PORT [--rtt-ms 5] [--grows-us 0] [--closes-after 0] [--loses 0]

It prints the port on which it listens, passes on what comes to PORT of this machine, and ends when its stdin does. With
`--grows-us` each request is held longer than the one before it. With `--closes-after` it ends every connection after so
many answers. Of the segments that come to it, the kernel drops the share `--loses`, so that they are sent again.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


async def _relay(options: argparse.Namespace) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", options.port)
        half_s = options.rtt_ms / 2000
        await asyncio.sleep(2 * half_s)  # what the handshake takes over that distance
        await asyncio.gather(
            _pass_on(reader, back, half_s, options),
            _pass_on(there, writer, half_s, None, closes_after=options.closes_after),
            return_exceptions=True,
        )

    listener = socket.create_server(("127.0.0.1", 0))
    if options.loses:
        _lose_segments(listener, options.loses)
    server = await asyncio.start_server(connected, sock=listener)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def _pass_on(
    source: asyncio.StreamReader,
    sink: asyncio.StreamWriter,
    half_s: float,
    options: argparse.Namespace | None,
    closes_after: int = 0,
) -> None:
    number = 0
    while chunk := await source.read(65_536):
        number += 1
        hold_s = half_s
        if options is not None:
            hold_s += number * options.grows_us / 1e6
        await asyncio.sleep(hold_s)
        sink.write(chunk)
        if number == closes_after:
            break
    sink.close()


_SO_ATTACH_FILTER = 26
_RANDOM = 0xFFFFF000 + 56  # SKF_AD_OFF + SKF_AD_RANDOM of include/uapi/linux/filter.h: a random number of 32 bits
_LOAD, _JUMP_IF_GREATER, _RETURN = 0x20, 0x25, 0x06  # codes of classic BPF


def _lose_segments(listener: socket.socket, share: float) -> None:
    """Have the kernel drop that share of the segments that come to connections accepted from here on."""
    program = [
        (_LOAD, 0, 0, _RANDOM),
        (_JUMP_IF_GREATER, 0, 1, round((1 - share) * 0xFFFFFFFF)),
        (_RETURN, 0, 0, 0),
        (_RETURN, 0, 0, 0xFFFFFFFF),
    ]
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    held = ctypes.create_string_buffer(code)
    listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", len(program), ctypes.addressof(held)))


@contextmanager
def relay(port: int, **options: float) -> Iterator[int]:
    """The port of a relay to `port`; options as on the command line."""
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.relay", str(port), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def main() -> None:
    """Relay until stdin closes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--rtt-ms", type=float, default=0.0)
    parser.add_argument("--grows-us", type=float, default=0.0)
    parser.add_argument("--closes-after", type=int, default=0)
    parser.add_argument("--loses", type=float, default=0.0)
    asyncio.run(_relay(parser.parse_args()))


if __name__ == "__main__":
    main()
