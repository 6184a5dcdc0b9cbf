"""The files that `orch compare` leaves for continuous integration: JUnit XML and Markdown, `-` for stdout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.console import console
from orchestrator.disk import whole_file, writing
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.analysis.across import RunComparison
    from orchestrator.wording.gate import Judgement

STDOUT = Path("-")


@dataclass(frozen=True, kw_only=True)
class VerdictFiles:
    """Where to write; None where a file was not asked for."""

    junit: Path | None = None
    markdown: Path | None = None

    @property
    def take_stdout(self) -> bool:
        """Whether one of them is stdout, which then holds nothing else."""
        return STDOUT in (self.junit, self.markdown)

    def __bool__(self) -> bool:
        """Whether any file was asked for."""
        return self.junit is not None or self.markdown is not None

    def require_usable(self, *, as_json: bool) -> None:
        """UsageError, before anything is read, where two documents would be one file, or a place is no file's."""
        if [self.junit, self.markdown, STDOUT if as_json else None].count(STDOUT) > 1:
            raise UsageError("only one document can go to stdout", hint="give --junit or --markdown a file's name")
        if self.junit is not None and self.junit == self.markdown:
            raise UsageError(f"--junit and --markdown both name {self.junit}", hint="give each a file of its own")
        for option, path in (("--junit", self.junit), ("--markdown", self.markdown)):
            if path is not None and path != STDOUT and path.exists() and not path.is_file():
                raise UsageError(f"{option} {path} is no regular file", hint="name a file; `-` is stdout")

    def write(
        self,
        comparison: RunComparison,
        judgement: Judgement,
        commands: Sequence[str],
        *,
        fails_undetermined: bool,
    ) -> None:
        """Write what was asked for; MissingError where the disk refuses."""
        if self.junit is not None:
            from orchestrator.report.junit import junit

            _write(self.junit, junit(comparison, judgement, fails_undetermined=fails_undetermined))
        if self.markdown is not None:
            from orchestrator.report.comparison_markdown import markdown

            _write(self.markdown, markdown(comparison, judgement, commands))


def _write(path: Path, text: str) -> None:
    if path == STDOUT:
        for line in text.splitlines():
            console.result(line)
        return
    with writing(path, "compare again"), whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
