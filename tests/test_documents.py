"""What the documents point to is there."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from benchmarks.reference import pages
from orchestrator.experiment.model.experiment import json_schema
from orchestrator.experiment.plan.planning import make_plan

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
DOCUMENTS = sorted(
    [
        *ROOT.glob("*.md"),
        ROOT / "experiments" / "README.md",
        *(ROOT / "protos").glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
    ]
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


# Pages whose YAML is copied by newcomers; every block of theirs that has operations is planned.
SHOWN = ("how-to/choose-what-varies", "how-to/rates-and-predictions", "tutorial/your-own-question")
HEAD = {"name": "x", "question": "Why?", "stacks": ["rest", "grpc"], "operations": "timestamp"}


def blocks() -> Iterator[tuple[str, str]]:
    for page in SHOWN:
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        yield from ((page, block) for block in re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize(("page", "shown"), [each for each in blocks() if "operations:" in each[1]])
def test_the_yaml_of_a_page_is_planned_as_it_is(page: str, shown: str, tmp_path: Path) -> None:
    """With a name, a question and what it leaves out, as a newcomer would copy it."""
    given = set(re.findall(r"^(\w+):", shown, re.MULTILINE))
    (tmp_path / "order.json").write_text('{"id": 4711, "items": [{"sku": "A-1", "quantity": 2}]}')
    (tmp_path / "small.json").write_text('{"id": 4711}')
    file = tmp_path / "x.yaml"
    file.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in HEAD.items() if key not in given) + shown)
    assert make_plan(file).cells, page


def anchors(page: Path) -> set[str]:
    """The anchors that a renderer makes of a page's headings."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_anchor_that_a_document_links_to_exists(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", document.read_text(encoding="utf-8"))
    assert [
        (to, anchor) for to, anchor in links if anchor not in anchors(document.parent / to if to else document)
    ] == []


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"README.md"}
    assert {page for page in pages if f"({page})" not in index} == set()


def test_the_documents_are_short() -> None:
    pages = sorted(DOCS.rglob("*.md"))
    words = {page: len(page.read_text(encoding="utf-8").split()) for page in (*pages, ROOT / "README.md")}
    assert words[ROOT / "README.md"] <= 700
    assert words[DOCS / "decisions.md"] <= 2_500
    assert sum(words.values()) <= 30_000
    assert len(pages) <= 26


def test_the_generated_pages_are_what_the_code_gives() -> None:
    """`python -m benchmarks.reference` writes them anew."""
    assert [
        str(page.relative_to(ROOT)) for page, text in pages().items() if page.read_text(encoding="utf-8") != text
    ] == []


def test_every_key_is_on_its_page_and_its_example_is_yaml_with_that_key() -> None:
    page = (DOCS / "reference" / "experiment.md").read_text(encoding="utf-8")
    schema = json_schema()
    keys = {key for described in (schema, *schema["$defs"].values()) for key in described["properties"]}
    assert {key for key in keys if f"`{key}`" not in page} == set()
    shown = re.findall(r"^- \*\*`(\w+)`\*\* .* `([^`]+)`$", page, re.MULTILINE)
    assert len(shown) == page.count("- **`")
    assert [(key, line) for key, line in shown if key not in str(yaml.safe_load(line))] == []


CODE = [
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files", "*.py", "*.yaml", "*.yml", "Makefile", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
]


def test_every_page_that_code_names_exists() -> None:
    named = {
        (str(path.relative_to(ROOT)), page)
        for path in CODE
        if path.is_file() and path != Path(__file__)
        for page in re.findall(r"docs/[\w/-]+\.(?:md|csv)\b", path.read_text(encoding="utf-8"))
    }
    assert {(path, page) for path, page in named if not (ROOT / page).exists()} == set()


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


def test_the_prose_explains_every_key_of_the_done_line() -> None:
    page = (ROOT / "protos" / "process.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w, ]+) \|", page.partition("| key | meaning |")[2].partition("\n## ")[0], re.MULTILINE)
    explained = {key for row in rows for key in row.split(", ")}
    schema = json.loads((ROOT / "protos" / "schemas" / "done.json").read_text(encoding="utf-8"))
    assert explained | {"type", "contract"} == schema["properties"].keys()
