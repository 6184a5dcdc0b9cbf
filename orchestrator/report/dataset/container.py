"""The data block's content: a zip file with a few entries of known names, which any program can open.

What comes from elsewhere is limited while it is unpacked. No entry is ever written to a disk by its name.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.errors import InvalidMeasurement
from orchestrator.record_layout import COLUMNS

ABOUT, MANIFEST, SAMPLES, SUMMARY = "dataset.json", "manifest.json", "samples.parquet", "summary.json"
MOST_ROWS = 400_000  # of the samples inside a report: twice what it is to hold, as each trial has some
MOST: Mapping[str, int] = {
    ABOUT: 1 << 26,
    MANIFEST: 1 << 28,
    SAMPLES: MOST_ROWS * len(COLUMNS) * 8,
    SUMMARY: 1 << 28,
}
_NEEDED = {ABOUT, MANIFEST, SAMPLES}
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Broken(Exception):
    """Why a block is not unpacked, as a clause."""

    why: str

    def error(self, where: object) -> InvalidMeasurement:
        """The error for the file that the block is in."""
        return InvalidMeasurement(
            f"{where}: the samples inside cannot be read: {self.why}",
            hint="ask whoever sent it for the file as `orch` wrote it; do not trust its figures before",
        )


def zipped(entries: Mapping[str, bytes]) -> bytes:
    """The entries as a zip file; the same entries give the same bytes with the same zlib."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name, date_time=_EPOCH)
            info.compress_type = zipfile.ZIP_STORED if name == SAMPLES else zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, content, compresslevel=9)
    return file.getvalue()


def unzipped(content: bytes) -> dict[str, bytes]:
    """The entries of such a file by their names; Broken for anything that `zipped` does not make."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
            names = [info.filename for info in infos]
            if len(set(names)) != len(names):
                raise Broken("two of its entries have one name")
            for name in names:
                if name not in MOST:
                    raise Broken(f"it has an entry {name[:80]!r}, which orch never writes")
            if missing := sorted(_NEEDED - set(names)):
                raise Broken(f"it has no {' and no '.join(missing)}")
            return {info.filename: _entry(archive, info) for info in infos}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise Broken(f"it is truncated or altered ({error})") from error


def _entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    most = MOST[info.filename]
    with archive.open(info) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise Broken(f"{info.filename} has more than {most:,} bytes, which it never has")
    return content
