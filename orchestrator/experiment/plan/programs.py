"""The programs that a plan needs built: which languages' they are, and why a plan that needs them cannot be run now.

Only the languages that a plan names are looked at, as that hashes their files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from orchestrator.catalogue.offers import Client, Language, Responder
from orchestrator.catalogue.read import catalogue
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS

if TYPE_CHECKING:
    from orchestrator.catalogue.builds import Built
    from orchestrator.experiment.model.loader import Located
    from orchestrator.experiment.read.tree import Key

_FLOOR = "tcp"
_OF_HOSTS = ("ping", "describe")

Named: TypeAlias = "Sequence[tuple[tuple[Key, ...], Language]]"
"""Languages that an experiment needs, each with the place in the file that names it."""


def note_unusable(located: Located, named: Named, provider: str) -> None:
    """Note each language whose programs cannot be started by that provider now, where the file names it first."""
    places: dict[str, tuple[tuple[Key, ...], Language]] = {}
    for path, language in (*named, *(((), language) for language in _always())):
        places.setdefault(language.name, (path, language))
    for path, language in places.values():
        if why := _looked_at(language, provider)[0]:
            located.add(path, f"{why}.")


def startable(provider: str | None) -> Callable[[Language], str]:
    """Why that provider cannot start a language's programs now, and what to do; each language is looked at once.

    Without a provider nothing is looked at: empty, as where it can.
    """
    known: dict[str, str] = {}

    def why_not(language: Language) -> str:
        if provider is not None and language.name not in known:
            known[language.name] = _looked_at(language, provider)[0]
        return known.get(language.name, "")

    return why_not


def require(plan: Plan) -> Mapping[str, Built]:
    """What was built of each language that a plan needs built; UsageError where that cannot be used now."""
    found = {}
    for language in languages(plan):
        why, built = _looked_at(language, plan.provider)
        if why:
            raise UsageError(why, hint=f"`orch services` shows what is built; the plan is of {plan.experiment_path}")
        if built is not None:
            found[language.name] = built
    return found


def told(plan: Plan) -> list[str]:
    """What the programs of a plan were built with, of what, and which packages of its stacks are in them.

    A sentence for each language; UsageError as `require`.
    """
    from orchestrator.catalogue.builds import in_words, packages_in_words

    titles = {language.name: language.title for language in languages(plan)}
    found = []
    for name, of in require(plan).items():
        packages = packages_in_words(
            of, (one for end in _ends(plan) if end.language.name == name for one in end.packages)
        )
        found.append(f"{titles[name]}: {in_words(of.toolchain, of.source)}{packages and f'; in them {packages}'}")
    return found


def languages(plan: Plan) -> tuple[Language, ...]:
    """Whose programs a plan starts, each once; what the catalogue does not have is left to the trial that asks for it."""
    return tuple({language.name: language for language in (*_of_stacks(plan), *_always())}.values())


def platform_of(provider: str) -> str:
    """The platform of the hosts of a provider: its own, or this machine's."""
    from orchestrator.catalogue import platforms

    return PROVIDERS[provider].platform or platforms.here()


def _looked_at(language: Language, provider: str) -> tuple[str, Built | None]:
    """Why that provider cannot start a language's programs, and what to do (empty where it can); what was built."""
    if not language.build and not language.needs:
        return "", None
    from orchestrator.catalogue import builds, platforms, tools  # for whom no language is built pays nothing

    wanted, folder = platform_of(provider), catalogue().folder
    state = builds.look(language, folder, wanted)
    if state.why:
        is_elsewhere = state.kind == "foreign" and wanted != platforms.here()
        way = f"build them on {wanted}" if is_elsewhere else f"run `orch build {language.name}`, or `make native`"
        return f"the programs of {language.title} cannot be used: {state.why}; {way}", None
    of = PROVIDERS[provider]
    is_here = not of.makes_hosts or of.hosts_are_this_machine
    runtimes = [tools.look(tool, folder / language.name) for tool in language.needs] if is_here else []
    if lacking := tools.lacking(runtimes):
        return f"the programs of {language.title} cannot be started here: {lacking}", None
    return "", state.built


def _of_stacks(plan: Plan) -> Iterator[Language]:
    return (end.language for end in _ends(plan))


def _ends(plan: Plan) -> Iterator[Responder | Client]:
    known = catalogue().protocols
    for stack in plan.stacks:
        if (protocol := known.get(stack.protocol)) is None:
            continue
        responders = protocol.responders if stack.external is None else ()
        yield from (end for end in responders if end.name == stack.responder)
        yield from (end for end in protocol.clients if end.name == stack.client)


def _always() -> Iterator[Language]:
    """Whose programs measure the floor, ping and describe hosts, whatever is asked."""
    found = catalogue()
    for role in _OF_HOSTS:
        yield from [language for language in found.languages.values() if role in language.start][:1]
    if _FLOOR in found.protocols:
        floor = found.protocols[_FLOOR]
        yield from (floor.responder().language, floor.default_client(1).language)
