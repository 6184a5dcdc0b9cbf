"""What the host counts: ICMP, memory, and /proc."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.python.contract.counters import TcpCounters
from services.python.probes.counters import host_counters
from services.python.probes.memory import PeakMemory
from services.python.programs.ping import V4, V6, echo_request, internet_checksum, is_reply

sequences = st.integers(1, 0xFFFF)
payloads = st.binary(max_size=200)


def _reply_to(request: bytes, reply_type: int) -> bytes:
    return bytes([reply_type]) + request[1:]


def test_the_checksum_of_rfc_1071s_example():
    assert internet_checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF ^ 0xDDF2


@given(sequence=sequences, payload=payloads)
def test_a_reply_is_known_by_sequence_identifier_and_payload(sequence: int, payload: bytes):
    reply = _reply_to(echo_request(V6, 7, sequence, payload), 129)
    assert is_reply(V6, reply, 7, sequence, payload)
    assert is_reply(V6, reply, None, sequence, payload)
    assert not is_reply(V6, reply, 8, sequence, payload)
    assert not is_reply(V6, reply, 7, sequence % 0xFFFF + 1, payload)
    assert not is_reply(V6, reply, 7, sequence, payload + b"x")


def test_an_ipv4_header_before_it_is_skipped():
    reply = _reply_to(echo_request(V4, 7, 1, b"abc"), 0)
    header_with_options = struct.pack("!B23x", 0x46)
    assert is_reply(V4, header_with_options + reply, 7, 1, b"abc")


def test_our_own_request_that_the_loopback_shows_is_no_reply():
    assert not is_reply(V4, echo_request(V4, 7, 1, b""), 7, 1, b"")


MIB = 2**20


def of_this_system() -> Path:
    own = Path("/proc/self")
    if not (own / "clear_refs").exists():
        pytest.skip("this kernel cannot begin a peak anew (no /proc/self/clear_refs)")
    return own


def touch(size: int) -> None:
    """Have so many bytes resident for a moment."""
    with mmap.mmap(-1, size) as pages:
        for place in range(0, size, mmap.PAGESIZE):
            pages[place] = 1


def test_a_peak_is_what_was_resident_since_it_began():
    of_this_system()
    touch(200 * MIB)
    memory = PeakMemory()
    life, since = memory.read()
    assert since == "process"
    memory.begin()
    begun, since = memory.read()
    assert since == "phase"
    assert begun < life - 100 * MIB
    touch(64 * MIB)
    peak, _ = memory.read()
    assert begun + 50 * MIB < peak < begun + 100 * MIB


def test_where_it_cannot_begin_anew_it_is_said_to_be_of_the_whole_life(tmp_path: Path):
    (tmp_path / "status").write_text("Name:\tpython\nVmPeak:\t  9000 kB\nVmHWM:\t  4321 kB\nVmRSS:\t  1000 kB\n")
    (tmp_path / "clear_refs").mkdir()  # as one that cannot be written to
    memory = PeakMemory(tmp_path)
    memory.begin()
    assert memory.read() == (4321 * 1024, "process")


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    made = tmp_path / "proc"
    (made / "pressure").mkdir(parents=True)
    (made / "self").mkdir()
    (made / "stat").write_text("cpu  100 2 30 400 5 6 7 8 9 10\ncpu0 1 1 1 1\n")
    (made / "pressure/cpu").write_text("some avg10=0.00 avg60=0.12 avg300=0.05 total=123456\n")
    return made


def test_cpu_time_of_all_cpus_with_steal(proc: Path, tmp_path: Path):
    ticks = host_counters(proc, tmp_path).cpu_ticks
    assert (ticks["steal"], ticks["total"], ticks["busy"]) == (8, 558, 153)


def test_pressure_where_the_kernel_has_it(proc: Path, tmp_path: Path):
    assert host_counters(proc, tmp_path).pressure_us == {"cpu": 123456, "memory": None, "io": None}


def test_segments_that_tcp_sent_again(proc: Path, tmp_path: Path):
    (proc / "net").mkdir()
    (proc / "net/snmp").write_text(
        "Ip: Forwarding DefaultTTL\nIp: 1 64\n"
        "Tcp: RtoAlgorithm MaxConn InSegs OutSegs RetransSegs\nTcp: 1 -1 90 100 7\n"
        "Udp: InDatagrams\nUdp: 3\n"
    )
    assert host_counters(proc, tmp_path).tcp == TcpCounters(segments_sent=100, retransmits=7)


def test_throttling_of_the_own_cgroup_v2(proc: Path, tmp_path: Path):
    (proc / "self/cgroup").write_text("0::/lab/host\n")
    own = tmp_path / "cgroup/lab/host"
    own.mkdir(parents=True)
    (own / "cpu.stat").write_text("usage_usec 5\nnr_periods 100\nnr_throttled 7\nthrottled_usec 4200\n")
    assert host_counters(proc, tmp_path / "cgroup").throttling == {"periods": 100, "throttled": 7, "throttled_us": 4200}


def test_throttling_of_the_own_cgroup_v1(proc: Path, tmp_path: Path):
    (proc / "self/cgroup").write_text("5:memory:/x\n4:cpu,cpuacct:/lab/host\n1:name=systemd:/y\n")
    own = tmp_path / "cgroup/cpu,cpuacct/lab/host"
    own.mkdir(parents=True)
    (own / "cpu.stat").write_text("nr_periods 100\nnr_throttled 7\nthrottled_time 4200000\n")
    assert host_counters(proc, tmp_path / "cgroup").throttling["throttled_us"] == 4200


@pytest.mark.parametrize(("line", "name"), [("0::/lab/host", "lab/host"), ("0::/", "")])
def test_cpu_time_of_the_own_cgroup_v2(proc: Path, tmp_path: Path, line: str, name: str):
    (proc / "self/cgroup").write_text(f"{line}\n")
    own = tmp_path / "cgroup" / name
    own.mkdir(parents=True)
    (own / "cpu.stat").write_text("usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\n")
    assert host_counters(proc, tmp_path / "cgroup").cgroup_cpu_us == 1_234_567


def test_cpu_time_of_the_own_cgroup_v1(proc: Path, tmp_path: Path):
    (proc / "self/cgroup").write_text("5:memory:/x\n4:cpu,cpuacct:/lab/host\n0::/\n")
    own = tmp_path / "cgroup/cpu,cpuacct/lab/host"
    own.mkdir(parents=True)
    (own / "cpuacct.usage").write_text("1234567890\n")
    assert host_counters(proc, tmp_path / "cgroup").cgroup_cpu_us == 1_234_567


def test_this_system_can_be_read_and_only_counts_up():
    before, after = host_counters(), host_counters()
    assert after.monotonic_ns >= before.monotonic_ns
    assert after.process["cpu_s"] >= before.process["cpu_s"]
