"""Replaces what names a machine, a person or an account in everything that a run says of itself: a report is sent around.

What is replaced is told by its form (paths, addresses, e-mail, credentials in DSNs), by the key that it stands under (the
host's name, a project), or because one of those has shown it (the user in `/home/user`, who may stand elsewhere alone). The
same name is the same pseudonym everywhere: `host-1`, `user-1`, `192.0.2.1` (RFC 5737), `2001:db8::1` (RFC 3849). Names of
this computer that say nothing (`localhost`, 127.0.0.1) and words of the experiment stay. It is a pure function of the text,
so that what refers to something by its name still does.
"""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import PurePosixPath
from typing import Any, Final

PATH: Final = "<path>"
SECRET: Final = "<secret>"  # noqa: S105 - what stands for one
MAIL: Final = "<e-mail>"

_SHORTEST = 3  # of a name that is looked for within other text
_GENERAL = (
    "root admin user users ubuntu debian fedora centos runner orch home localhost local shared public "
    "guest nobody database postgres postgresql test server client"
)
"""What a user or a host may be called and everybody is."""
_OURS = (
    "complete interrupted running failed ping tcp reuse per-request before during after responder "
    "requester ready done stats describe exchange held icmp system codec call task stream ordinary process "
    "requests median throughput model interpolation"
)
"""Words of a manifest that mean something to orch where they stand alone."""
_KEYS: Mapping[str, str] = {
    "host": "host",
    "hostname": "host",
    "instance": "host",
    "project": "project",
    "project_id": "project",
    "user": "user",
    "username": "user",
    "account": "user",
    "email": "user",
    "service_account": "user",
    "password": "secret",
    "id": "instance",
    "name": "host",
    "given": "host",
}
_IN_CLOUD = frozenset({"cloud"})
_ONLY_IN: Mapping[str, frozenset[str]] = {
    "id": _IN_CLOUD,
    "name": _IN_CLOUD,
    "host": frozenset({"hosts"}),
    "given": frozenset({"external"}),
}
"""Keys that mean something else in other parts of a run: there a stack has an id, and a requester a host by its role."""

# What may stand before a sign is bounded: a text from elsewhere, in which the sign never comes, takes no longer than others.
_FILE_URL = re.compile(r"(?i)\b(?P<scheme>(?:file|unix|sqlite[\w+]{0,30}):/{0,9})(?=/)[^\s'\"`<>]+")
_URL = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]{0,40}://)"
                  r"(?:(?P<user>[^\s/@:'\"<>]{0,400})(?::(?P<password>[^\s@'\"]{0,4096}))?@)?"
                  r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\s/:'\"<>,;()\[\]?#]*)")  # fmt: skip
