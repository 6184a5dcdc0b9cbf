"""A machine with another kernel, emulated: this machine's files, Debian's kernel, cgroup version 2, and one command.

Software emulation is many times slower than the machine itself, so what is asked here is whether things work, never
how fast. Nothing is shared but the files, which the guest reads and cannot write; it has no network.
"""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
KERNEL = HERE.parents[2] / "build" / "emulated-machine"
_QEMU = "qemu-system-x86_64"
# What the guest's own set-up needs, then what a lab needs. There is no udev to load the latter when they are asked for.
_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "sch_netem", "sch_htb", "cls_u32", "veth", "bridge", "tun")
_MEMORY_MIB = 2560


class CannotEmulate(Exception):
    """What is missing, and what to do."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How the command ended (None: it did not), what it printed, and the kernel's console."""

    status: int | None
    output: str
    console: str


def require(kernel: Path) -> None:
    """CannotEmulate where this machine lacks qemu, or the kernel was not fetched."""
    if shutil.which(_QEMU) is None:
        raise CannotEmulate(f"{_QEMU} is not installed: apt-get install --no-install-recommends qemu-system-x86")
    if not any(kernel.glob("boot/vmlinuz-*")):
        raise CannotEmulate(f"there is no kernel in {kernel}: make lab-vm fetches it")


def run(command: str, *, kernel: Path = KERNEL, limit_s: float) -> Outcome:
    """Boot, run a shell command as root, switch off. CannotEmulate; subprocess.TimeoutExpired after `limit_s`."""
    require(kernel)
    with tempfile.TemporaryDirectory(prefix="orch-qemu-") as folder:
        initramfs, output = Path(folder, "initramfs"), Path(folder, "output")
        initramfs.write_bytes(archive(_files(kernel, command)))
        argv = _argv(next(kernel.glob("boot/vmlinuz-*")), initramfs, output)
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit_s
        )
        printed = output.read_text(errors="replace")
    text, _, status = printed.rpartition("\nexit status ")
    return Outcome(
        status=int(status) if text and status.strip().isdigit() else None,
        output=text or printed,
        console=done.stdout.decode(errors="replace"),
    )


def _argv(vmlinuz: Path, initramfs: Path, output: Path) -> list[str]:
    files = "local,id=files,path=/,readonly=on,security_model=none,multidevs=remap"
    return [
        *(_QEMU, "-machine", "q35,accel=tcg", "-cpu", "max", "-m", str(_MEMORY_MIB)),
        # One CPU: with several, emulated ones run into code that the kernel is about to patch.
        *("-smp", "1"),
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
        *("-serial", "stdio", "-serial", f"file:{output}"),
        *("-fsdev", files, "-device", "virtio-9p-pci,fsdev=files,mount_tag=files"),
        *("-kernel", str(vmlinuz), "-initrd", str(initramfs)),
        *("-append", "console=ttyS0 panic=-1 loglevel=4 mitigations=off"),
    ]


def _files(kernel: Path, command: str) -> Mapping[str, tuple[int, bytes]]:
    """The initramfs: path -> mode and content, folders before what is in them."""
    folders = ("bin", "dev", "files", "layer", "modules", "proc", "root")
    modules = dict(_modules(kernel))
    return {
        **dict.fromkeys(folders, (0o040755, b"")),
        "bin/busybox": (0o100755, (kernel / "bin" / "busybox").read_bytes()),
        "init": (0o100755, (HERE / "init.sh").read_bytes()),
        "run.sh": (0o100644, (HERE / "run.sh").read_bytes()),
        "command.sh": (0o100644, command.encode()),
        "modules/order": (0o100644, "".join(f"{name}\n" for name in modules).encode()),
        **{f"modules/{name}": (0o100644, content) for name, content in modules.items()},
    }


def _modules(kernel: Path) -> Iterator[tuple[str, bytes]]:
    """The modules and what they depend on, in the order of loading; those built into the kernel are left out."""
    there = {path.name.partition(".ko")[0].replace("-", "_"): path for path in kernel.glob("lib/modules/**/*.ko*")}
    seen: set[str] = set()

    def with_needs(name: str) -> Iterator[tuple[str, bytes]]:
        if name in seen or name not in there:
            return
        seen.add(name)
        content = there[name].read_bytes()
        if there[name].suffix == ".xz":
            content = lzma.decompress(content)
        needs = re.search(rb"\0depends=([^\0]*)\0", content)
        for need in needs[1].decode().split(",") if needs else ():
            yield from with_needs(need.replace("-", "_"))
        yield name, content

    for name in _MODULES:
        yield from with_needs(name)


def archive(files: Mapping[str, tuple[int, bytes]]) -> bytes:
    """A cpio archive in the "new" format, which the kernel unpacks into its first file system."""
    entries = [*files.items(), ("TRAILER!!!", (0, b""))]
    return b"".join(_entry(inode, path, *what) for inode, (path, what) in enumerate(entries, start=1))


def _entry(inode: int, path: str, mode: int, content: bytes) -> bytes:
    name = path.encode() + b"\0"
    # inode, mode, uid, gid, links, mtime, size, four device numbers, the name's length, no checksum
    fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    return _padded(header) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def main() -> int:
    """Run the command given as arguments; its exit status."""
    outcome = run(" ".join(sys.argv[1:]), limit_s=1800.0)
    sys.stdout.write(outcome.output + "\n")
    sys.stderr.write(outcome.console)
    return 1 if outcome.status is None else outcome.status


if __name__ == "__main__":
    sys.exit(main())
