"""Runs the linters that manifests of languages name, where they are here: `python -m benchmarks.lint_languages`."""

from __future__ import annotations

import shutil
import subprocess
import sys

from orchestrator.catalogue.read import catalogue


def main() -> int:
    """Return 1 where a linter finds fault."""
    offers, status = catalogue(), 0
    for language in offers.languages.values():
        folder = offers.folder / language.name
        for command in language.lint:
            if shutil.which(command[0]) is None and not (folder / command[0]).exists():
                print(f"{language.title}: not linted: there is no {command[0]}")
            elif subprocess.run(command, cwd=folder, check=False).returncode:
                print(f"{language.title}: its linters find fault")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
