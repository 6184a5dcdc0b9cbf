"""Answers a shell that asks how a call of orch may go on, with candidates or with nothing: never with a message.

The scripts, their installation and the shells' formats are Typer's. Around them stands what a prompt needs: what goes wrong
is silent, of bash, which takes `load.requests=100` for three words, one word is made again, and no shell sets a space behind
what goes on, a key of `--set` or a folder (fish sets none by itself).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from orchestrator.cli.console import console

VARIABLE = "_ORCH_COMPLETE"
_BASH = "complete_bash"
_END = "    return 0\n"
# The whole answer to zsh where there is one candidate, and one that goes on.
_GOES_ON_IN_ZSH = re.compile(r"""_arguments '\*: :\(\("([\w./][\w.,:@%+/=-]*[=/])"\)\)'""", re.ASCII)
_NO_SPACE = "    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=/] ]] && compopt -o nospace\n"


def is_asking() -> bool:
    """Whether this process was started by a shell for candidates."""
    return os.environ.get(VARIABLE, "").startswith("complete_")


def answer(app: typer.Typer) -> NoReturn:
    """Print the candidates and end the process. Whatever goes wrong, nothing is printed."""
    sys.modules["rich"] = None  # type: ignore[assignment]  # it would be imported to render texts that have no markup
    said, status, cut = io.StringIO(), 1, ""
    with contextlib.suppress(Exception):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        if os.environ[VARIABLE] == _BASH:
            cut = _join_words_of_bash()
        with contextlib.redirect_stdout(said):
            try:
                app(prog_name="orch", complete_var=VARIABLE, standalone_mode=False)
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else 0
        offered = _GOES_ON_IN_ZSH.sub(r"compadd -S '' -- \1", said.getvalue())
        for line in filter(None, offered.splitlines()):
            console.fields(*line.removeprefix(cut).split("\t"))
    sys.exit(status)  # by which fish learns whether there is a candidate


def join_words(words: Sequence[str], place: int) -> tuple[list[str], int]:
    """The words of a call that bash has split at `=`, as the user typed them, and the place of the last one up to `place`.

    >>> join_words(["orch", "run", "--set", "load.requests", "=", "1"], 5)
    (['orch', 'run', '--set', 'load.requests=1'], 3)
    """
    joined: list[str] = []
    is_open = False  # whether the next word belongs to the last one
    for word in words[: place + 1]:
        if word == "=" and joined and joined[-1].startswith("-"):
            joined.append("")
            is_open = True
        elif is_open or (word == "=" and joined):
            joined[-1] += word
            is_open = word == "="
        else:
            joined.append(word)
    return joined, max(0, len(joined) - 1)


def finish_scripts() -> None:
    """Have bash set no space behind a key of `--set` or a folder, where Typer's script is as we know it."""
    with contextlib.suppress(ImportError, AttributeError, KeyError):
        from typer import _completion_shared

        scripts = _completion_shared._completion_scripts
        if _NO_SPACE not in scripts["bash"]:
            scripts["bash"] = scripts["bash"].replace(_END, _NO_SPACE + _END)


def _join_words_of_bash() -> str:
    """Hand the joined words on; what stands before the part of the last one that bash wants candidates for."""
    text, place = os.environ["COMP_WORDS"], int(os.environ["COMP_CWORD"])
    words = text.split("\n") if "\n" in text else text.split()
    joined, last = join_words([*words, ""][: place + 1], place)
    os.environ["COMP_WORDS"] = " ".join(shlex.quote(word) for word in joined)
    os.environ["COMP_CWORD"] = str(last)
    before, sign, _ = joined[last].rpartition("=")
    return before + sign
