"""`orch` as a user meets it: its words, its two streams, its exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.called import Called, orch

pytestmark = pytest.mark.busy

ROOT = Path(__file__).parents[3]
EXPERIMENT = "name: example\nquestion: Which?\nstacks: [rest, grpc]\noperations: timestamp\nrepeats: 2\n"


def ended(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """How a program ends that is a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


def document(done: Called) -> Any:
    return json.loads(done.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "example.yaml").write_text(EXPERIMENT)
    return tmp_path


def test_a_plan_that_cannot_be_made_leaves_no_older_one_to_be_run_by_mistake(folder: Path) -> None:
    assert orch("plan", "example.yaml", cwd=folder).returncode == 0
    (folder / "other.yaml").write_text(EXPERIMENT.replace("operations", "operatoins"))
    assert orch("plan", "other.yaml", cwd=folder).returncode == 2
    done = orch("run", cwd=folder)
    assert (done.returncode, "there is no current plan" in done.stderr) == (2, True)


def test_plan_prints_the_matrix_and_saves_the_plan(folder: Path) -> None:
    done = orch("plan", "example.yaml", "--set", "load.requests=100", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "100 requests, at most 1 min, 1 in flight" not in done.stdout  # at_most belongs to the default load
    assert "100 requests, 1 in flight" in done.stdout
    assert "2 blocks of 2 trials" in done.stdout
    current = (folder / ".orch" / "plans" / "current").read_text().strip()
    assert f"plan {current} is current" in done.stdout
    saved = json.loads((folder / ".orch" / "plans" / f"{current}.json").read_text())
    assert saved["overrides"] == ["load.requests=100"]


def test_plan_as_json_is_one_document(folder: Path) -> None:
    planned = document(orch("plan", "example.yaml", "--json", cwd=folder))
    assert (planned["cells"], planned["trials"], planned["blocks"]) == (2, 4, 2)
    assert planned["estimate"]["duration_s"] > 0
    assert planned["plan"]["experiment_path"] == "example.yaml"


def test_a_wrong_file_ends_with_2_and_starts_nothing(folder: Path) -> None:
    (folder / "example.yaml").write_text(EXPERIMENT + "load: {requests: 0}\n")
    done = orch("plan", "example.yaml", cwd=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "error: example.yaml:6:18: 'requests': must be at least 1; it is '0'.\n"
        "    6 | load: {requests: 0}\n"
        "      |                  ^\n"
    )
    assert not (folder / ".orch").exists()


def test_an_error_is_json_where_json_was_asked_for(folder: Path) -> None:
    done = orch("plan", "missing.yaml", "--json", cwd=folder)
    assert done.returncode == 2
    assert document(done)["error"]["exit_code"] == 2


def test_a_plan_too_long_for_its_limit_says_so(folder: Path) -> None:
    done = orch("plan", "example.yaml", "--set", "limits.wall=5s", cwd=folder)
    assert "longer than limits.wall (5 s), which will end it early" in done.stdout


def test_validate_checks_every_file(folder: Path) -> None:
    (folder / "wrong.yaml").write_text(EXPERIMENT + "repeats: no\n")
    done = orch("plan", "--check", "example.yaml", "wrong.yaml", cwd=folder)
    assert done.returncode == 2
    assert done.stdout == "example.yaml: valid, 2 cells, 4 trials\n"
    assert "wrong.yaml:6:1: key 'repeats' is given twice" in done.stderr
    as_json = orch("plan", "--check", "wrong.yaml", "--json", cwd=folder)
    (file,) = document(as_json)["files"]
    assert [(p["line"], p["column"]) for p in file["problems"]] == [(6, 1)]


def test_init_writes_an_experiment_that_can_be_planned(tmp_path: Path) -> None:
    done = orch("init", "questions/My First!.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert orch("plan", "--check", "questions/My First!.yaml", cwd=tmp_path).stdout.endswith(
        "valid, 2 cells, 10 trials\n"
    )
    text = (tmp_path / "questions" / "My First!.yaml").read_text()
    assert "name: my_first\n" in text


def test_init_never_writes_over_a_file(folder: Path) -> None:
    done = orch("init", "example.yaml", cwd=folder)
    assert done.returncode == 2
    assert "example.yaml already exists" in done.stderr
    assert (folder / "example.yaml").read_text() == EXPERIMENT


def test_services_lists_who_answers_and_who_asks(tmp_path: Path) -> None:
    listed = orch("services", cwd=tmp_path).stdout
    assert "floor" in listed
    rest = orch("services", "rest", cwd=tmp_path).stdout
    assert "routes every request with FastAPI and validates JSON bodies with pydantic models" in " ".join(rest.split())
    assert "pydantic models" in rest
    offers = document(orch("services", "--json", cwd=tmp_path))
    tcp = next(protocol for protocol in offers["protocols"] if protocol["name"] == "tcp")
    assert (tcp["is_floor"], tcp["clients"][0]["language"]) == (True, "python")
    assert "python" in {language["name"] for language in offers["languages"] if not language["why"]}


def test_services_fit_100_columns(tmp_path: Path) -> None:
    assert max(map(len, orch("services", cwd=tmp_path).stdout.splitlines())) <= 100


def test_doctor_finds_this_python(tmp_path: Path) -> None:
    findings = document(orch("doctor", "--json", "--for", "local", cwd=tmp_path))
    assert findings["providers"]["local"] is True
    assert next(f for f in findings["findings"] if f["name"] == "python")["is_there"]


def test_doctor_ends_with_3_for_a_provider_that_lacks_something(tmp_path: Path) -> None:
    done = orch("doctor", "--for", "lab", cwd=tmp_path, PATH="")
    assert done.returncode == 3
    assert "neither terraform nor tofu is on the PATH" in done.stderr


def test_doctor_without_a_provider_only_reports(tmp_path: Path) -> None:
    assert orch("doctor", cwd=tmp_path, PATH="").returncode == 0


@pytest.mark.parametrize(
    "words", [("pln",), ("plan",), ("plan", "example.yaml", "--sett", "x=1"), ("services", "more")]
)
def test_a_wrong_call_ends_with_2(folder: Path, words: tuple[str, ...]) -> None:
    assert orch(*words, cwd=folder).returncode == 2


def test_the_version_is_the_packages(tmp_path: Path) -> None:
    from orchestrator import __version__

    assert orch("--version", cwd=tmp_path).stdout == f"orch {__version__}\n"


def test_colour_is_left_out_where_nobody_watches(folder: Path) -> None:
    assert "\x1b" not in orch("doctor", cwd=folder).stdout
    assert "\x1b" not in orch("plan", "missing.yaml", cwd=folder).stderr


def test_help_is_cheap() -> None:
    """`orch --help` loads neither pydantic nor pandas nor any verb; its CPU time is a benchmark's to measure."""
    program = (
        "import sys; from orchestrator.cli import main; sys.argv = ['orch', '--help']\n"
        "try: main.main()\n"
        "except SystemExit: pass\n"
        "heavy = {'pydantic', 'pandas', 'numpy', 'yaml', 'ansible', 'rich', 'plotly', 'sqlalchemy'} & set(sys.modules)\n"
        "print(sorted(heavy), [m for m in sys.modules if m.startswith('orchestrator.cli.')], file=sys.stderr)"
    )
    done = ended(program, ROOT)
    ours = [f"orchestrator.cli.{name}" for name in ("console", "streams", "main")]
    assert done.stderr == f"[] {ours}\n"
    assert "Measure:" in done.stdout


def test_a_fault_of_our_own_ends_with_70_and_shows_the_traceback(folder: Path) -> None:
    program = (
        "import sys; from orchestrator.cli import main; from orchestrator.cli.experiments import planning\n"
        "def broken(): raise RuntimeError('out of cheese')\n"
        "planning.plan = broken; sys.argv = ['orch', 'plan']; main.main()"
    )
    done = ended(program, folder)
    assert done.returncode == 70
    assert "orch failed: RuntimeError: out of cheese" in done.stderr
    assert "Traceback" in done.stderr


def test_a_verb_that_ctrl_c_ends_says_so_and_ends_with_130(folder: Path) -> None:
    program = (
        "import sys; from orchestrator.cli import main; from orchestrator.cli.experiments import planning\n"
        "def ended(): raise KeyboardInterrupt\n"
        "planning.plan = ended; sys.argv = ['orch', 'plan']; main.main()"
    )
    done = ended(program, folder)
    assert (done.returncode, done.stderr.strip()) == (130, "error: interrupted")