_SECRETS = r"(?<![A-Za-z0-9])(?:(?:pg)?(?:password|passwd|pwd)|secret|token|api[_-]?key|(?:secret[_-])?access[_-]?key)"
_ASSIGNED = re.compile(
    rf"(?i)(?P<key>{_SECRETS}|\b(?:user(?:name)?|host(?:name|addr)?|project(?:_id)?))"
    r"(?P<sign>\s?=\s?)(?P<value>'[^'\n]*'|\"[^\"\n]*\"|[^\s'\",;&)]+)"
)
# What stands behind a colon may be any word: it is replaced there, and not looked for elsewhere.
_SAID = re.compile(rf"(?i)(?P<before>{_SECRETS}['\"]?\s?:\s?)(?:'[^'\n]+'|\"[^\"\n]+\"|[^\s'\",;&){{}}]+)")
_AUTHORIZATION = re.compile(
    r"(?i)\b(?P<before>(?:authorization['\"]?\s?[:=]\s?['\"]?(?:[a-z]{1,20} )?|bearer ))[^\s'\",;)]{4,}"
)
_TOLD = re.compile(
    r"(?i)\b(?P<kind>host(?: name)?|server at|user|role) (?P<quote>['\"])(?P<name>[^'\"\n]{1,253})(?P=quote)"
)
_MAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}")
_LOGIN = re.compile(r"(?<![\w@/.-])(?P<user>[A-Za-z_][\w.-]*)@(?P<host>[A-Za-z][A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)\b")
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{1,4}|(?:\d{1,3}\.){3}\d{1,3})?(?![\w:])")
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)")
_MAC = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:])")
_DOMAIN = re.compile(
    r"(?<![\w./@-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+(?:internal|lan|corp|intranet|localdomain|home|local|"
    r"amazonaws\.com|googleusercontent\.com)(?![\w(-]|\.\w)"
)
_HOST_PORT = re.compile(
    r"(?<![\w./@-])(?P<host>[A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)+)(?<!\.py)(?<!\.[cghjrt][os])(?<!\.json)(?<!\.yaml):(?=\d{2,5}\b)"
)
_QUOTED_PATH = re.compile(r"(?P<quote>['\"`])(?P<path>~?(?:/[^'\"`\n/]+){2,}/?)(?P=quote)")
_BARE_PATH = re.compile(r"(?<![\w.</-])(?:~[\w.-]*|(?=/))(?:/[^\s'\"`,;:()<>|=/]+){1,}/?")
_HOME = re.compile(r"(?:/home|/Users|/var/home)/(?P<user>[^/\s'\"`,;:()<>|]+)")
_PROJECT = re.compile(r"\bprojects/(?P<project>[a-z][a-z0-9-]{4,28}[a-z0-9])\b")
_OF_THE_SYSTEM = ("/proc/", "/sys/", "/dev/", "/bin/", "/lib/", "/usr/bin/", "/usr/lib/", "/usr/sbin/", "/sbin/")


