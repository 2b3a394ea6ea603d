"""The `oauth` of other programs' entries, to a sign-in of ours.

In: the value, with its variables replaced. Out: an `OAuth` or None, and what has no counterpart here; or
all the problems of the value. Which sign-in an entry means is not decided here.

Sources: the configuration references of Claude Code (`clientId`, `callbackPort`, `scopes`), Gemini CLI
(`enabled`, `clientId`, `clientSecret`, `issuer`, `scopes`, `redirectUri`), VS Code (`clientId`) and
opencode (`clientId`, `clientSecret`, `scope`; `false` for none), 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from mcp_adapters.errors import ConfigError

from .auth import OAuth
from .problems import ConfigProblem, config_error

__all__ = ("read_oauth",)

_MEANT: Mapping[Any, str] = MappingProxyType(
    {
        "callbackPort": "redirect_uri",
        "clientId": "client_id",
        "clientSecret": "client_secret",
        "issuer": "issuer",
        "redirectUri": "redirect_uri",
        "scope": "scopes",
        "scopes": "scopes",
    }
)
"""Their keys, and the options of `OAuth` that say the same."""
_SWITCH = "enabled"
_LAST_PORT = 65_535


def read_oauth(told: Any) -> tuple[OAuth | None, Any]:
    """Read what another program's entry says under `oauth`.

    Args:
        told: An object, or false; a key whose value is null counts as absent.

    Returns:
        The sign-in, or None when none is wanted; and what is left, since it says nothing that an
        `OAuth` can do: false or some of the keys.

    Raises:
        ConfigError: A value cannot be used; `problems` has everything, with the object's own keys.

    """
    if told is False:
        return None, told
    if not isinstance(told, Mapping):
        raise config_error([ConfigProblem(message="must be an object, or false")])
    if told.get(_SWITCH) is False:
        return None, told
    known = {key: value for key, value in told.items() if key in _MEANT and value is not None}
    if problems := [*_contradictions(told, known), *_bad_port(known)]:
        raise config_error(problems)
    if "callbackPort" in known:
        known["callbackPort"] = f"http://localhost:{int(known['callbackPort'])}/callback"
    rest = {key: value for key, value in told.items() if key not in _MEANT and key != _SWITCH}
    return _made(known), rest


def _contradictions(told: Mapping[Any, Any], known: Mapping[Any, Any]) -> Iterator[ConfigProblem]:
    if not isinstance(told.get(_SWITCH), bool | None):
        yield ConfigProblem(field=_SWITCH, message="must be true or false")
    spelled: dict[str, str] = {}
    for key in known:
        if (first := spelled.setdefault(_MEANT[key], key)) != key:
            yield ConfigProblem(field=key, message=f"says the same as {first!r}; keep one")


def _bad_port(known: Mapping[Any, Any]) -> Iterator[ConfigProblem]:
    """What is wrong with where Claude Code has the browser come back to."""
    port = known.get("callbackPort", 1)
    number = int(port) if isinstance(port, str) and re.fullmatch("[0-9]{1,5}", port) else port
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= _LAST_PORT:
        yield ConfigProblem(field="callbackPort", message="must be the number of a port")


def _made(known: Mapping[Any, Any]) -> OAuth:
    try:
        return OAuth(**{_MEANT[key]: value for key, value in known.items()})
    except ConfigError as error:
        spelled = {_MEANT[key]: str(key) for key in known}
        problems = [_as_spelled(problem, spelled) for problem in error.problems]
    # Outside of the handler: a chained error could carry values along.
    raise config_error(problems)


def _as_spelled(problem: ConfigProblem, spelled: Mapping[str, str]) -> ConfigProblem:
    """Say a problem in the words of the object."""
    field = re.sub(r"^\w+", lambda name: spelled.get(name[0], name[0]), problem.field or "")
    return ConfigProblem(message=problem.message.replace("'client_id'", "'clientId'"), field=field)
