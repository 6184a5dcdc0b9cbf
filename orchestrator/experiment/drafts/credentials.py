"""Credentials in recorded requests: each becomes `${NAME}`, a variable of the environment, wherever its value occurs."""

from __future__ import annotations

import re
from itertools import count
from typing import Any
from urllib.parse import quote

from orchestrator.experiment.drafts.draft import column

_NAMED = re.compile(
    r"auth(?!or(?!iz))|token|secret|passw|pwd|pass$|api[-_]?key|([-_.]|^)key$|[a-z]Key$|cookie|session|csrf|xsrf|credential|signature"
    r"|^(sid|sig|jwt|otp|pin|code|nonce|user|user_?name|login|e-?mail)$",
    re.IGNORECASE,
)
_KNOWN = re.compile(r"eyJ[\w-]{8,}\.|(sk|pk|rk|ghp|gho|ghs|glpat|xox[abp]|AKIA|AIza)[-_]?\w{12,}")
_OPAQUE = re.compile(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[\w\-+/=.~%:]{32,}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SCHEME = re.compile(r"(Bearer|Basic|Token|ApiKey) \S+$", re.IGNORECASE)
_SHORTEST = 8  # of a value that is replaced wherever it occurs
_OF_THE_SHELL = ("USER", "USERNAME", "LOGIN", "EMAIL", "CODE", "KEY", "PIN")


def is_named(name: str) -> bool:
    """Return whether what has such a name is a credential."""
    return _NAMED.search(name) is not None


def is_credential(name: str, value: str) -> bool:
    """Return whether a value is a credential, by its name or its look."""
    is_opaque = _OPAQUE.fullmatch(value) is not None and _UUID.fullmatch(value) is None
    return bool(value) and (is_named(name) or is_opaque or _KNOWN.search(value) is not None)


class Credentials:
    """The names that were given to values so far."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    @property
    def names(self) -> frozenset[str]:
        """The variables of the environment."""
        return frozenset(self._names.values())

    def __contains__(self, value: str) -> bool:
        return value in self._names

    def place(self, name: str, value: str) -> str:
        """Return `${NAME}` for a credential, with its scheme (`Bearer`) before it; its value may be unknown, and empty."""
        scheme, _, secret = value.rpartition(" ") if _SCHEME.match(value) else ("", "", value)
        secret = secret or f"\0{name}"
        variable = re.sub(r"[^A-Z0-9]+", "_", column(name).upper())
        variable = f"LOGIN_{variable}" if variable in _OF_THE_SHELL else variable
        if secret not in self._names:
            taken = set(self._names.values())
            numbered = (variable if number == 1 else f"{variable}_{number}" for number in count(1))
            self._names[secret] = next(each for each in numbered if each not in taken)
        place = f"${{{self._names[secret]}}}"
        return f"{scheme} {place}" if scheme else place

    def sweep(self, tree: Any) -> Any:
        """Return a JSON value without the values of credentials, which may also be parts of longer texts."""
        if isinstance(tree, dict):
            return {self.sweep(key): self.sweep(value) for key, value in tree.items()}
        if isinstance(tree, list | tuple):
            return [self.sweep(value) for value in tree]
        secrets = {
            written: name for secret, name in self._names.items() for written in (secret, quote(secret, safe=""))
        }
        long = sorted((secret for secret in secrets if len(secret) >= _SHORTEST), key=len, reverse=True)
        if isinstance(tree, str) and long:
            return re.sub("|".join(map(re.escape, long)), lambda match: f"${{{secrets[match[0]]}}}", tree)
        return tree
