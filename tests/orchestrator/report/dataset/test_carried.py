"""Reports from elsewhere: what is made again from them, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.report.dataset import block, carried_run, made, packed_rows
from orchestrator.report.render import render
from orchestrator.summarise import summarise

BLOCK = re.compile(r'(<script type="application/vnd\.orch\.run\+zip"[^>]*data-samples=")[^"]*(">)([^<]*)(</script>)')
ROWS = 7_620


def entries(text: str) -> dict[str, bytes]:
    block_text = BLOCK.search(text)
    assert block_text is not None
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(block_text[3]))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def carrying(text: str, content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()
    return BLOCK.sub(lambda match: match[1] + digest + match[2] + base64.b64encode(content).decode() + match[4], text)


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


def test_more_samples_than_a_report_carries_are_refused(folder, monkeypatch):
    monkeypatch.setattr(made, "MOST_ROWS", ROWS)
    assert made.packed(folder).samples_inside == ROWS
    monkeypatch.setattr(made, "MOST_ROWS", ROWS - 1)
    with pytest.raises(UsageError, match=r"has 7,620 samples; a report carries at most 7,619"):
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
    with pytest.raises(UsageError, match="is no report of orch"):
        block.read_page(path)
    path.write_text(BLOCK.sub("", text))
    with pytest.raises(UsageError, match="carries no samples"):
        block.read_page(path)


def test_a_block_that_is_cut_off_or_has_other_letters_is_refused(report, text):
    match = BLOCK.search(text)
    assert match is not None
    for changed in (
        text[: match.start(4) - 50],
        text[: match.start(4) - 400] + text[match.start(4) :],
        text.replace(match[3], "no digits!"),
        text.replace(match[3], match[3].replace("A", "B", 1)),
    ):
        report.write_text(changed)
        with pytest.raises(InvalidMeasurement, match="truncated or altered"):
            block.read_page(report)


def zipped(parts: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archived:
        for name, content in parts.items():
            archived.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("version", [1, None])
def test_another_format_is_named(report, text, version):
    parts = entries(text)
    about = json.loads(parts["dataset.json"]) | {"format": version}
    report.write_text(carrying(text, zipped(parts | {"dataset.json": json.dumps(about).encode()})))
    with pytest.raises(UsageError, match=f"of format {version}"):
        block.read_page(report)


def test_an_entry_that_grows_when_unpacked_is_refused(report, monkeypatch):
    monkeypatch.setitem(carried_run._MOST_BYTES, "manifest.json", 100)
    with pytest.raises(InvalidMeasurement, match="has more than 100 bytes"):
        block.read_page(report)


@pytest.mark.parametrize("way", ["more rows", "text", "missing", "nothing", "no entry"])
def test_samples_in_another_form_are_refused(report, text, way):
    parts = entries(text)
    table = pq.read_table(pa.BufferReader(parts["samples.parquet"]))
    columns = {name: table[name].to_numpy() for name in packed_rows.PACKED}
    match way:
        case "more rows":
            zeros = {name: np.zeros(3_000_000, dtype=np.int64) for name in packed_rows.PACKED}
            parts["samples.parquet"] = parquet(zeros, compression="zstd")
        case "text":
            parts["samples.parquet"] = parquet(columns | {"took_ns": ["x"] * table.num_rows})
        case "missing":
            parts["samples.parquet"] = parquet({name: columns[name] for name in packed_rows.PACKED[:-1]})
        case "nothing":
            parts["samples.parquet"] = b"PAR1"
        case _:
            del parts["samples.parquet"]
    report.write_text(carrying(text, zipped(parts)))
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
    ],
)
def test_what_a_dataset_says_of_itself_is_compared_with_what_it_holds(report, text, path, value):
    parts = entries(text)
    about = holder = json.loads(parts["dataset.json"])
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    report.write_text(carrying(text, zipped(parts | {"dataset.json": json.dumps(about).encode()})))
    with pytest.raises(InvalidMeasurement):
        block.read_page(report)
