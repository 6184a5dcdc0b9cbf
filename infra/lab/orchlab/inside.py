"""What a host looks like from inside: its own folders, names, processes and SSH server."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
from pathlib import Path

from orchlab import cgroups, kernel
from orchlab.errors import LabError

SSHD = Path("/usr/sbin/sshd")
# Folders of the host's own, with their mode. /root: Debian's bash reads ~/.bashrc over SSH, and that is the user's.
_FOLDERS = {"root": 0o700, "var/tmp": 0o1777, "tmp": 0o1777}
_FILES = ("etc/hosts", "etc/hostname", "etc/shadow")
# In memory, and of the host's own: sockets of the machine's services must not be found here.
_VOLATILE = {"run": 0o755, "dev/shm": 0o1777}
_ENVIRONMENT = {
    "HOME": "/root",
    "USER": "root",
    "LOGNAME": "root",
    "SHELL": "/bin/bash",
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}

_SSHD_CONFIG = """\
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UsePAM no
StrictModes no
UseDNS no
PidFile none
PrintMotd no
PrintLastLog no
X11Forwarding no
AllowTcpForwarding local
AcceptEnv LANG LC_*
MaxSessions 64
LogLevel ERROR
# The newest exchange costs several milliseconds of CPU, and an f1-micro has a fifth of a core.
KexAlgorithms curve25519-sha256,curve25519-sha256@libssh.org
Subsystem sftp internal-sftp
"""


def prepare(folder: Path, instance: str, *, public_key: str, host_key: Path) -> None:
    """Write a host's files: its folders, its names, and what its SSH server needs. LabError without the host key."""
    for name, mode in _FOLDERS.items():
        path = folder / "fs" / name
        path.mkdir(parents=True)
        path.chmod(mode)
    etc = folder / "fs" / "etc"
    etc.mkdir()
    (etc / "hosts").write_text(f"127.0.0.1 localhost {instance}\n")
    (etc / "hostname").write_text(f"{instance}\n")
    # sshd refuses an account whose password is locked with "!", as root's is on Ubuntu; "*" only has no password.
    (etc / "shadow").write_text("root:*:19000:0:99999:7:::\n")
    (etc / "shadow").chmod(0o600)
    try:
        shutil.copyfile(host_key, folder / "host_key")
    except OSError as error:
        raise LabError(
            f"cannot read the host key of {instance}: {error}",
            hint="host_keys.<host>.private_key_path must be an absolute path to an ed25519 key without passphrase",
        ) from error
    (folder / "host_key").chmod(0o600)
    (folder / "authorized_keys").write_text(public_key.strip() + "\n")
    (folder / "sshd_config").write_text(_SSHD_CONFIG.format(folder=folder))


def start_first_process(folder: Path, opt: Path, netns: Path, instance: str, group: cgroups.Group) -> int:
    """Start pid 1 of a host; its pid as seen from here, once its namespaces stand. OSError as the kernel says.

    `folder` holds what the host has for itself; `opt` is its /opt, which the hosts of a deployment share.
    """
    own_pids = Path("/proc/self/ns/pid")
    reader, writer = os.pipe()
    keep_open = os.open(own_pids, os.O_RDONLY)
    kernel.unshare(kernel.CLONE_NEWPID)  # counts for children only
    child = os.fork()
    if child == 0:
        _become_first(folder, opt, netns, instance, group, writer)
    os.close(writer)
    # Later children (`ip`) belong on this side again: a pid namespace whose first process has ended takes no more.
    kernel.setns(f"/proc/self/fd/{keep_open}", kernel.CLONE_NEWPID)
    os.close(keep_open)
    with os.fdopen(reader) as answer:
        words = answer.read()
    if words != "ready":
        os.waitpid(child, 0)
        raise LabError(f"the first process of {instance} failed: {words or 'it was killed'}")
    return child


def _become_first(folder: Path, opt: Path, netns: Path, instance: str, group: cgroups.Group, writer: int) -> None:
    """In the child: enter and furnish the host, say how it went, and sleep."""
    try:
        kernel.end_with_parent(signal.SIGKILL)
        os.setsid()
        cgroups.join(group)
        kernel.setns(netns, kernel.CLONE_NEWNET)
        _leave_out_ipv6()
        _take_cubic()
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWUTS | kernel.CLONE_NEWIPC)
        _furnish(folder, opt, instance)
        os.chdir("/")
        # Ignored, which survives exec, it lets the kernel collect the orphans that a first process inherits.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.write(writer, b"ready")
        os.execv("/bin/sleep", ["sleep", "infinity"])
    except BaseException as error:  # noqa: BLE001  (a forked child must never return into its parent's code)
        os.write(writer, f"{type(error).__name__}: {error}".encode())
        os._exit(1)


def _leave_out_ipv6() -> None:
    """Devices still to come speak IPv4 only: the link carries nothing else. The loopback keeps its ::1."""
    setting = Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
    if setting.exists():
        setting.write_text("1")


def _take_cubic() -> None:
    """TCP's congestion control of the host, whatever the machine's own is: cubic, where the machine has and allows it."""
    with contextlib.suppress(OSError):  # it does not; both ends tell what is in force instead
        Path("/proc/sys/net/ipv4/tcp_congestion_control").write_text("cubic")


def _furnish(folder: Path, opt: Path, instance: str) -> None:
    """Give the mount namespace its own folders, the deployment's /opt, and the host its name."""
    # Slave: the machine's unmounts reach the host (and free what was unplugged), the host's mounts stay with it.
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_SLAVE)
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    for name in _FOLDERS:
        kernel.mount(folder / "fs" / name, f"/{name}", flags=kernel.MS_BIND)
    kernel.mount(opt, "/opt", flags=kernel.MS_BIND)
    for name in _FILES:
        if Path("/", name).exists():
            kernel.mount(folder / "fs" / name, f"/{name}", flags=kernel.MS_BIND)
    for name, mode in _VOLATILE.items():
        kernel.mount("tmpfs", f"/{name}", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"mode={mode:o},size=64m")
    for name in ("sshd", "lock"):  # sshd closes the connection without a word where its folder is missing
        Path("/run", name).mkdir(mode=0o755)
    socket.sethostname(instance)


def sshd_argv(first_pid: int, folder: Path) -> list[str]:
    """Enter the host with a clean environment and serve one SSH connection on stdin and stdout."""
    enter = ["nsenter", f"--target={first_pid}", "--mount", "--uts", "--ipc", "--net", "--pid", "--"]
    environment = [f"{name}={value}" for name, value in _ENVIRONMENT.items()]
    return [*enter, "env", "-i", *environment, str(SSHD), "-i", "-f", str(folder / "sshd_config")]
