"""Whether a description of servers may leave this process.

In: what a toolbox was made with. Out: the same, fit to be read elsewhere, or one error with everything
that may not travel. Secrets travel only as references to environment variables (`${NAME}`), which are
looked up where the servers are started; objects that live in this process do not travel at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from .models import HttpServer, SseServer, StdioServer
from .problems import ConfigProblem, config_error

__all__ = ("travelling",)

_CONTAINERS = ("mcpServers", "servers", "mcp")
_SECRET_MAPS = ("env", "environment", "headers", "auth", "oauth")
_PLAIN = {
    "auth": frozenset({"type", "header", "name", "username", "client_id", "scopes", "scope", "issuer"}),
    "oauth": frozenset({"callbackPort", "clientId", "redirectUri", "scope", "scopes"}),
}
"""What is no secret in the two that say how to sign in."""


def travelling(source: str | os.PathLike[str] | Mapping[str, Any]) -> str | dict[str, Any]:
    """Give a description of servers that may be read in another process of this machine.

    Args:
        source: As `load_servers` takes it.

    Returns:
        A path becomes an absolute one; a mapping is copied.

    Raises:
        ConfigError: A value of `env`, `headers`, `auth` or `oauth` is written out instead of referring to a
            variable, or a server is an object of this process; `problems` has everything.

    """
    if not isinstance(source, Mapping):
        return os.path.abspath(os.path.expanduser(os.fspath(source)))  # noqa: PTH100, PTH111
    problems = [problem for key, entry in _entries(source) for problem in _problems(str(key), entry)]
    if problems:
        raise config_error(problems)
    return dict(source)


def _entries(source: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for container in _CONTAINERS:
        if isinstance(source.get(container), Mapping) and "command" not in source[container]:
            yield from source[container].items()
            return
    yield from source.items()


def _problems(key: str, entry: Any) -> Iterator[ConfigProblem]:
    match entry:
        case str():
            return
        case Mapping():
            for field in _SECRET_MAPS:
                yield from _written_out(key, field, entry.get(field))
        case StdioServer() | HttpServer() | SseServer():
            if any(getattr(entry, field, None) for field in ("env", "headers", "auth", "secrets")):
                yield ConfigProblem(
                    message="holds secrets, which do not travel; describe the server by a config dict "
                    "with references such as ${TOKEN}",
                    server=key,
                )
        case _:
            yield ConfigProblem(
                message=f"is a {type(entry).__name__} of this process, which does not travel", server=key
            )


def _written_out(key: str, field: str, values: Any) -> Iterator[ConfigProblem]:
    if not isinstance(values, Mapping):
        return
    for name, value in values.items():
        plain = name in _PLAIN.get(field, ())
        if isinstance(value, str) and "${" not in value and not plain:
            yield ConfigProblem(
                message="is written out, and secrets travel only as references such as ${TOKEN}",
                server=key,
                field=f"{field}.{name}",
            )
