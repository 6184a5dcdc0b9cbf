from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.experiment.read import tree
from orchestrator.experiment.read.problems import ExperimentError, Source


def refused(text: str) -> list[str]:
    with pytest.raises(ExperimentError) as error:
        tree.parse(Source("x.yaml", text))
    return [f"{p.mark.line}:{p.mark.column}: {p.message}" for p in error.value.problems]


def test_values_are_what_they_look_like() -> None:
    text = (
        "a: 1\nb: [1.5, true, text, 'no', \"1e4\", 60s]\nc: {d: ~}\ne: -3\nf: [no, off, 010, 1e4, 12:30, 2024-01-06]\n"
    )
    assert tree.parse(Source("x.yaml", text)).plain() == {
        "a": 1,
        "b": [1.5, True, "text", "no", "1e4", "60s"],
        "c": {"d": None},
        "e": -3,
        "f": ["no", "off", "010", "1e4", "12:30", "2024-01-06"],
    }


def test_every_key_and_value_knows_its_place() -> None:
    root = tree.parse(Source("x.yaml", "load:\n  requests: 100\nstacks:\n  - rest\n"))
    node, key = root.find(("load", "requests"))
    assert (str(key), str(node.mark)) == ("x.yaml:2:3", "x.yaml:2:13")
    assert str(root.find(("stacks", 0))[0].mark) == "x.yaml:4:5"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", "3:1: key 'a' is given twice; the first is in line 1."),
        ("1: a\n", "1:1: a key must be text."),
        ("? [a]\n: b\n", "1:3: a key must be text."),
        ("a: &b [*b]\n", "1:1: values are nested too deeply, or within themselves."),
        ("a: 'x\x00'\n", "1:1: character U+0000 is not allowed in YAML."),
    ],
)
def test_what_is_not_clear_is_refused_with_its_place(text: str, problem: str) -> None:
    assert refused(text) == [problem]


def test_a_missing_file_is_told_from_a_mistyped_one(tmp_path: Path) -> None:
    (tmp_path / "quickstart.yaml").write_text("a: 1")
    with pytest.raises(ExperimentError, match=r"there is no such file\. Did you mean .*quickstart\.yaml\?"):
        tree.read(tmp_path / "quickstar.yaml")
    with pytest.raises(ExperimentError, match="the file is no regular file"):
        tree.read(tmp_path)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ExperimentError):
        tree.parse(Source("x.yaml", text)).plain()
