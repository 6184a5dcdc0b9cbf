"""What a shell is offered while somebody types: the right words, at once, and nothing else on the prompt."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from orchestrator.cli import completions, runs, set_keys, shell
from tests.support.past import a_past_run

ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
RUN = "20261121-040000-one-aaaa"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A workspace with a run and an experiment, and things that are neither."""
    monkeypatch.chdir(tmp_path)
    for name in (RUN, "20261122-040000-two-bbbb", "$(touch hit)", 'x";touch hit;"'):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "journal.jsonl").touch()
    (tmp_path / "results" / "not-a-run").mkdir()
    (tmp_path / "mine.yaml").touch()
    (tmp_path / "mine.txt").touch()
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "other.yml").touch()
    return tmp_path


def asked(words: list[str], shell_name: str = "bash", **environment: str) -> subprocess.CompletedProcess[str]:
    """What orch answers a shell that asks how the last word may go on."""
    asking = {
        "_ORCH_COMPLETE": f"complete_{shell_name}",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": " ".join(words),
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    return subprocess.run(
        ORCH, env={**os.environ, **asking, **environment}, capture_output=True, text=True, check=False, timeout=60
    )


def test_runs_are_offered_the_newest_first_and_only_names_that_no_shell_evaluates():
    assert completions.runs("") == ["latest", "20261122-040000-two-bbbb", RUN]
    assert completions.runs("20261121") == [RUN]


def test_experiments_are_files_and_folders_that_may_hold_some():
    assert completions.experiments("") == ["experiments/", "mine.yaml", "results/"]
    assert completions.experiments("experiments/") == ["experiments/other.yml"]
    assert completions.experiments("./m") == ["./mine.yaml"]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("load.requ", {"load.requests="}),
        ("stacks.3.prot", {"stacks.3.protocol="}),
        ("load.arrivals=p", {"load.arrivals=poisson"}),
        ("stacks.0=grp", {"stacks.0=grpc"}),
        ("stacks.12.responder=flask-g", {"stacks.12.responder=flask-gunicorn"}),
        ("operations.0=ad", {"operations.0=add"}),
        ("no.such=", set()),
    ],
)
def test_keys_of_set_are_offered_and_behind_one_its_values(typed, offered):
    assert set(completions.overrides(typed)) == offered


def test_what_was_measured_is_offered_where_runs_are_chosen(folder: Path):
    a_past_run(folder / "results" / "past", experiment="mine")
    runs.command(limit=30)  # which writes the index
    assert completions.measured("experiment")("m") == ["mine"]
    assert completions.measured("stack")("grpc") == ["grpc-thin"], "its label has spaces"
    assert completions.cells("grpc-thin") == ["grpc-thin"]
    assert completions.cells("grpc-thin_")[0].startswith("grpc-thin__")
    assert "markdown" in asked(["orch", "export", "latest", "--format", "m"]).stdout


def test_every_key_that_is_offered_is_one_of_an_experiment():
    assert set_keys.FILE.read_text() == set_keys.text(), "write it anew: python -m orchestrator.cli.set_keys"


@pytest.mark.parametrize(
    ("words", "place", "joined"),
    [
        (["orch", "run", "--set", "a", "=", ""], 5, ["orch", "run", "--set", "a="]),
        (["orch", "run", "--set", "a", "="], 4, ["orch", "run", "--set", "a="]),
        (["orch", "run", "--set", "=", "lo"], 4, ["orch", "run", "--set", "lo"]),
        (["orch", "run", "--set", "a", "=", "1", "x"], 6, ["orch", "run", "--set", "a=1", "x"]),
        (["orch", "ru"], 1, ["orch", "ru"]),
    ],
)
def test_words_that_bash_splits_at_an_equals_sign_are_one_again(words, place, joined):
    assert shell.join_words(words, place) == (joined, len(joined) - 1)


def test_verbs_are_offered_by_name():
    assert asked(["orch", "comp"]).stdout == "compare\n"


@pytest.mark.parametrize("shell_name", ["zsh", "fish"])
def test_other_shells_are_answered_in_their_own_form(shell_name):
    done = asked(["orch", "compare", "2026"], shell_name)
    assert RUN in done.stdout
    assert "touch" not in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    "words", [["orch", "nonsense", ""], ["orch", "status", "x"], ["orch", "run", "no/such/folder/"]]
)
def test_a_call_that_cannot_go_on_is_answered_with_silence(words):
    done = asked(words)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("fault", ["a file", "unreadable", "a loop"])
