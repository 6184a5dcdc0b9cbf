"""A state says what there is, never which program is run: a destroy runs what its caller names."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.busy, pytest.mark.terraform]

RUN = "o123456789"


def writing(program: Path, record: Path) -> Path:
    """A program that writes down how it was called, and does nothing."""
    program.write_text(f'#!/bin/sh\necho "$@" >> {record}\n')
    program.chmod(0o755)
    return program


def test_a_destroy_runs_the_callers_python_and_none_that_the_state_names(
    infra: Path, terraform: str, environment: dict[str, str], tmp_path: Path
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    python, evil = writing(tmp_path / "python", ours), writing(tmp_path / "evil", theirs)
    value = {"python": str(evil), "record": "/none", "run_id": RUN, "name": "a", "spec": "{}"}
    held = {"value": value, "type": ["object", dict.fromkeys(value, "string")]}
    resources = []
    for name, key in (("network", {}), ("link", {}), ("host", {"index_key": "a"})):
        attributes = {"id": f"{len(name)}0000000-0000-0000-0000-000000000000", "input": held, "output": held}
        resources.append(
            {
                "mode": "managed",
                "type": "terraform_data",
                "name": name,
                "provider": 'provider["terraform.io/builtin/terraform"]',
                **({"each": "map"} if key else {}),
                "instances": [{"schema_version": 0, "attributes": {**attributes, "triggers_replace": None}, **key}],
            }
        )
    state = tmp_path / "terraform.tfstate"
    head = {"version": 4, "terraform_version": "1.5.0", "serial": 1, "lineage": "1" * 8, "outputs": {}}
    state.write_text(json.dumps({**head, "resources": resources, "check_results": None}))
    variables = tmp_path / "variables.tfvars.json"
    host = {"role": "both", "zone": "us-central1-a", "machine": "f1-micro"}
    key = "ssh-ed25519 AAAA x"
    variables.write_text(
        json.dumps(
            {
                "run_id": RUN,
                "hosts": {"a": host},
                "ttl_seconds": 60,
                "ssh_public_key": key,
                "host_keys": {"a": {"private_key_path": "/none", "public_key": key}},
            }
        )
    )
    own = {**environment, "TF_DATA_DIR": str(tmp_path / "data"), "TF_VAR_python": str(python)}
    for words in (
        ["init", "-input=false", f"-backend-config=path={state}"],
        ["destroy", "-input=false", "-no-color", "-auto-approve", "-backup=-", f"-var-file={variables}"],
    ):
        command = [terraform, f"-chdir={infra / 'lab'}", *words]
        done = subprocess.run(command, env=own, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert not theirs.exists()
    verbs = {line.split()[2] for line in ours.read_text().splitlines()}
    assert verbs == {"network-down", "link-down", "host-down"}
    assert all(RUN in line for line in ours.read_text().splitlines())