class Names:
    """The names that some documents hold, found in them, and what each is replaced by."""

    def __init__(self, documents: Iterable[Any], *, words: Iterable[str] = (), known: Iterable[tuple[str, str]] = ()):
        """`words` of the experiment are never replaced within text; `known` are (kind, name) to look for besides."""
        self._words = {word.casefold() for word in words} | {*_GENERAL.split(), *_OURS.split()}
        self._made: dict[str, str] = {}  # texts without names: most occur in every trial
        self._numbers: dict[str, int] = {}
        self._pseudonyms: dict[str, str] = {}  # of names
        self._addresses: dict[IPv4Address | IPv6Address, str] = {}
        found = ((_kind(key, within), text) for document in documents for key, within, text in _texts(document))
        for kind, text in dict.fromkeys(found):
            self._find(kind, text)
        for kind, name in known:
            self._note(kind, name)
        names = sorted(self._pseudonyms, key=lambda name: (-len(name), name))
        every = "|".join(map(re.escape, names))
        self._names = re.compile(rf"(?<![A-Za-z0-9_])(?:{every})(?![A-Za-z0-9_])") if names else None

    def text(self, text: str) -> str:
        """The text without names."""
        if text not in self._made:
            self._made[text] = self._without(text)
        return self._made[text]

    def _without(self, text: str) -> str:
        text = _FILE_URL.sub(lambda of: f"{of['scheme'].rstrip('/')}{PATH}", text)
        text = _URL.sub(self._url, text)
        text = _ASSIGNED.sub(self._assigned, text)
        text = _AUTHORIZATION.sub(lambda of: f"{of['before']}{SECRET}", text)
        text = _SAID.sub(lambda of: f"{of['before']}{SECRET}", text)
        text = _TOLD.sub(self._told, text)
        text = _MAIL.sub(MAIL, text)
        text = _LOGIN.sub(lambda of: f"{self._known('user', of['user'])}@{self._known('host', of['host'])}", text)
        text = _QUOTED_PATH.sub(
            lambda of: of[0] if _is_general(of["path"]) else f"{of['quote']}{PATH}{of['quote']}", text
        )
        text = _BARE_PATH.sub(lambda of: of[0] if _is_general(of[0]) else PATH, text)
        text = _MAC.sub("<mac>", text)
        text = _IPV6.sub(lambda of: self._address(of[0]), text)
        text = _IPV4.sub(lambda of: self._address(of[0]), text)
        text = _DOMAIN.sub(lambda of: self._known("host", of[0]), text)
        text = _HOST_PORT.sub(lambda of: f"{self._known('host', of['host'])}:", text)
        if self._names is not None:
            text = self._names.sub(lambda of: self._pseudonyms[of[0]], text)
        return text

    def document(self, document: Any, key: str = "", within: frozenset[str] = frozenset()) -> Any:
        """Plain data in which no text names anything, keys included."""
        if isinstance(document, str):
            kind = _kind(key, within)
            return self._whole(kind, document) if kind else self.text(document)
        if isinstance(document, Mapping):
            inner = within | {key}
            return {
                name if name.isidentifier() else self.text(name): self.document(value, name, inner)
                for name, value in document.items()
            }
        if isinstance(document, list | tuple):
            return [self.document(value, key, within) for value in document]
        return document

    def _find(self, kind: str, text: str) -> None:
        if kind:
            self._whole(kind, text)
        for of in _URL.finditer(text):
            self._note("user", of["user"] or "")
            self._note("secret", of["password"] or "")
            if not _is_here(of["host"]):
                self._note("host", of["host"].strip("[]"))
        for of in _ASSIGNED.finditer(text):
            self._note(_kind_of(of["key"]), of["value"].strip("'\""))
        for of in _TOLD.finditer(text):
            self._note(_kind_told(of), of["name"])
        for of in _HOME.finditer(text):
            self._note("user", of["user"])
        for of in _PROJECT.finditer(text):
            self._note("project", of["project"])
        for of in _MAIL.finditer(text):
            self._note("user", of[0].partition("@")[0])
        for of in _LOGIN.finditer(text):
            self._note("user", of["user"])
            self._note("host", of["host"])
        for of in (*_IPV6.finditer(text), *_IPV4.finditer(text)):
            self._address(of[0])
        for of in (*_DOMAIN.finditer(text), *_HOST_PORT.finditer(text)):
            self._note("host", of[0].rstrip(":"))

    def _note(self, kind: str, name: str) -> None:
        """Look for a name from now on, unless it is too general to be one."""
        if len(name) >= _SHORTEST and name.casefold() not in self._words and not name.startswith("<"):
            with suppress(ValueError):
                ip_address(name)
                return
            self._known(kind, name)

    def _known(self, kind: str, name: str) -> str:
        if _is_here(name) or name.casefold() in self._words:
            return name
        if name not in self._pseudonyms:
            self._pseudonyms[name] = SECRET if kind == "secret" else self._next(kind)
        return self._pseudonyms[name]

    def _whole(self, kind: str, name: str) -> str:
        """What a text is replaced by that is a name by the key it stands under."""
        if not name or _is_here(name) or name.startswith("<"):
            return name
        with suppress(ValueError):
            ip_address(name)
            return self._address(name)
        self._note(kind, name)
        return self._pseudonyms.get(name) or (self.text(name) if kind == "user" else f"<{kind}>")

    def _next(self, kind: str) -> str:
        self._numbers[kind] = number = self._numbers.get(kind, 0) + 1
        return f"{kind}-{number}"

    def _url(self, of: re.Match[str]) -> str:
        login = "" if of["user"] is None else "<user>@" if of["password"] is None else f"<user>:{SECRET}@"
        host = of["host"].strip("[]")
        if host and not _is_here(host):
            with suppress(ValueError):
                host = self._address(str(ip_address(host)))
            host = host if host != of["host"].strip("[]") else self._known("host", host)
        return f"{of['scheme']}{login}{f'[{host}]' if of['host'].startswith('[') else host}"

    def _assigned(self, of: re.Match[str]) -> str:
        kind, value = _kind_of(of["key"]), of["value"].strip("'\"")
        return f"{of['key']}{of['sign']}{self._whole(kind, value) if kind != 'secret' else SECRET}"

    def _told(self, of: re.Match[str]) -> str:
        """As databases and resolvers name a host or a user in their errors."""
        with suppress(ValueError):
            ip_address(of["name"])
            return of[0]  # which is replaced as an address is
        return f"{of['kind']} {of['quote']}{self._known(_kind_told(of), of['name'])}{of['quote']}"

    def _address(self, text: str) -> str:
        try:
            address = ip_address(text)
        except ValueError:
            return text
        if address.is_loopback or address.is_unspecified or text.startswith("255."):
            return text
        if address not in self._addresses:
            number = self._next(f"ipv{address.version}").rpartition("-")[2]
            self._addresses[address] = _documented(int(number), address.version)
        return self._addresses[address]


