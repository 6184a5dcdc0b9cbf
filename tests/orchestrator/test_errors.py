"""Exit codes: one per kind of error, each in the table that a script's author reads."""

import re
from pathlib import Path

from orchestrator import errors


def classes():
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.OrchError)]


def test_every_error_has_a_code_of_its_own():
    codes = [kind.exit_code for kind in classes()]
    assert len(set(codes)) == len(codes)


def test_the_table_names_every_error_with_its_code():
    table = dict(re.findall(r"^\| (\d+) \| `(\w+)`", errors.__doc__, re.MULTILINE))
    assert table == {str(kind.exit_code): kind.__name__ for kind in classes()}


def test_the_page_of_exit_codes_holds_the_same_table():
    rows = re.findall(r"^\|.*\|$", errors.__doc__, re.MULTILINE)
    page = Path(__file__).parents[2].joinpath("docs", "reference", "command-line.md").read_text()
    assert len(rows) > 8
    assert re.findall(r"^\|.*\|$", page, re.MULTILINE) == rows
