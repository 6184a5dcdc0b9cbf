"""Where a team's dataset lies: a folder, or a prefix of a bucket (S3 and what speaks it, Google Cloud Storage).

Files appear whole: in a folder under a temporary name first, on object storage as one object. Keys to object storage come
from the environment as its own tools read it, never from an address.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from orchestrator.disk import explained, whole_file
from orchestrator.errors import MissingError, UsageError, on_one_line

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_OPTIONS = ("endpoint_override", "region", "scheme")
_CONNECT_S, _REQUEST_S, _TRIES = 10.0, 60.0, 3
_RETRY_S = 60
_MOST_OF_AN_ERROR = 300  # characters
_AT_ONCE = 1 << 20  # bytes
_AGAIN = "publish again"
_KEYS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, or gcloud's login",
}


@dataclass(frozen=True)
class Place:
    """A folder, or a prefix of a bucket. `told` is what messages call it. Paths are relative, with `/`."""

    told: str
    root: str
    is_local: bool
    files_of: FileSystem

    def read(self, path: str) -> bytes | None:
        """A file's content; None where there is none. MissingError where it cannot be read."""
        import pyarrow.fs as fs

        with self._explained():
            (about,) = self.files_of.get_file_info([self._at(path)])
            if about.type == fs.FileType.NotFound:
                return None
            with self.files_of.open_input_stream(self._at(path)) as opened:
                content = opened.read()
        return bytes(content)

    def put(self, path: str, source: Path) -> None:
        """Have a file with the content of `source`, whole or not at all; what is there is replaced."""
        if self.is_local:
            with self._explained(), whole_file(Path(self._at(path))) as partial:
                shutil.copyfile(source, partial)
            return
        with self._explained(), source.open("rb") as given, self.files_of.open_output_stream(self._at(path)) as opened:
            shutil.copyfileobj(given, opened, _AT_ONCE)

    def delete(self, path: str) -> None:
        """Remove a file; in a folder also the folders above it that are empty then."""
        if not self.is_local:
            with self._explained():
                self.files_of.delete_file(self._at(path))
            return
        with self._explained():
            file = Path(self._at(path))
            file.unlink(missing_ok=True)
            for above in file.parents:
                if above == Path(self.root):
                    break
                try:
                    above.rmdir()
                except OSError:  # it is not empty, or another process has removed it just now
                    break

    def files(self, folder: str) -> list[str]:
        """The paths of the files below a folder; none where there is no such folder."""
        import pyarrow.fs as fs

        below = fs.FileSelector(self._at(folder), recursive=True, allow_not_found=True)
        with self._explained():
            every = self.files_of.get_file_info(below)
        return sorted(posixpath.relpath(file.path, self.root) for file in every if file.type == fs.FileType.File)

    def is_empty(self, coming: str) -> bool:
        """Whether nothing lies there, but for a file `coming` that is being written just now.

        UsageError where it is no folder, or in no bucket.
        """
        import pyarrow.fs as fs

        bucket = self.root.partition("/")[0]
        with self._explained():
            if not self.is_local and self.files_of.get_file_info([bucket])[0].type == fs.FileType.NotFound:
                raise UsageError(f"{self.told}: there is no bucket {bucket}", hint="make it, or name another with --to")
            (about,) = self.files_of.get_file_info([self.root])
            if about.type == fs.FileType.NotFound:
                return True
            if about.type != fs.FileType.Directory:
                raise UsageError(
                    f"{self.told} is a file, and a dataset is a folder", hint="name another place with --to"
                )
            there = self.files_of.get_file_info(fs.FileSelector(self.root))
            return all(of.base_name.startswith(f".{coming}.") for of in there)

    def _at(self, path: str) -> str:
        return f"{self.root}/{path}" if path else self.root

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """MissingError in place of what the place refuses."""
        import pyarrow as pa

        try:
            yield
        except (OSError, pa.ArrowException) as error:
            known = explained(error, Path(self.told), _AGAIN) if isinstance(error, OSError) and self.is_local else None
            if known is not None:
                raise known from error
            raise MissingError(
                f"{self.told}: {on_one_line(str(error), _MOST_OF_AN_ERROR)}",
                hint="is the address right, and may this user write there?"
                + (f" Keys: {_KEYS[self.told[:2]]}" if self.told[:2] in _KEYS else ""),
            ) from error


def place(text: str) -> Place:
    """The place that somebody named: a path, file://, s3://bucket/prefix or gs://bucket/prefix, with options behind `?`.

    UsageError for what is none of these, and for an address with keys in it.
    """
    found = _SCHEME.match(text)
    if found is None or found[1].lower() == "file":
        return _folder(text if found is None else unquote(text[len("file://") :]), text)
    scheme = found[1].lower()
    if scheme not in ("s3", "gs"):
        raise UsageError(
            f"--to: orch knows no {scheme}://", hint="a folder, file://, s3://bucket/prefix, gs://bucket/prefix"
        )
    try:
        address = urlsplit(text)
        options = parse_qs(address.query, strict_parsing=bool(address.query), keep_blank_values=True)
    except ValueError:
        raise UsageError("--to is no address", hint=f"such as {scheme}://bucket/prefix") from None
    if "@" in address.netloc or any(name not in _OPTIONS for name in options):
        raise UsageError(
            f"--to may have {', '.join(_OPTIONS)} behind `?` and nothing else: no user, no key",
            hint=f"keys come from the environment: {_KEYS[scheme]}",
        )
    prefix = unquote(address.path).removeprefix("/").removesuffix("/")
    parts = prefix.split("/") if prefix else []
    if not address.netloc or any(part in ("", ".", "..") for part in parts):
        raise UsageError(
            f"--to {scheme}://{address.netloc}/{prefix} is no place", hint=f"such as {scheme}://bucket/prefix"
        )
    told = "/".join([f"{scheme}://{address.netloc}", *parts])
    made = _s3 if scheme == "s3" else _gs
    with_options = {name: values[-1] for name, values in options.items()}
    return Place(told, "/".join([address.netloc, *parts]), False, made(with_options))


def _folder(path: str, told: str) -> Place:
    from pyarrow.fs import LocalFileSystem

    if not path or "\0" in path:
        raise UsageError("--to names no place", hint="a folder, or s3://bucket/prefix")
    absolute = Path(path).expanduser().absolute()
    above = next((folder for folder in absolute.parents if folder.exists()), absolute)
    if not above.is_dir():
        raise UsageError(f"{told} cannot be written: {above} is not a folder", hint="name another place with --to")
    return Place(told.rstrip("/") or "/", str(absolute), True, LocalFileSystem())


def _s3(options: dict[str, str]) -> Any:
    import pyarrow.fs as fs

    return fs.S3FileSystem(
        **options,
        connect_timeout=_CONNECT_S,
        request_timeout=_REQUEST_S,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_TRIES),
    )


def _gs(options: dict[str, str]) -> Any:
    import pyarrow.fs as fs

    known = {name: value for name, value in options.items() if name != "region"}
    return fs.GcsFileSystem(**known, retry_time_limit=timedelta(seconds=_RETRY_S))