def of_this_machine() -> Iterator[tuple[str, str]]:
    """What this machine and its user are called: a run that was made here says it in places that nothing tells."""
    with suppress(OSError, KeyError, ImportError):
        yield "user", getpass.getuser()
    with suppress(OSError):
        host = socket.gethostname()
        yield "host", host
        yield "host", host.partition(".")[0]


def words_of(plan: Mapping[str, Any]) -> set[str]:
    """The words of a plan that are its own names for things: they stay even where a user is called the same."""
    found: set[str] = {str(plan.get("name", "")), str(plan.get("provider", ""))}
    for kind in ("stacks", "operations", "placements"):
        for part in plan.get(kind, ()):
            found |= {str(part[key]) for key in ("id", "name", "protocol", "responder", "client") if part.get(key)}
    return found | {word for name in found for word in re.split(r"[^A-Za-z0-9]+", name) if word}


def own_file(path: str) -> str:
    """A path within the folder that somebody worked in as it is, of any other the file's name."""
    of = PurePosixPath(path)
    return of.name if of.is_absolute() or ".." in of.parts or path.startswith("~") else path


def _documented(number: int, version: int) -> str:
    """The address of that number among those that are nobody's."""
    if version == 6:
        return f"2001:db8::{number:x}"
    networks = ("192.0.2", "198.51.100", "203.0.113")
    place, last = divmod(number - 1, 254)
    return f"{networks[place % len(networks)]}.{last + 1}"


def _texts(
    document: Any, key: str = "", within: frozenset[str] = frozenset()
) -> Iterator[tuple[str, frozenset[str], str]]:
    """Every text with the key that it stands under, and the keys around that; keys are texts too."""
    if isinstance(document, str):
        yield key, within, document
    elif isinstance(document, Mapping):
        for name, value in document.items():
            yield "", within, str(name)
            yield from _texts(value, str(name), within | {key})
    elif isinstance(document, list | tuple):
        for value in document:
            yield from _texts(value, key, within)


def _kind(key: str, within: frozenset[str]) -> str:
    needed = _ONLY_IN.get(key)
    return _KEYS.get(key, "") if needed is None or needed & within else ""


def _kind_of(key: str) -> str:
    key = key.lower()
    return next((kind for kind in ("user", "host", "project") if key.startswith(kind)), "secret")


def _kind_told(of: re.Match[str]) -> str:
    return "user" if of["kind"].lower() in ("user", "role") else "host"


def _is_here(host: str) -> bool:
    """Whether a host's name says nothing of it."""
    if host.strip("[]").lower() in ("localhost", "", "localhost.localdomain"):
        return True
    with suppress(ValueError):
        address = ip_address(host.strip("[]"))
        return address.is_loopback or address.is_unspecified
    return False


def _is_general(path: str) -> bool:
    """Whether a path is the same on every machine, or one of a service: a single name after a slash."""
    return path.startswith(_OF_THE_SYSTEM) or (path.startswith("/") and path.rstrip("/").count("/") == 1)
