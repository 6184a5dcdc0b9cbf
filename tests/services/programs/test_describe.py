"""The facts of a host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.python.programs import describe as describe_module
from services.python.programs.describe import describe, main


def test_reads_the_files_below_the_root_it_is_given(tmp_path: Path):
    for path, text in {
        "proc/cpuinfo": "processor : 0\nmodel name : Fast 9000\nflags : fpu hypervisor\n\nmodel name : other\n",
        "proc/meminfo": "MemTotal:  1024 kB\nSwapTotal: 0 kB\n",
        "proc/uptime": "12.5 3.0\n",
        "proc/self/cgroup": "0::/slice\n",
        "sys/fs/cgroup/slice/cpu.max": "20000 100000\n",
        "sys/class/dmi/id/product_name": "Some Engine\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
        "proc/sys/net/ipv4/tcp_congestion_control": "cubic\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    facts = describe(tmp_path)
    assert facts.cpu == "Fast 9000"
    assert (facts.memory_bytes, facts.swap_bytes, facts.uptime_s) == (1024 * 1024, 0, 12.5)
    assert facts.cgroup["cpu_max"] == "20000 100000"
    assert facts.virtualization == "Some Engine"
    assert facts.governor == "powersave"
    assert facts.sysctl["net.ipv4.tcp_congestion_control"] == "cubic"


def test_the_instance_is_asked_only_on_a_cloud_host(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(describe_module, "_instance", lambda: {"machine": "f1-micro", "zone": "us-west1-a"})
    main([], {"ORCH_CLOUD": "gcp"})
    facts = json.loads(capsys.readouterr().out)
    assert (facts["machine_type"], facts["zone"]) == ("f1-micro", "us-west1-a")
