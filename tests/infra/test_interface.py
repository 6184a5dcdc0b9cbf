"""The modules are one interface, and keep its promises: read from their text, so that it needs no provider."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from deployments import call_provider

from orchestrator.experiment.providers import WITH_MACHINES

PROVIDERS = ("lab", "gcp", "aws")
WITH_PROGRAM = ("lab", "gcp")


def test_every_provider_is_declared_in_its_folder(infra: Path) -> None:
    folders = sorted(path.parent.name for path in infra.glob("*/main.tf"))
    assert folders == sorted(PROVIDERS) == sorted(WITH_MACHINES)
    assert sorted(path.parent.name for path in infra.glob("*/provider.py")) == sorted(WITH_PROGRAM)


def text_of(folder: Path) -> str:
    """All of a module's text, without comments."""
    files = sorted(folder.glob("*.tf"))
    return "\n".join(re.sub(r"^\s*#.*$", "", path.read_text(), flags=re.MULTILINE) for path in files)


def blocks(text: str, head: str) -> dict[str, str]:
    """The blocks of a kind by name, such as `resource "google_compute_instance" "host"`, with their braces' content."""
    outputs = {}
    for match in re.finditer(rf'^{head} ((?:"[^"]+" ?)+){{', text, flags=re.MULTILINE):
        depth, at = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        outputs[match[1].replace('"', "").strip()] = text[match.end() : at - 1]
    return outputs


def object_keys(text: str) -> list[str]:
    """The keys that an output's object gives, in order."""
    return re.findall(r"^\s+([a-z_]+)\s+=", text, flags=re.MULTILINE)


@pytest.fixture
def gcp(infra: Path) -> dict[str, str]:
    return blocks(text_of(infra / "gcp"), "resource")


def test_every_provider_takes_the_same_variables(infra: Path) -> None:
    first, *others = [(infra / provider / "variables.tf").read_text() for provider in PROVIDERS]
    assert all(other == first for other in others)


def test_what_only_one_provider_has_needs_no_value(infra: Path) -> None:
    for provider in PROVIDERS:
        for name, body in blocks((infra / provider / "settings.tf").read_text(), "variable").items():
            assert re.search(r"^\s+default\s+=", body, flags=re.MULTILINE), f"{provider}: {name}"


def test_every_provider_gives_the_same_outputs(infra: Path) -> None:
    outputs = [blocks(text_of(infra / provider), "output") for provider in PROVIDERS]
    for output in outputs:
        assert set(output) == {"hosts", "link"}
    first, *others = [
        [key for key in object_keys(output["hosts"]) if key not in ("description", "value", "depends_on")]
        for output in outputs
    ]
    assert all(other == first for other in others)
    assert {"role", "zone", "machine", "instance", "address", "disk", "ssh", "user", "alias", "known_hosts"} <= set(
        first
    )


@pytest.mark.parametrize("provider", WITH_PROGRAM)
def test_the_program_of_a_provider_has_every_verb(infra: Path, provider: str) -> None:
    done = call_provider(infra / provider, "--help")
    for verb in ("check", "target", "status", "list", "sweep"):
        assert verb in done.stdout


def test_ssh_is_open_to_the_controller_alone(gcp: dict[str, str]) -> None:
    rules = {name: body for name, body in gcp.items() if name.startswith("google_compute_firewall ")}
    assert set(rules) == {"google_compute_firewall ssh", "google_compute_firewall internal"}
    ssh, internal = rules["google_compute_firewall ssh"], rules["google_compute_firewall internal"]
    assert re.search(r"source_ranges\s+= compact\(\[var\.controller_cidr\]\)", ssh)
    assert re.findall(r"ports\s+= (.*)", ssh) == ['["22"]']
    assert "source_ranges" not in internal
    assert re.search(r"source_tags\s+= \[local\.prefix\]", internal)
    assert {"tcp", "udp", "icmp"} == set(re.findall(r'protocol = "(\w+)"', internal))
    for body in rules.values():
        assert "0.0.0.0/0" not in body
        assert re.search(r"target_tags\s+= \[local\.prefix\]", body)


def test_the_cloud_itself_ends_an_instance(gcp: dict[str, str]) -> None:
    instance = gcp["google_compute_instance host"]
    assert re.search(r"max_run_duration \{\s+seconds = var\.ttl_seconds\s+\}", instance)
    assert 'instance_termination_action = "DELETE"' in instance
    # A stopped instance has no timer: neither maintenance nor a failing host may leave one behind.
    assert re.search(r"automatic_restart\s+= true", instance)
    assert re.search(r'on_host_maintenance\s+= "MIGRATE"', instance)
    assert re.search(r'provisioning_model\s+= "STANDARD"', instance)


def test_no_request_is_waited_for_longer_than_five_minutes(gcp: dict[str, str]) -> None:
    for name, body in gcp.items():
        waits = re.findall(r'(create|update|delete) = "(\w+)"', body)
        assert waits == [("create", "5m"), ("update", "5m"), ("delete", "5m")], name


def test_an_instance_may_call_nobody_and_opens_nothing_else(gcp: dict[str, str]) -> None:
    instance = gcp["google_compute_instance host"]
    assert "service_account" not in instance
    assert re.search(r'block-project-ssh-keys = "TRUE"', instance)
    assert re.search(r'serial-port-enable\s+= "FALSE"', instance)
    assert re.search(r'enable_secure_boot\s+= local\.family\[each\.key\] != "t2a"', instance)


def test_a_host_key_is_given_at_birth_and_kept_out_of_the_output(gcp: dict[str, str], infra: Path) -> None:
    instance = gcp["google_compute_instance host"]
    assert re.search(r"orch-host-key\s+= sensitive\(file\(", instance)
    assert "attributes/orch-host-key" in (infra / "gcp" / "startup.sh").read_text()


def test_everything_says_whose_it_is(gcp: dict[str, str]) -> None:
    for name, body in gcp.items():
        if name == "google_os_login_ssh_public_key controller":
            continue  # in an account's profile, which has neither names nor labels
        assert re.search(r"name\s+= (local\.prefix|\"\$\{local\.prefix\})", body), name
        labelled = re.search(r"labels\s+= merge\(local\.labels", body)
        described = re.search(r'description\s+= "app=orch orch-run=\$\{var\.run_id\}', body)
        assert labelled or described, name
    assert re.search(r"labels = local\.labels", gcp["google_compute_instance host"]), "the boot disk"


@pytest.mark.terraform
def test_the_modules_are_formatted(infra: Path, run_terraform: Any) -> None:
    done = run_terraform(infra, "fmt", "-check", "-recursive")
    assert done.returncode == 0, done.stdout + done.stderr
