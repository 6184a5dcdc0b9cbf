"""The verb `setup build`: programs of languages that need building."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from orchestrator.catalogue import building
from orchestrator.catalogue.building import Result
from orchestrator.catalogue.builds import LOG
from orchestrator.catalogue.offers import Language
from orchestrator.catalogue.read import catalogue
from orchestrator.cli.console import console
from orchestrator.cli.shared_options import AsJson
from orchestrator.errors import BuildFailed, MissingError, UsageError, did_you_mean


def build(
    named: Annotated[
        list[str] | None, typer.Argument(metavar="[LANGUAGE]...", help="Folders of services/.", show_default=False)
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Build what is up to date, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build the programs of languages that need it, a line each; exit 9 when a build fails.

    Without LANGUAGE, every language whose toolchain is here is built, and what the others lack is printed. What is up to
    date is not built again. `build/built.json` in a language's folder records what was built.
    """
    console.as_json = as_json
    offers = catalogue()
    results = []
    for language in _chosen(offers.languages, named or ()):
        result = building.build(language, offers.folder, again=again, say=_saying(language))
        results.append(result)
        _tell(result)
    if not results:
        console.result("no language here has anything to build")
    _end(results, is_asked=bool(named))


def _chosen(known: Mapping[str, Language], named: Sequence[str]) -> list[Language]:
    for name in named:
        if name not in known:
            raise UsageError(f"there is no language '{name}' in services/", hint=did_you_mean(name, known))
    if named:
        return [known[name] for name in dict.fromkeys(named)]
    return [language for language in known.values() if language.build]


def _saying(language: Language) -> Callable[[str], None]:
    return lambda said: console.live(f"{language.title}: {said} ...")


def _tell(result: Result) -> None:
    """What came of it, a line for each file; of what failed its command and its last lines, on stderr."""
    title = result.language.title
    for name, artifact in (result.built.artifacts if result.built else {}).items():
        remark = " (up to date)" if result.kind == "up to date" else ""
        console.result(f"{title}: {name}  {artifact.size_bytes:,} bytes  sha256 {artifact.sha256}{remark}")
    if result.kind == "nothing to do":
        console.result(f"{title}: nothing to do")
    elif result.kind == "lacking":
        console.result(f"{title}: left out: {result.why}")
    elif result.kind == "failed":
        place = f" (in services/{result.language.name})" if result.command else ""
        console.progress(f"{title}: {shlex.join(result.command) or 'its build'}{place}: {result.why}")
        for line in result.words:
            console.progress(f"    {line}")


def _end(results: Sequence[Result], *, is_asked: bool) -> None:
    document = {"languages": [asdict(result) | {"language": result.language.name} for result in results]}
    failed = [result.language.title for result in results if result.kind == "failed"]
    logs = [f"services/{result.language.name}/{LOG}" for result in results if result.kind == "failed"]
    lacking = [result for result in results if result.kind == "lacking"]
    if failed:
        raise BuildFailed(
            f"building {', '.join(failed)} failed", hint=f"the whole output is in {', '.join(logs)}", details=document
        )
    if lacking and is_asked:
        whys = "; ".join(f"{result.language.title}: {result.why}" for result in lacking)
        raise MissingError(f"what a build needs is not here: {whys}", details=document)
    console.emit(document)
