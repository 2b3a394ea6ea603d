"""The `oauth` object of other programs' entries, to a sign-in of ours.

In: the object, with its variables replaced. Out: an `OAuth` and the keys that have no counterpart here,
or all the problems of the object. Which sign-in an entry means is not decided here.

Sources: the configuration references of Claude Code (`clientId`, `callbackPort`, `scopes`), Gemini CLI
(`enabled`, `clientId`, `clientSecret`, `scopes`, `redirectUri`), VS Code (`clientId`) and opencode
(`clientId`, `clientSecret`, `scope`), 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
        "redirectUri": "redirect_uri",
        "scope": "scopes",
        "scopes": "scopes",
    }
)
"""Their keys, and the options of `OAuth` that say the same."""
_SWITCH = "enabled"
_LAST_PORT = 65_535


def read_oauth(told: Mapping[Any, Any]) -> tuple[OAuth, dict[Any, Any]]:
    """Read what another program's entry says under `oauth`.

    Args:
        told: The object; a key whose value is null counts as absent.

    Returns:
        The sign-in, and what is left: keys that say nothing that `OAuth` can do.

    Raises:
        ConfigError: A value cannot be used; `problems` has everything, with the object's own keys.

    """
    problems: list[ConfigProblem] = []
    if not isinstance(told.get(_SWITCH, True), bool | None):
        problems.append(ConfigProblem(field=_SWITCH, message="must be true or false"))
    values: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for key, value in told.items():
        name = _MEANT.get(key)
        if name is None or value is None:
            continue
        if name in spelled:
            problems.append(ConfigProblem(field=key, message=f"says the same as {spelled[name]!r}; keep one"))
        spelled[name], values[name] = key, value
        if key == "callbackPort" and (address := _address(value)) is None:
            problems.append(ConfigProblem(field=key, message="must be the number of a port"))
        elif key == "callbackPort":
            values[name] = address
    if problems:
        raise config_error(problems)
    rest = {key: value for key, value in told.items() if key not in _MEANT and key != _SWITCH}
    return _made(values, spelled), rest


def _address(port: Any) -> str | None:
    """Where Claude Code has the browser come back to; None when `port` is no port."""
    number = int(port) if isinstance(port, str) and re.fullmatch("[0-9]{1,5}", port) else port
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= _LAST_PORT:
        return None
    return f"http://localhost:{number}/callback"


def _made(values: Mapping[str, Any], spelled: Mapping[str, str]) -> OAuth:
    try:
        return OAuth(**values)
    except ConfigError as error:
        problems = [_as_spelled(problem, spelled) for problem in error.problems]
    # Outside of the handler: a chained error could carry values along.
    raise config_error(problems)


def _as_spelled(problem: ConfigProblem, spelled: Mapping[str, str]) -> ConfigProblem:
    """Say a problem in the words of the object."""
    field = re.sub(r"^\w+", lambda name: spelled.get(name[0], name[0]), problem.field or "")
    return ConfigProblem(message=problem.message.replace("'client_id'", "'clientId'"), field=field)
