"""Reports from elsewhere: what is made again from them, what is found out about them, and what is refused."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import re
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.analysis.summarise import summarise
from orchestrator.errors import InvalidMeasurement, OrchError, UsageError
from orchestrator.report import in_text
from orchestrator.report.dataset import block, checked, container, made, rows
from orchestrator.report.dataset.run import opened
from orchestrator.report.render import render
from orchestrator.results.folder import RunFolder
from tests.support.runs import a_run, write_run

BLOCK = re.compile(r'(<script type="application/vnd\.orch\.run\+zip"[^>]*>)([^<]*)(</script>)')


def entries(text: str) -> dict[str, bytes]:
    found = BLOCK.search(text)
    assert found is not None
    with zipfile.ZipFile(io.BytesIO(in_text.read(found[2]))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def carrying(text: str, content: bytes) -> str:
    return BLOCK.sub(lambda of: of[1] + in_text.written(content) + of[3], text)


def differences(path: Path) -> list[str]:
    return [str(each) for each in checked.check(block.read_page(path)).differences]


# ---- made again


def test_the_report_is_made_again_from_itself_alone(report, text):
    assert made.page(block.read_page(report).dataset) == text


def test_what_a_reader_sees_is_what_the_run_folder_says(folder, dataset):
    whole = summarise(folder)
    assert dataset.summary() == replace(whole, repeat_command=dataset.summary().repeat_command)


def test_the_block_runs_nothing_and_the_policy_is_what_it_was(dataset, text):
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    assert policy.findall(text) == policy.findall(render(dataset.summary()))
    assert text.rstrip().endswith("</html>")
    assert text.index(block.KIND) > text.index("</main>")


def test_a_block_in_base64_is_read_too(report, text, dataset):
    found = BLOCK.search(text)
    assert found is not None
    earlier = found[1].replace(' data-text="85"', "") + base64.b64encode(in_text.read(found[2])).decode() + found[3]
    report.write_text(text.replace(found[0], earlier))
    assert block.read_page(report).dataset.about == dataset.about
    report.write_text(text.replace(' data-text="85"', ""))
    with pytest.raises(InvalidMeasurement, match="truncated or altered"):
        block.read_page(report)


def test_of_a_run_with_more_samples_a_smaller_part_is_inside(folder):
    part = made.packed(folder, most_rows=6_000)
    assert part.of == 7_620
    assert part.inside <= 0.3 * 6_000 + 20 * len(part.about.rows)
    assert made.packed(folder, most_rows=7_620).is_whole


def test_a_file_that_declares_other_rows_than_it_holds_is_refused(folder, monkeypatch):
    monkeypatch.setattr(RunFolder, "rows", lambda _self, _path: 21)
    with pytest.raises(InvalidMeasurement, match="another number of rows than it declares"):
        made.packed(folder)


def test_a_report_says_how_much_is_inside(folder, text):
    assert "This file carries all 7,620 samples of the run" in text
    part = made.page(made.packed(folder, most_rows=6_000))
    assert re.search(r"<strong>\d,\d{3} of\s+7,620 samples</strong>", part)


# ---- found out


def test_a_report_as_it_was_written_passes(report):
    found = checked.check(block.read_page(report))
    assert (found.compared, found.differences, found.is_as_written) == ("page", (), True)


@pytest.mark.slow
def test_every_changed_digit_is_found_and_named(report, text):
    head, main = text.split('<main id="main">')
    body, tail = main.split("</main>")
    visible = re.sub(r"<(script|style).*?</\1>", lambda of: " " * len(of[0]), body, flags=re.S)
    places = [of.start() for of in re.finditer(r"\d(?=[^<>]*<)", visible)]
    for place in places[:: max(1, len(places) // 12)]:
        digit = "7" if body[place] != "7" else "3"
        report.write_text(f'{head}<main id="main">{body[:place]}{digit}{body[place + 1 :]}</main>{tail}')
        assert len(differences(report)) >= 1, body[place - 40 : place + 20]


def test_a_changed_median_is_named_with_what_it_should_be(report, text):
    cell = re.search(r'(<tr id="cell-rest.*?<td class="key"><data value="[^"]*">)([^<]*)', text, re.S)
    assert cell is not None
    report.write_text(text.replace(cell[0], f"{cell[1]}1.0"))
    assert differences(report) == [
        f"All figures, {row_of(text)}, Median: shown 1.0, recomputed {cell[2]}",
    ]


def row_of(text: str) -> str:
    row = re.search(r'<tr id="cell-rest.*?</th>', text, re.S)
    assert row is not None
    return " ".join(re.sub(r"<[^>]*>", " ", row[0]).split())


@pytest.mark.slow
def test_a_changed_chart_and_an_added_script_are_found(report, text):
    chart = re.search(r'(<div class="chart".*?<script type="application/gzip">)([^<]*)', text, re.S)
    assert chart is not None
    figure = json.loads(gzip.decompress(in_text.read(chart[2])))
    figure["layout"]["height"] += 50
    other = in_text.written(gzip.compress(json.dumps(figure).encode()))
    report.write_text(text.replace(chart[2], other))
    assert len(differences(report)) == 1
    assert "the data of a chart" in differences(report)[0]
    report.write_text(text.replace("</main>", "<script>alert(1)</script></main>"))
    assert any("alert(1)" in each for each in differences(report))


def test_charts_packed_by_another_zlib_are_the_same(report, text):
    chart = re.search(r'<script type="application/gzip">([^<]*)', text)
    assert chart is not None
    other = in_text.written(gzip.compress(gzip.decompress(in_text.read(chart[1])), 1))
    report.write_text(text.replace(chart[1], other))
    assert differences(report) == []


def test_changed_samples_are_found_by_their_digest(report, text):
    parts = entries(text)
    table = pq.read_table(pa.BufferReader(parts[container.SAMPLES]))
    took = table["took_ns"].to_numpy().copy()
    took[100] += 1
    parts[container.SAMPLES] = parquet({name: table[name].to_numpy() for name in rows.PACKED} | {"took_ns": took})
    report.write_text(carrying(text, container.zipped(parts)))
    with pytest.raises(InvalidMeasurement, match=r"samples of .* were changed: their digest is another one"):
        block.read_page(report)


def test_changed_samples_with_digests_made_anew_no_longer_give_the_figures(report, dataset, text):
    columns = {path: dict(of) for path, of in dataset.columns.items()}
    for path, of in columns.items():
        if "cell=grpc" in path:
            of["received_ns"] = of["received_ns"] - (of["received_ns"] - of["sent_ns"]) // 5
    about, packed = rows.pack(columns, {of.path: of.of for of in dataset.about.rows})
    forged = replace(dataset, about=replace(dataset.about, rows=about), packed=packed)
    report.write_text(carrying(text, forged.to_bytes()))
    assert any("Median: shown" in each for each in differences(report))


def test_a_page_of_another_program_has_its_figures_compared(report, dataset, text):
    older = replace(dataset, about=replace(dataset.about, program="0" * 64, orch="0.0.9"))
    page = made.bare_page(dataset).replace("What was measured", "The measurements")
    report.write_text(block.with_block(page, older.to_bytes()))
    found = checked.check(block.read_page(report))
    assert found.compared == "figures of cells"
    assert found.figures > 20
    assert found.differences == ()
    assert found.is_as_written
    cell = re.search(r'<tr id="cell-rest.*?<td class="key"><data value="[^"]*">([^<]*)', page, re.S)
    assert cell is not None
    forged = page.replace(cell[0], cell[0].removesuffix(cell[1]) + "1.0")
    report.write_text(block.with_block(forged, older.to_bytes()))  # with a digest made anew
    assert [each.shown for each in checked.check(block.read_page(report)).differences] == ["1.0"]


def test_a_page_saved_by_a_browser_is_called_that_and_no_forgery(report, text):
    saved = text.replace("<html lang", "<!-- saved from url=(0022)http://localhost/x -->\n<html data-script='on' lang")
    saved = re.sub(r'(<div class="live"[^>]*>)', r"\1<div class='plot'><svg><text>17</text></svg></div>", saved)
    saved = saved.replace(' hidden="">Dark', ">Dark").replace(" hidden>Dark", ' aria-label="Switch to light">Light')
    saved = saved.replace("</body>", '<svg id="js-plotly-tester"><text>1</text></svg></body>')
    report.write_text(saved)
    found = checked.check(block.read_page(report))
    assert "a browser saved this file" in found.why_not_all
    assert found.differences == ()


@pytest.mark.slow
def test_a_part_of_the_samples_bounds_medians(folder, report):
    page = made.page(made.packed(folder, most_rows=6_000))
    report.write_text(page)
    found = checked.check(block.read_page(report))
    assert found.bounded > 5
    assert found.differences == ()
    parts = entries(page)
    summary = json.loads(parts[container.SUMMARY])
    summary["cells"][0]["trials"][0]["median"] *= 1.5
    parts[container.SUMMARY] = json.dumps(summary).encode()
    about = json.loads(parts[container.ABOUT])
    about["documents"][container.SUMMARY] = hashlib.sha256(parts[container.SUMMARY]).hexdigest()
    parts[container.ABOUT] = json.dumps(about).encode()
    forged = opened(container.zipped(parts), report)
    report.write_text(made.page(forged))  # summary and page alike
    assert any("median: shown" in each for each in differences(report))


# ---- refused


def parquet(columns, **options) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, **options)
    return file.getvalue()


def test_a_file_that_is_no_report_is_called_that(tmp_path, text):
    path = tmp_path / "x.html"
    with pytest.raises(UsageError, match="there is no file"):
        block.read_page(path)
    path.write_text("<html><body>Hello</body></html>")
    with pytest.raises(UsageError, match="is no report of orch"):
        block.read_page(path)
    path.write_bytes(b"\xff\xfe\x00PNG")
    with pytest.raises(UsageError, match="it is not text"):
        block.read_page(path)
    path.write_text(BLOCK.sub("", text))
    with pytest.raises(UsageError, match="carries no samples"):
        block.read_page(path)


def test_a_truncated_file_two_blocks_and_a_block_that_is_none(report, text):
    found = BLOCK.search(text)
    assert found is not None
    report.write_text(text[: found.start(3) - 50])
    with pytest.raises(InvalidMeasurement, match="cut off within its data block"):
        block.read_page(report)
    report.write_text(text[: found.start(3) - 400] + text[found.start(3) :])
    with pytest.raises(InvalidMeasurement, match="truncated or altered"):
        block.read_page(report)
    report.write_text(text.replace("</body>", f"{found[0]}</body>"))
    with pytest.raises(InvalidMeasurement, match="carries 2 data blocks"):
        block.read_page(report)
    report.write_text(text.replace(found[2], "no digits!"))
    with pytest.raises(InvalidMeasurement, match="truncated or altered"):
        block.read_page(report)


def test_a_newer_format_is_named(report, text):
    parts = entries(text)
    about = json.loads(parts[container.ABOUT]) | {"format": 9, "more": 1}
    report.write_text(carrying(text, container.zipped(parts | {container.ABOUT: json.dumps(about).encode()})))
    with pytest.raises(UsageError, match="written by a newer orch"):
        block.read_page(report)


def archive(*named: tuple[str | zipfile.ZipInfo, bytes], way: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", way) as made_archive:
        for name, content in named:
            made_archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "samples/../../x", "journal.jsonl", "dataset.json/"])
def test_an_entry_of_another_name_is_refused_and_written_nowhere(report, text, name):
    parts = entries(text)
    report.write_text(carrying(text, archive(*parts.items(), (name, b"x"))))
    before = sorted(report.parent.rglob("*"))
    with pytest.raises(InvalidMeasurement, match=r"an entry .*, which orch never writes"):
        block.read_page(report)
    assert sorted(report.parent.rglob("*")) == before


def test_links_other_packings_and_entries_given_twice_are_refused(report, text):
    parts = entries(text)
    link = zipfile.ZipInfo(container.EXPERIMENT)
    link.external_attr = 0o120777 << 16
    rest = [(name, content) for name, content in parts.items() if name != container.EXPERIMENT]
    report.write_text(carrying(text, archive(*rest, (link, b"/etc/passwd"))))
    with pytest.raises(InvalidMeasurement, match="not an ordinary compressed file"):
        block.read_page(report)
    report.write_text(carrying(text, archive(*parts.items(), way=zipfile.ZIP_LZMA)))
    with pytest.raises(InvalidMeasurement, match="not an ordinary compressed file"):
        block.read_page(report)
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = archive(*parts.items(), (container.ABOUT, b"{}"))
    report.write_text(carrying(text, twice))
    with pytest.raises(InvalidMeasurement, match="two of its entries have one name"):
        block.read_page(report)


def test_an_entry_that_grows_when_unpacked_is_refused(report, text):
    parts = entries(text)
    bomb = archive(*parts.items(), (container.EXPERIMENT, b"\0" * (container.MOST[container.EXPERIMENT] + 1)))
    report.write_text(carrying(text, bomb))
    with pytest.raises(InvalidMeasurement, match="never has more than"):
        block.read_page(report)
    size = (container.MOST[container.EXPERIMENT] + 1).to_bytes(4, "little")
    report.write_text(carrying(text, bomb.replace(size, (100).to_bytes(4, "little"))))  # it declares less
    with pytest.raises(InvalidMeasurement, match=r"truncated or altered|not as large as it declares"):
        block.read_page(report)


@pytest.mark.parametrize("way", ["more rows", "text", "missing", "another name", "nothing"])
def test_hostile_parquet_is_refused(report, text, way):
    parts = entries(text)
    table = pq.read_table(pa.BufferReader(parts[container.SAMPLES]))
    columns = {name: table[name].to_numpy() for name in rows.PACKED}
    match way:
        case "more rows":
            content = parquet({name: np.zeros(3_000_000, dtype=np.int64) for name in rows.PACKED}, compression="zstd")
        case "text":
            content = parquet(columns | {"took_ns": ["x"] * table.num_rows})
        case "missing":
            content = parquet({name: columns[name] for name in rows.PACKED[:-1]})
        case "another name":
            content = parquet({f"{name}2": values for name, values in columns.items()})
        case _:
            content = b"PAR1"
    report.write_text(carrying(text, container.zipped(parts | {container.SAMPLES: content})))
    with pytest.raises(InvalidMeasurement):
        block.read_page(report)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rows", 0, "path"), "../../x"),
        (("rows", 0, "path"), "samples/cell=x/../../x.parquet"),
        (("rows", 0, "rows"), -5),
        (("rows", 0, "rows"), 10**9),
        (("rows", 0, "of"), 0),
        (("rows", 0, "base_ns"), 2**63),
        (("rows", 0, "order"), "another"),
        (("rows", 0, "columns"), ["sequence"]),
        (("rows", 0, "columns"), ["step_ns"]),
        (("rows",), []),
        (("documents",), {}),
        (("format",), "1"),
        (("format",), None),
        (("names_kept",), "no"),
        (("remarks",), [None]),
    ],
)
def test_what_a_dataset_says_of_itself_is_held_against_what_it_holds(report, text, path, value):
    parts = entries(text)
    about = holder = json.loads(parts[container.ABOUT])
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    report.write_text(carrying(text, container.zipped(parts | {container.ABOUT: json.dumps(about).encode()})))
    with pytest.raises(OrchError) as refused:
        block.read_page(report)
    assert refused.value.exit_code in (2, 5)


@pytest.mark.parametrize("value", [None, [], "x", -1, 10**17, 1e308, {"a": None}, "<script>alert(1)</script>"])
def test_a_forged_manifest_is_refused_or_harmless(report, text, value):
    parts = entries(text)
    manifest = json.loads(parts[container.MANIFEST])
    about = json.loads(parts[container.ABOUT])
    for key in ("trials", "hosts", "plan", "baselines", "warnings", "run_id", "files", "command"):
        content = json.dumps(manifest | {key: value}).encode()
        about["documents"][container.MANIFEST] = hashlib.sha256(content).hexdigest()
        forged = parts | {container.MANIFEST: content, container.ABOUT: json.dumps(about).encode()}
        report.write_text(carrying(text, container.zipped(forged)))
        with suppress(InvalidMeasurement, UsageError):
            assert "<script>alert(1)</script>" not in made.page(block.read_page(report).dataset)


def test_files_of_an_earlier_orch_have_fewer_columns_and_are_packed(tmp_path):
    run = a_run(blocks=3, baselines=False)
    for columns in run.files.values():
        for name in ("sender_ns", "sender_clock"):
            columns.pop(name, None)
    folder = RunFolder.open(write_run(run, tmp_path / "results" / "old"), root=tmp_path / "results")
    dataset = made.packed(folder)
    assert "sender_ns" not in dataset.about.rows[0].columns
    assert opened(dataset.to_bytes(), tmp_path / "x.html").summary() == dataset.summary()
