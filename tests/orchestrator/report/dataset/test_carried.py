"""Reports from elsewhere: what is made again from them, and what is refused."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.errors import InvalidMeasurement, OrchError, UsageError
from orchestrator.report.dataset import block, container, made, packed_rows
from orchestrator.report.render import render
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.wording.answer import answer

BLOCK = re.compile(r'(<script type="application/vnd\.orch\.run\+zip"[^>]*>)([^<]*)(</script>)')
ROWS = 7_620


def entries(text: str) -> dict[str, bytes]:
    block_text = BLOCK.search(text)
    assert block_text is not None
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(block_text[2]))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def carrying(text: str, content: bytes) -> str:
    return BLOCK.sub(lambda match: match[1] + base64.b64encode(content).decode() + match[3], text)


def parquet(columns, **options) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, **options)
    return file.getvalue()


# ---- made again


def test_the_report_is_made_again_from_itself_alone(report, text):
    assert made.page(block.read_page(report).dataset) == text


def test_what_a_reader_sees_is_what_the_run_folder_says(folder, dataset):
    assert dataset.summary() == summarise(folder)


def test_the_blocks_run_nothing_and_the_policy_is_what_it_was(dataset, text):
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    assert policy.findall(text) == policy.findall(render(dataset.summary()))
    assert text.rstrip().endswith("</html>")
    assert text.index("</main>") < text.index('id="figures-data"') < text.index(block.KIND)


def test_of_a_run_with_more_samples_a_smaller_part_is_inside(folder):
    part = made.packed(folder, most_rows=6_000)
    assert part.of == ROWS
    assert part.inside <= 0.3 * 6_000 + 20 * len(part.about.rows)
    assert made.packed(folder, most_rows=ROWS).is_whole


def test_a_file_that_declares_other_rows_than_it_holds_is_refused(folder, monkeypatch):
    monkeypatch.setattr(RunFolder, "rows", lambda _self, _path: 21)
    with pytest.raises(InvalidMeasurement, match="another number of rows than it declares"):
        made.packed(folder)


def test_a_page_is_as_written_until_a_letter_changes(report, text):
    assert block.read_page(report).is_as_written
    report.write_text(text.replace("</main>", "1</main>"), encoding="utf-8")
    assert not block.read_page(report).is_as_written


# ---- refused


def test_a_file_that_is_no_report_is_called_that(tmp_path, text):
    path = tmp_path / "x.html"
    with pytest.raises(UsageError, match="there is no file"):
        block.read_page(path)
    path.write_bytes(b"\xff\xfe\x00PNG")
    with pytest.raises(UsageError, match="it is not text"):
        block.read_page(path)
    path.write_text(BLOCK.sub("", text))
    with pytest.raises(UsageError, match="carries no samples"):
        block.read_page(path)


def test_a_block_that_is_cut_off_or_has_other_letters_is_refused(report, text):
    match = BLOCK.search(text)
    assert match is not None
    for changed in (
        text[: match.start(3) - 50],
        text[: match.start(3) - 400] + text[match.start(3) :],
        text.replace(match[2], "no digits!"),
    ):
        report.write_text(changed)
        with pytest.raises(InvalidMeasurement):
            block.read_page(report)


@pytest.mark.parametrize("version", [1, 9])
def test_another_format_is_named(report, text, version):
    parts = entries(text)
    about = json.loads(parts[container.ABOUT]) | {"format": version}
    report.write_text(carrying(text, container.zipped(parts | {container.ABOUT: json.dumps(about).encode()})))
    with pytest.raises(UsageError, match=f"of format {version}"):
        block.read_page(report)


def test_changed_samples_are_found_by_their_digest(report, text):
    parts = entries(text)
    table = pq.read_table(pa.BufferReader(parts[container.SAMPLES]))
    took = table["took_ns"].to_numpy().copy()
    took[100] += 1
    parts[container.SAMPLES] = parquet(
        {name: table[name].to_numpy() for name in packed_rows.PACKED} | {"took_ns": took}
    )
    report.write_text(carrying(text, container.zipped(parts)))
    with pytest.raises(InvalidMeasurement, match=r"samples of .* were changed"):
        block.read_page(report)


def test_a_changed_manifest_is_found_by_its_digest(report, text):
    parts = entries(text)
    changed = parts[container.MANIFEST].replace(b'"seed":', b'"seed": ', 1)
    report.write_text(carrying(text, container.zipped(parts | {container.MANIFEST: changed})))
    with pytest.raises(InvalidMeasurement, match=r"manifest\.json is not as it was written"):
        block.read_page(report)


def archive(*named: tuple[str, bytes], way: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", way) as archived:
        for name, content in named:
            archived.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "journal.jsonl"])
def test_an_entry_of_another_name_is_refused_and_written_nowhere(report, text, name):
    report.write_text(carrying(text, archive(*entries(text).items(), (name, b"x"))))
    before = sorted(report.parent.rglob("*"))
    with pytest.raises(InvalidMeasurement, match=r"an entry .*, which orch never writes"):
        block.read_page(report)
    assert sorted(report.parent.rglob("*")) == before


def test_an_entry_that_grows_when_unpacked_is_refused(report, text, monkeypatch):
    monkeypatch.setattr(container, "MOST", {**container.MOST, container.MANIFEST: 100})
    with pytest.raises(InvalidMeasurement, match="which it never has"):
        block.read_page(report)


@pytest.mark.parametrize("way", ["more rows", "text", "missing", "nothing"])
def test_samples_in_another_form_are_refused(report, text, way):
    parts = entries(text)
    table = pq.read_table(pa.BufferReader(parts[container.SAMPLES]))
    columns = {name: table[name].to_numpy() for name in packed_rows.PACKED}
    match way:
        case "more rows":
            content = parquet(
                {name: np.zeros(3_000_000, dtype=np.int64) for name in packed_rows.PACKED}, compression="zstd"
            )
        case "text":
            content = parquet(columns | {"took_ns": ["x"] * table.num_rows})
        case "missing":
            content = parquet({name: columns[name] for name in packed_rows.PACKED[:-1]})
        case _:
            content = b"PAR1"
    report.write_text(carrying(text, container.zipped(parts | {container.SAMPLES: content})))
    with pytest.raises(InvalidMeasurement):
        block.read_page(report)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rows", 0, "path"), "../../x"),
        (("rows", 0, "rows"), -5),
        (("rows", 0, "rows"), 10**9),
        (("rows", 0, "base_ns"), 2**63),
        (("rows", 0, "order"), "another"),
        (("rows",), []),
        (("format",), None),
    ],
)
def test_what_a_dataset_says_of_itself_is_compared_with_what_it_holds(report, text, path, value):
    parts = entries(text)
    about = holder = json.loads(parts[container.ABOUT])
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    report.write_text(carrying(text, container.zipped(parts | {container.ABOUT: json.dumps(about).encode()})))
    with pytest.raises(OrchError) as refused:
        block.read_page(report)
    assert refused.value.exit_code in (2, 5)


def test_two_datasets_of_one_run_have_one_digest_and_changed_samples_another(folder, dataset):
    assert made.packed(folder).digest() == dataset.digest()
    first, *others = dataset.about.rows
    changed = replace(dataset.about, rows=(replace(first, sha256="0" * 64), *others))
    assert replace(dataset, about=changed).digest() != dataset.digest()


def test_of_a_part_cells_are_those_stored_and_all_else_follows_from_them(folder):
    part, whole = made.packed(folder, most_rows=6_000).summary(), summarise(folder)
    assert (part.cells, part.comparisons, answer(part)) == (whole.cells, whole.comparisons, answer(whole))
