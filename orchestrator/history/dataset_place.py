"""Where a team's dataset lies: a folder, or a prefix of a bucket, as a file system of pyarrow.

Files appear whole: in a folder under a temporary name first, on object storage as one object. Keys to object storage come
from the environment as its own tools read it, never from an address.
"""

from __future__ import annotations

import posixpath
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from orchestrator.disk import explained, whole_file
from orchestrator.errors import MissingError, UsageError, on_one_line

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_MOST_OF_AN_ERROR = 300  # characters
_AT_ONCE = 1 << 20  # bytes
_EXAMPLES = "a folder, file://, s3://bucket/prefix, gs://bucket/prefix"
_KEYS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, or gcloud's login",
}


@dataclass(frozen=True)
class Place:
    """A folder, or a prefix of a bucket. `address` has no options; paths are relative to it, with `/`."""

    address: str
    root: str
    is_local: bool
    system: FileSystem

    def read(self, path: str) -> bytes | None:
        """A file's content; None where there is none. MissingError where it cannot be read."""
        import pyarrow.fs as fs

        with self._explained():
            (info,) = self.system.get_file_info([self._at(path)])
            if info.type == fs.FileType.NotFound:
                return None
            with self.system.open_input_stream(self._at(path)) as file:
                return bytes(file.read())

    def put(self, path: str, source: Path) -> None:
        """Copy `source` to a file, whole or not at all; what is there is replaced."""
        with self._explained():
            if self.is_local:
                with whole_file(Path(self._at(path))) as partial:
                    shutil.copyfile(source, partial)
            else:
                with source.open("rb") as file, self.system.open_output_stream(self._at(path)) as target:
                    shutil.copyfileobj(file, target, _AT_ONCE)

    def delete(self, path: str) -> None:
        """Remove a file; in a folder also the folders above it that are empty then."""
        with self._explained():
            if not self.is_local:
                self.system.delete_file(self._at(path))
                return
            file = Path(self._at(path))
            file.unlink(missing_ok=True)
            with suppress(OSError):  # one is not empty, or another process has removed it just now
                for above in file.relative_to(self.root).parents[:-1]:
                    (Path(self.root) / above).rmdir()

    def files(self, folder: str) -> list[str]:
        """The paths of the files below a folder; none where there is no such folder."""
        import pyarrow.fs as fs

        below = fs.FileSelector(self._at(folder), recursive=True, allow_not_found=True)
        with self._explained():
            infos = self.system.get_file_info(below)
        return sorted(posixpath.relpath(info.path, self.root) for info in infos if info.type == fs.FileType.File)

    def is_empty(self, coming: str) -> bool:
        """Whether nothing lies there, but for a file `coming` that is being written just now.

        UsageError where it is no folder, or in no bucket.
        """
        import pyarrow.fs as fs

        bucket = self.root.partition("/")[0]
        with self._explained():
            if not self.is_local and self.system.get_file_info([bucket])[0].type == fs.FileType.NotFound:
                raise UsageError(
                    f"{self.address}: there is no bucket {bucket}", hint="make it, or name another with --to"
                )
            (info,) = self.system.get_file_info([self.root])
            if info.type == fs.FileType.NotFound:
                return True
            if info.type != fs.FileType.Directory:
                raise UsageError(f"{self.address} is a file, and a dataset is a folder", hint="name another with --to")
            entries = self.system.get_file_info(fs.FileSelector(self.root))
            return all(entry.base_name.startswith(f".{coming}.") for entry in entries)

    def _at(self, path: str) -> str:
        return f"{self.root}/{path}" if path else self.root

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """MissingError in place of what the place refuses."""
        import pyarrow as pa

        try:
            yield
        except (OSError, pa.ArrowException) as error:
            known = explained(error, Path(self.address), "publish again") if isinstance(error, OSError) else None
            if known is not None and self.is_local:
                raise known from error
            keys = _KEYS.get(self.address[:2], "")
            raise MissingError(
                f"{self.address}: {on_one_line(str(error), _MOST_OF_AN_ERROR)}",
                hint="is the address right, and may this user write there?" + (f" Keys: {keys}" if keys else ""),
            ) from error


def place(text: str) -> Place:
    """The place that somebody named: a path, file://, s3://bucket/prefix or gs://bucket/prefix, with options behind `?`.

    UsageError for what is none of these, and for an address with keys in it.
    """
    import pyarrow as pa
    from pyarrow.fs import FileSystem, LocalFileSystem

    scheme, separator, _ = text.partition("://")
    if not text:
        raise UsageError("--to names no place", hint=_EXAMPLES)
    if not separator:
        return Place(text.rstrip("/") or "/", str(Path(text).expanduser().absolute()), True, LocalFileSystem())
    if scheme not in ("file", *_KEYS):
        raise UsageError(f"--to: orch knows no {scheme}://", hint=_EXAMPLES)
    if "@" in urlsplit(text).netloc or "key" in urlsplit(text).query:
        raise UsageError(
            "--to may have no user and no key: every user of this machine sees a call",
            hint=f"keys come from the environment: {_KEYS.get(scheme, 'a folder needs none')}",
        )
    try:
        system, root = FileSystem.from_uri(text)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UsageError(f"--to is no place: {on_one_line(str(error), _MOST_OF_AN_ERROR)}", hint=_EXAMPLES) from None
    return Place(text.partition("?")[0].rstrip("/"), root.rstrip("/"), scheme == "file", system)
