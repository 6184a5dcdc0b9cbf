"""The lab on a kernel that has netem and cgroup version 2, which the machine that runs the tests may not have."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tests.infra.qemu import machine

pytestmark = [pytest.mark.busy, pytest.mark.qemu, pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[3]
# Without plugins and with infra's own fixtures only: importing takes longest where the CPU is emulated.
PYTEST = [
    *(sys.executable, "-B", "-m", "pytest", "-v", "-p", "pytest_timeout", "-p", "no:cacheprovider"),
    *("--confcutdir=tests/infra", "--timeout=300", "--color=no", "--tb=short", "--durations=0"),
]
TESTS = ["tests/infra/lab/test_kernel_parts.py", "tests/infra/lab/test_netem.py"]


def test_the_lab_works_with_netem_and_cgroup_version_2() -> None:
    try:
        machine.require(machine.KERNEL)
    except machine.CannotEmulate as missing:
        pytest.skip(str(missing))
    tests = shlex.join([*PYTEST, *TESTS])
    outcome = machine.run(
        f'set -e; [ "$(stat -fc %T /sys/fs/cgroup)" = cgroup2fs ]; cd {shlex.quote(str(ROOT))}\n'
        f"export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1; {tests}\n",
        limit_s=480.0,
    )
    assert outcome.status == 0, outcome.output + outcome.console
    assert "SKIPPED" not in outcome.output
