"""Whether a description of servers may leave this process.

In: what a toolbox was made with. Out: the same, fit to be read elsewhere, or one error with everything
that may not travel. Secrets travel only as references to environment variables (`${NAME}`), which are
looked up where the servers are started; objects that live in this process do not travel at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from .keys import URL_KEYS
from .masking import mask_arguments, shows_secrets
from .models import HttpServer, SseServer, StdioServer
from .problems import ConfigProblem, config_error

__all__ = ("travelling",)

_CONTAINERS = ("mcpServers", "servers", "mcp")
_SECRET_MAPS = ("env", "environment", "headers", "auth", "oauth")
_PLAIN = {
    "auth": frozenset(
        {
            "CLIENT_ID",
            "client_id",
            "client_metadata_url",
            "client_name",
            "header",
            "issuer",
            "redirect_uri",
            "scope",
            "scopes",
            "signing_algorithm",
            "store",
            "token_endpoint_auth_method",
            "type",
            "username",
        }
    ),
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
        ConfigError: A value of `env`, `headers`, `auth` or `oauth`, the user of an address, or a value in
            an address or among arguments whose name tells that it is secret, is written out instead of
            referring to a variable, or a server is an object of this process; `problems` has everything.

    """
    if not isinstance(source, Mapping):
        return os.path.abspath(os.path.expanduser(os.fspath(source)))  # noqa: PTH100, PTH111
    problems = [problem for key, entry in _entries(source) for problem in _problems(str(key), entry)]
    if problems:
        raise config_error(problems)
    return dict(source)


def _entries(source: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for container in _CONTAINERS:
        inner = source.get(container)
        if isinstance(inner, Mapping) and "command" not in inner:
            # VS Code's settings have the servers one level deeper.
            yield from _entries(inner) if container == "mcp" else inner.items()
            return
    yield from source.items()


def _problems(key: str, entry: Any) -> Iterator[ConfigProblem]:
    match entry:
        case str():
            yield from _in_an_address(key, None, entry)
        case Mapping():
            for field in _SECRET_MAPS:
                yield from _written_out(key, field, entry.get(field))
            for field in URL_KEYS:
                yield from _in_an_address(key, field, entry.get(field))
            for field in ("command", "args"):
                yield from _in_arguments(key, field, entry.get(field))
            if isinstance(install := entry.get("install"), Mapping):
                yield from _written_out(key, "install.env", install.get("env"))
        case StdioServer() | HttpServer() | SseServer():
            if _holds_secrets(entry):
                yield ConfigProblem(
                    message="holds secrets, which do not travel; describe the server by a config dict "
                    "with references such as ${TOKEN}",
                    server=key,
                )
        case _:
            yield ConfigProblem(
                message=f"is a {type(entry).__name__} of this process, which does not travel", server=key
            )


def _holds_secrets(server: StdioServer | HttpServer | SseServer) -> bool:
    if any(getattr(server, field, None) for field in ("env", "headers", "auth", "secrets")):
        return True
    if isinstance(server, StdioServer):
        if server.install is not None and server.install.env:
            return True
        return tuple(mask_arguments(server.args)) != server.args
    return shows_secrets(server.url)


def _written_out(key: str, field: str, values: Any) -> Iterator[ConfigProblem]:
    if field == "auth" and isinstance(values, str) and values != "oauth" and "${" not in values:
        yield _told(key, field)  # a bearer token
    if not isinstance(values, Mapping):
        return
    for name, value in values.items():
        plain = name in _PLAIN.get(field, ())
        if isinstance(value, str) and "${" not in value and not plain:
            yield _told(key, f"{field}.{name}")


def _in_an_address(key: str, field: str | None, url: Any) -> Iterator[ConfigProblem]:
    if isinstance(url, str) and "${" not in url and shows_secrets(url):
        yield _told(key, field)


def _in_arguments(key: str, field: str, args: Any) -> Iterator[ConfigProblem]:
    texts = [str(arg) for arg in args] if isinstance(args, list | tuple) else []
    for index, (text, shown) in enumerate(zip(texts, mask_arguments(texts), strict=True)):
        if text != shown and "${" not in text:
            yield _told(key, f"{field}[{index}]")


def _told(key: str, field: str | None) -> ConfigProblem:
    return ConfigProblem(
        message="is written out, and secrets travel only as references such as ${TOKEN}",
        server=key,
        field=field,
    )
