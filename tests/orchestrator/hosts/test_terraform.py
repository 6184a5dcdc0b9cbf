"""Driving Terraform: with a program that stands in for it where its failures matter, and with itself where it is there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from orchestrator.errors import MissingError, ProvisionError
from orchestrator.hosts.terraform import PROGRAMS, Terraform, find_program

needs_terraform = pytest.mark.skipif(
    not any(map(shutil.which, PROGRAMS)), reason="neither terraform nor tofu is on the PATH"
)


def module(folder: Path, text: str) -> Terraform:
    root = folder / "module"
    root.mkdir()
    (root / "main.tf").write_text('terraform {\n  backend "local" {}\n}\n' + text)
    work = folder / "work"
    work.mkdir()
    variables = work / "variables.tfvars.json"
    variables.write_text("{}")
    return Terraform(module=root, folder=work, variables=variables)


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Put a program called terraform first on the PATH."""
    program = folder / "bin" / "terraform"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{textwrap.dedent(body)}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


def test_without_terraform_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingError, match="neither terraform nor tofu") as caught:
        find_program()
    assert caught.value.exit_code == 3
    assert "OpenTofu" in (caught.value.hint or "")


@needs_terraform
@pytest.mark.terraform
def test_plan_apply_output_and_destroy_go_round(tmp_path: Path) -> None:
    terraform = module(
        tmp_path,
        'resource "terraform_data" "x" {\n  input = "here"\n}\noutput "x" { value = terraform_data.x.output }\n',
    )
    terraform.init()
    assert terraform.plan().add == 1
    terraform.apply()
    assert terraform.plan().none
    assert terraform.output() == {"x": "here"}
    terraform.destroy()
    terraform.destroy()
    assert terraform.output() == {}
    assert [p.name for p in terraform.module.iterdir()] == ["main.tf"]


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
        from orchestrator.hosts.programs import run_logged
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


def test_terraforms_answers_are_read_even_when_they_are_not_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, "import sys\nprint('Error: Quota CPUS exceeded')\nsys.exit(1)\n")
    terraform = module(tmp_path, "")
    with pytest.raises(ProvisionError, match="Quota CPUS exceeded"):
        terraform.init()