def test_a_broken_workspace_puts_nothing_on_the_prompt(folder: Path, fault):
    shutil.rmtree(folder / "results")
    if fault == "a file":
        (folder / "results").write_text("x")
    elif fault == "a loop":
        (folder / "results").symlink_to("results")
    else:
        (folder / "results").mkdir(mode=0)
    done = asked(["orch", "report", ""])
    assert (done.stdout, done.stderr) == ("", "")


def test_numbers_that_are_none_are_silent_too():
    done = asked(["orch", "run", ""], COMP_CWORD="x")
    assert (done.stdout, done.stderr) == ("", "")


@pytest.fixture
def path(folder: Path) -> str:
    """A PATH with `orch` on it, as a shell finds it."""
    (folder / "bin").mkdir()
    (folder / "bin" / "orch").write_text(f"#!{sys.executable}\nfrom orchestrator.cli.main import main\n\nmain()\n")
    (folder / "bin" / "orch").chmod(0o755)
    return f"{folder / 'bin'}:{os.environ['PATH']}"


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_itself_completes_through_the_script_that_orch_gives(folder: Path, path: str):
    asks = r"""
eval "$(orch --show-completion)"
COMP_WORDS=(orch compare 20261121); COMP_CWORD=2; _orch_completion orch; printf "%s\n" "${COMPREPLY[@]}"
COMP_WORDS=(orch run mine.yaml --set load.arrivals = u); COMP_CWORD=6; _orch_completion orch
printf "%s\n" "${COMPREPLY[@]}"
complete -p orch
declare -f _orch_completion | grep -c "compopt -o nospace"
"""
    done = subprocess.run(
        ["bash", "--norc", "-c", asks],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.splitlines() == [RUN, "uniform", "complete -o default -F _orch_completion orch", "1"]
    assert not (folder / "hit").exists()


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish_itself_completes_through_the_script_that_orch_gives(folder: Path, path: str):
    asks = "\n".join(
        ["orch --show-completion | source"]
        + [
            f"complete -C '{typed}'"
            for typed in ("orch comp", "orch compare 20261121", "orch run mine.yaml --set load.arrivals=u")
        ]
    )
    done = subprocess.run(
        ["fish", "--no-config", "-c", asks],
        env={**os.environ, "PATH": path, "HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    verb, *others = done.stdout.splitlines()
    assert verb.split("\t")[0] == "compare"
    assert "Compare two runs" in verb.split("\t")[1]
    assert others == [RUN, "load.arrivals=uniform"]
    assert not (folder / "hit").exists()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh_itself_completes_what_is_typed_and_sets_a_space_only_behind_what_is_whole(folder: Path, path: str):
    """On a terminal; Ctrl-G writes down the line as it stands by then."""
    (folder / ".zshrc").write_text(r"""
autoload -Uz compinit && compinit -u -D
eval "$(orch --show-completion)"
note() { print -r -- "$BUFFER|" >>$ZDOTDIR/lines; BUFFER= }
zle -N note && bindkey '^G' note
setopt no_beep ignore_eof
""")
    typed = [
        "comp",
        "compare 20261121",
        "run exp",
        "run mine.yaml --set load.requ",
        "run mine.yaml --set load.arrivals=p",
    ]
    ours, its = pty.openpty()
    environment = {**os.environ, "PATH": path, "ZDOTDIR": str(folder), "TERM": "dumb"}
    with subprocess.Popen(
        ["zsh", "-d", "-i"], stdin=its, stdout=its, stderr=its, env=environment, start_new_session=True
    ) as zsh:
        os.close(its)
        os.write(ours, "".join(f"orch {words}\t\a" for words in typed).encode() + b"exit\r")
        with suppress(OSError):  # which is how a terminal ends
            while os.read(ours, 4096):
                pass
        zsh.wait(timeout=60)
    os.close(ours)
    assert (folder / "lines").read_text().splitlines() == [
        "orch compare |",
        f"orch compare {RUN} |",
        "orch run experiments/|",
        "orch run mine.yaml --set load.requests=|",
        "orch run mine.yaml --set load.arrivals=poisson |",
    ]
    assert not (folder / "hit").exists()


def test_a_shell_is_answered_without_what_takes_long_to_import():
    asks = "import sys; from orchestrator.cli import completions, main, shell; completions.overrides('stacks.0=');"
    asks += "print([n for n in ('pydantic', 'pandas', 'numpy', 'jinja2', 'yaml', 'rich', 'sqlalchemy') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
