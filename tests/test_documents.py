"""What the documents point to is there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from orchestrator.experiment.plan.planning import make_plan

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "protos").glob("*.md"), *(ROOT / "docs").rglob("*.md")]
)
# Folders of ours that a path in backticks may begin with; `results/` and others are made by running.
OURS = ("ansible", "benchmarks", "docs", "experiments", "infra", "locks", "orchestrator", "protos", "services", "tests")
MADE = {"infra/gcp/.terraform.lock.hcl": "`make lock-providers` writes it"}
NAMED = re.compile(rf"`((?:{'|'.join(OURS)})/[\w./-]*\w/?)`")
LINKED = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def missing(document: Path) -> list[str]:
    text = document.read_text(encoding="utf-8")
    made = {*MADE, *re.findall(r"^Create `([^`]+)`:$", text, re.MULTILINE)}  # by who follows the page
    named = [path for path in NAMED.findall(text) if path not in made and not (ROOT / path).exists()]
    return named + [path for path in LINKED.findall(text) if not (document.parent / path).exists()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_that_a_document_names_exists(document: Path) -> None:
    assert missing(document) == []


def test_a_path_that_does_not_exist_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`tests/nowhere.py`, `tests/conftest.py`, [gone](gone.md)\nCreate `tests/new.py`:\n")
    assert missing(page) == ["tests/nowhere.py", "gone.md"]


PLANNED = ("database", "model", "languages", "streams", "mix", "stability", "one-query-or-three")
HEAD = {"name": "x", "question": "Why?", "stacks": ["rest", "grpc"], "operations": "timestamp"}


@pytest.mark.parametrize("page", PLANNED)
def test_the_first_yaml_of_a_page_is_planned_as_it_stands(page: str, tmp_path: Path) -> None:
    """Beside a name, a question and what it leaves out, as a newcomer would copy it."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    (shown, *_) = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    given = set(re.findall(r"^(\w+):", shown, re.MULTILINE))
    file = tmp_path / "x.yaml"
    file.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in HEAD.items() if key not in given) + shown)
    assert make_plan(file, needs_programs=False).cells


# What only an implementation has: a path into its code, a module of it, or the way to run one.
POINTS_INTO_CODE = re.compile(
    r"\b(?:ansible|benchmarks|infra|orchestrator|services|tests)/[\w*]|\b(?:services|orchestrator|benchmarks)\.\w"
    r"|\w\.py\b|python -m"
)


def test_no_file_of_the_contract_points_into_an_implementation() -> None:
    files = [path for path in sorted((ROOT / "protos").rglob("*")) if path.is_file()]
    assert {path.suffix for path in files} >= {".md", ".json", ".proto", ".avsc", ".graphql"}
    found = {str(path.relative_to(ROOT)): POINTS_INTO_CODE.findall(path.read_text(encoding="utf-8")) for path in files}
    assert {path: places for path, places in found.items() if places} == {}


@pytest.mark.parametrize(
    "text", ["see `services/python/x`", "STATUSES of x/lines.py", "services.python.contract", "python -m x"]
)
def test_a_pointer_into_an_implementation_is_found(text: str) -> None:
    assert POINTS_INTO_CODE.search(text)
    assert not POINTS_INTO_CODE.search("`schemas/serve.json` of this folder; the responder's services")


def test_the_prose_explains_every_key_of_the_done_line() -> None:
    page = (ROOT / "protos" / "process.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w, ]+) \|", page.partition("| key | meaning |")[2].partition("\n## ")[0], re.MULTILINE)
    explained = {key for row in rows for key in row.split(", ")}
    schema = json.loads((ROOT / "protos" / "schemas" / "done.json").read_text(encoding="utf-8"))
    assert explained | {"type", "contract"} == schema["properties"].keys()
