"""Driving Terraform: with a program that stands in for it where its failures matter, and with itself where it is there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan.own.own_module import PROGRAMS
from orchestrator.hosts.provision.terraform import Terraform

pytestmark = pytest.mark.busy

needs_terraform = pytest.mark.skipif(
    not any(map(shutil.which, PROGRAMS)), reason="neither terraform nor tofu is on the PATH"
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ORCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TF_PLUGIN_CACHE_DIR", raising=False)
    return tmp_path / "cache"


def module(folder: Path, text: str) -> Terraform:
    root = folder / "module"
    root.mkdir()
    (root / "main.tf").write_text('terraform {\n  backend "local" {}\n}\n' + text)
    work = folder / "work"
    work.mkdir()
    variables = work / "variables.tfvars.json"
    variables.write_text("{}")
    return Terraform(module=root, folder=work, variables=variables)


@needs_terraform
@pytest.mark.terraform
def test_plan_apply_output_and_destroy_go_round(tmp_path: Path) -> None:
    terraform = module(
        tmp_path,
        'resource "terraform_data" "x" {\n  input = "here"\n}\noutput "x" { value = terraform_data.x.output }\n',
    )
    terraform.init()
    assert terraform.plan() == 1
    terraform.apply()
    assert terraform.plan() == 0
    assert terraform.output() == {"x": "here"}
    terraform.destroy()
    terraform.destroy()
    assert terraform.output() == {}


def holding(folder: Path, text: str) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return [str(path.relative_to(folder)) for path in files if text in path.read_text()]


@needs_terraform
@pytest.mark.terraform
def test_a_secret_in_the_state_ends_with_the_deployment(tmp_path: Path) -> None:
    """infra/gcp hands each host its private key, so the state knows them: no copy of it may outlive the hosts."""
    terraform = module(tmp_path, 'resource "terraform_data" "x" {\n  triggers_replace = sensitive("PRIVATE-KEY")\n}\n')
    terraform.init()
    terraform.apply()
    assert holding(terraform.folder, "PRIVATE-KEY") == ["terraform.tfstate"]
    terraform.apply(replace=["terraform_data.x"])
    terraform.destroy()
    assert holding(tmp_path / "work", "PRIVATE-KEY") == []
    (terraform.folder / "terraform.tfstate.backup").write_text("PRIVATE-KEY, of an earlier orch")
    terraform.clear()
    terraform.clear()
    assert holding(tmp_path, "PRIVATE-KEY") == ["module/main.tf"]
    assert {path.name for path in terraform.folder.iterdir()} == {"logs", "running.lock", "variables.tfvars.json"}


def mirror_of_a_provider(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A packed provider that Terraform can install without a network; the module text that asks for it."""
    system = f"{sys.platform}_{'arm64' if os.uname().machine == 'aarch64' else 'amd64'}"
    place = folder / "mirror" / "registry.example" / "tests" / "large"
    place.mkdir(parents=True)
    with zipfile.ZipFile(place / f"terraform-provider-large_1.0.0_{system}.zip", "w") as packed:
        packed.writestr("terraform-provider-large_v1.0.0", b"\0" * 3_000_000)
    config = folder / "terraform.rc"
    config.write_text(f'provider_installation {{\n  filesystem_mirror {{ path = "{folder / "mirror"}" }}\n}}\n')
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(config))
    wanted = 'source = "registry.example/tests/large"\n version = "1.0.0"'
    return f"terraform {{\n required_providers {{\n large = {{\n {wanted}\n }}\n }}\n}}\n"


@needs_terraform
@pytest.mark.terraform
def test_a_provider_is_installed_once_for_all_deployments(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = mirror_of_a_provider(tmp_path, monkeypatch)
    first = module(tmp_path, text)
    first.init()
    (tmp_path / "other").mkdir()
    second = Terraform(module=first.module, folder=tmp_path / "other", variables=first.variables)
    second.init()
    for terraform in (first, second):
        kept = [path for path in terraform.folder.rglob("*") if path.is_file() and path.stat().st_size > 1_000_000]
        assert all(cache in path.resolve().parents for path in kept), kept
    assert [path.name for path in first.module.iterdir()] == ["main.tf"]  # the lock file is not in the checkout
    assert all((terraform.folder / "module" / ".terraform.lock.hcl").is_file() for terraform in (first, second))
    installed = [path for path in cache.rglob("terraform-provider-large*") if path.is_file()]
    assert len(installed) == 1
    first.clear()
    assert sum(path.stat().st_size for path in first.folder.rglob("*") if path.is_file()) < 100_000
    assert installed[0].stat().st_size == 3_000_000


@needs_terraform
@pytest.mark.terraform
def test_a_failed_apply_is_told_in_terraforms_own_words(tmp_path: Path) -> None:
    command = 'provisioner "local-exec" {\ncommand = "echo no capacity in this zone >&2; exit 1"\n}'
    terraform = module(tmp_path, 'resource "terraform_data" "x" {\n' + command + "\n}\n")
    terraform.init()
    with pytest.raises(ProvisionError, match="terraform apply failed") as caught:
        terraform.apply()
    assert "no capacity in this zone" in caught.value.message
    assert "terraform-apply.log" in (caught.value.hint or "")


def test_an_interrupt_reaches_the_child_once_and_is_waited_for(tmp_path: Path) -> None:
    """A person's Ctrl-C goes to the whole foreground group; Terraform must see one interrupt, and end in its own time."""
    seen = tmp_path / "interrupts"
    program = textwrap.dedent(
        f"""
        import os, pathlib, signal, sys
        sys.path.insert(0, {str(Path.cwd())!r})
        from orchestrator.hosts.provision.programs import run_logged
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits it ignored
        child = '''
        import pathlib, signal, time
        seen = pathlib.Path({str(seen)!r})
        count = 0
        def note(*_):
            global count
            count += 1
            seen.write_text(str(count))
        signal.signal(signal.SIGINT, note)
        seen.write_text("0")
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            time.sleep(0.05)
        seen.write_text(seen.read_text() + " ended")
        '''
        import textwrap
        try:
            run_logged([sys.executable, "-c", textwrap.dedent(child)], pathlib.Path({str(tmp_path / "log")!r}), {{}},
                       lock=pathlib.Path({str(tmp_path / "lock")!r}))
        except KeyboardInterrupt:
            sys.exit(130)
        """
    )
    parent = subprocess.Popen([sys.executable, "-c", program], start_new_session=True, stdin=subprocess.PIPE)
    while not seen.exists() or not seen.read_text():
        assert parent.poll() is None
    os.killpg(parent.pid, signal.SIGINT)
    os.killpg(parent.pid, signal.SIGINT)
    assert parent.wait(timeout=30) == 130
    assert seen.read_text() == "1 ended"
