"""The commands for kernels with netem; what needs no netem is run for real."""

from __future__ import annotations

import secrets
import shutil
import subprocess

import pytest
from orchlab import namespaces, netem
from orchlab.paths import End, OneWay, Wanted, one_way

A = End(name="a", netns="orch-x-a", address="198.18.0.10", zone="z", role="both")
B = End(name="b", netns="orch-x-b", address="198.18.0.11", zone="z", role="both")
C = End(name="c", netns="orch-x-c", address="198.18.0.12", zone="y", role="both")


def test_netem_gets_half_a_round_trip_and_always_a_rate() -> None:
    arguments = netem.netem_arguments(one_way(Wanted(rtt_ms=35, rate_mbit=100)))
    assert arguments == ["limit", "1022", "delay", "17500.000us", "rate", "100000000bit"]


def test_jitter_and_loss_in_netems_words() -> None:
    way = OneWay(delay_ns=1_500_000, jitter_ns=250_000, ns_per_byte=8.0, buffer_ns=0, loss=0.001)
    words = " ".join(netem.netem_arguments(way))
    assert "delay 1500.000us 250.000us loss 0.100000% rate 1000000000bit" in words


def test_each_source_has_its_own_class_towards_each_destination() -> None:
    commands = [" ".join(command) for command in netem.cabling("orch-x-link", [A, B, C])]
    towards_c = [command for command in commands if "filter add dev h2" in command]
    assert [command.partition(" u32 ")[2] for command in towards_c] == [
        "match ip src 198.18.0.10/32 flowid 1:10",
        "match ip src 198.18.0.11/32 flowid 1:11",
    ]


def test_distances_differ_by_direction_and_pair() -> None:
    near, far = one_way(Wanted(rtt_ms=1)), one_way(Wanted(rtt_ms=35))
    ways = {
        (one.name, other.name): far if "c" in one.name + other.name else near
        for one in (A, B, C)
        for other in (A, B, C)
    }
    commands = [" ".join(command) for command in netem.distances("orch-x-link", [A, B, C], ways)]
    assert len(commands) == 6
    from_a_to_b = "tc -n orch-x-link qdisc replace dev h1 parent 1:10 handle 10: netem"
    from_a_to_c = "tc -n orch-x-link qdisc replace dev h2 parent 1:10 handle 10: netem"
    assert any(command.startswith(from_a_to_b) and "delay 500.000us" in command for command in commands)
    assert any(command.startswith(from_a_to_c) and "delay 17500.000us" in command for command in commands)


@pytest.mark.busy
@pytest.mark.lab
@pytest.mark.skipif(shutil.which("tc") is None, reason="tc is not installed")
def test_tc_understands_the_words(lab_machine: None) -> None:
    """tc reads its arguments before it asks the kernel, so a kernel without netem refuses the kind, not a word."""
    way = OneWay(delay_ns=1_500_000, jitter_ns=250_000, ns_per_byte=8.0, buffer_ns=0, loss=0.001)
    trial = ["unshare", "--net", "tc", "qdisc", "replace", "dev", "lo", "root", "netem", *netem.netem_arguments(way)]
    done = subprocess.run(trial, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or done.stderr == "Error: Specified qdisc kind is unknown.\n"
    refused = subprocess.run([*trial, "nonsense"], capture_output=True, text=True, check=False)
    assert "nonsense" in refused.stderr


@pytest.mark.busy
@pytest.mark.lab
def test_the_cabling_connects_hosts(lab_machine: None) -> None:
    """Everything but netem itself, which this kernel may lack: bridge, devices, classes, filters."""
    if shutil.which("tc") is None:
        pytest.skip("tc is not installed")
    run_id = f"t{secrets.token_hex(5)}"
    ends = [
        End(name=name, netns=f"orch-{run_id}-{name}", address=f"198.18.255.{number}", zone="z", role="both")
        for number, name in enumerate(("one", "two", "three"), start=10)
    ]
    try:
        for end in ends:
            namespaces.ip("netns", "add", end.netns)
        netem.run(netem.cabling(f"orch-{run_id}-link", ends))
        enter = ["ip", "netns", "exec", ends[0].netns]
        for other in ends[1:]:
            ping = subprocess.run(
                [*enter, "ping", "-c", "1", "-W", "5", other.address], capture_output=True, check=False
            )
            assert ping.returncode == 0, ping.stdout
        counted = subprocess.run(
            ["tc", "-n", f"orch-{run_id}-link", "-s", "class", "show", "dev", "h1"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert "Sent 98 bytes 1 pkt" in counted.partition("class htb 1:10")[2].partition("class")[0]
    finally:
        for name in (f"orch-{run_id}-link", *(end.netns for end in ends)):
            namespaces.remove_namespace(name)
