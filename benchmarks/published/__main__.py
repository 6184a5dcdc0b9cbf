"""Makes the runs behind `docs/validation/README.md`, and its end: `python -m benchmarks.published`, from the root.

    python -m benchmarks.published list             # the runs, how long each takes, and which are there
    python -m benchmarks.published run NAME...      # make these runs, and keep their summaries
    python -m benchmarks.published page             # write the tables from what is kept

A run is made on a quiet machine, from a tree without changes. To try the way: `run NAME --to FOLDER --share-machine --set
load.requests=20`, which writes to that folder, and `page --of FOLDER`, which prints one table.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.published.kept import cut, text_of
from benchmarks.published.page import NOT_RUN, figures, kept, sentences
from benchmarks.published.specs import FIGURES, KEPT, ROOT, SENTENCES, SPECS, Spec
from orchestrator.results.documents import read_sealed
from orchestrator.summarise import summary_of

_ORCH = (sys.executable, "-c", "from orchestrator.cli.main import main; main()")
_CHECK_FAILED = 5  # orch's exit code: which figures are invalid stands in the summary


def main(words: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    options = _options(words)
    if options.verb == "list":
        _list()
    elif options.verb == "page":
        _page(options.of)
    else:
        for name in options.names:
            _run(_spec(name), options)


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published", description=(__doc__ or "").split("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="the runs, and which are there")
    run = verbs.add_parser("run", help="make runs, and keep their summaries")
    run.add_argument("names", nargs="+", metavar="NAME", help=", ".join(spec.name for spec in SPECS))
    run.add_argument("--machine", default=_machine(), help="what to call the machine (default: its CPUs and system)")
    run.add_argument("--to", type=Path, help="another folder than the committed one: for a try")
    run.add_argument("--share-machine", action="store_true", help="go on where the machine is in use; needs --to")
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a shorter run; needs --to")
    written = verbs.add_parser("page", help="write the tables from the summaries")
    written.add_argument("--of", type=Path, help="print the sentences of another folder's summaries instead")
    options = parser.parse_args(words)
    if options.verb == "run" and options.to is None and (options.share_machine or options.set):
        parser.error("what is committed is made alone, and as it is declared: give --to FOLDER")
    return options


def _spec(name: str) -> Spec:
    found = next((spec for spec in SPECS if spec.name == name), None)
    if found is None:
        sys.exit(f"no run is called {name}; there are {', '.join(spec.name for spec in SPECS)}")
    if not found.path.is_file():
        sys.exit(f"{found.experiment} is not in this version of orch")
    return found


def _list() -> None:
    there = kept()
    for spec in SPECS:
        state = there[spec.name].started_at if spec.name in there else NOT_RUN
        state = state if spec.path.is_file() else f"{spec.experiment} is not in this version"
        print(f"{spec.name:16} about {spec.minutes:2} min  {state:34} {spec.needs}")


def _page(of: Path | None) -> None:
    if of is not None:
        print(sentences(kept(of)), end="")
        return
    SENTENCES.write_text(sentences(kept()), encoding="utf-8")
    FIGURES.write_text(figures(kept()), encoding="utf-8")
    print(os.path.relpath(SENTENCES))


def _run(spec: Spec, options: argparse.Namespace) -> None:
    """One `orch run` in a folder of its own; what it kept up is taken down."""
    orch, overrides = _commit(), (*spec.overrides, *options.set)
    if options.to is None and orch.endswith("changed"):
        sys.exit("files differ from the commit: a run that is kept names the commit that made it")
    passed = [word for override in overrides for word in ("--set", override)]
    passed += ["--share-machine"] if options.share_machine else []
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "experiments", Path(folder) / "experiments")
        try:
            words = [*_ORCH, "run", spec.experiment, *passed]
            code = subprocess.run(words, cwd=folder, env=environment, check=False).returncode
        finally:
            subprocess.run([*_ORCH, "teardown"], cwd=folder, env=environment, capture_output=True, check=False)
        if code not in (0, _CHECK_FAILED):
            sys.exit(f"orch run ended with {code}")
        (found,) = (p for p in (Path(folder) / "results").iterdir() if p.is_dir() and not p.is_symlink())
        summary = summary_of(*read_sealed(found / "summary.json"))
    result = cut(
        summary,
        name=spec.name,
        command=spec.command,
        experiment=spec.experiment,
        overrides=overrides,
        orch=orch,
        machine=options.machine,
    )
    place = (options.to or KEPT) / f"{spec.name}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text_of(result), encoding="utf-8")
    print(f"{os.path.relpath(place)}: {(time.monotonic() - began) / 60:.1f} min")


def _commit() -> str:
    """The commit of the tree, and whether its files differ from it."""
    git = ["git", "-c", f"safe.directory={ROOT}"]  # the lab is made as root, in a tree of somebody else
    said = subprocess.run(
        [*git, "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    ours = ["--", ".", ":!benchmarks/results", ":!docs/validation"]
    status = [*git, "status", "--porcelain", "--untracked-files=no", *ours]
    changed = subprocess.run(status, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return said.stdout.strip() + (", changed" if changed.strip() else "")


def _machine() -> str:
    return f"{os.cpu_count()} CPUs, {platform.system()} {platform.release()}"


if __name__ == "__main__":
    main()
