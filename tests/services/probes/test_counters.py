"""What the host counts, read from a made-up /proc and from the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.python.contract.counters import TcpCounters
from services.python.probes.counters import host_counters


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


def test_a_system_without_that_table_counts_no_segments(proc: Path, tmp_path: Path):
    assert host_counters(proc, tmp_path).tcp is None


def test_throttling_of_the_own_cgroup_v2(proc: Path, tmp_path: Path):
    (proc / "self/cgroup").write_text("0::/lab/host\n")
    own = tmp_path / "cgroup/lab/host"
    own.mkdir(parents=True)
    (own / "cpu.stat").write_text("usage_usec 5\nnr_periods 100\nnr_throttled 7\nthrottled_usec 4200\n")
    assert host_counters(proc, tmp_path / "cgroup").throttling == {
        "periods": 100,
        "throttled": 7,
        "throttled_us": 4200,
    }


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
