"""A connection as langchain-mcp-adapters describes it, as a toolbox takes it.

In: one entry of the dict that `MultiServerMCPClient` is made with. Out: the entry without what has no
effect here, or an error that names what would be missed and what to use instead. Starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_adapters import ConfigError

__all__ = ("readable",)

_REFUSED: Mapping[str, tuple[tuple[object, ...], str]] = {
    "httpx_client_factory": ((None,), "use 'headers', 'auth' and the environment's proxy and certificates"),
    "session_kwargs": ((None, {}), "give callbacks to the client and timeouts to the connection"),
    "terminate_on_close": ((True, None), "the session ends when the connection is closed"),
    "encoding": (("utf-8", "utf8", "UTF-8", None), "the protocol is UTF-8"),
    "encoding_error_handler": (("strict", "replace", None), "what is no UTF-8 is replaced"),
}
"""Keys without an effect here: the values with which nothing is missed, and a word on any other value."""


def readable(name: str, connection: Any) -> Any:
    """Give a connection as a toolbox takes it.

    Args:
        name: The server's name.
        connection: A dict as langchain-mcp-adapters has it, or anything that a toolbox takes.

    Raises:
        ConfigError: It asks for what does not exist here; the message names all of it.

    """
    if not isinstance(connection, Mapping):
        return connection
    missed = [
        f"{key!r} has no effect: {remedy}"
        for key, (harmless, remedy) in _REFUSED.items()
        if key in connection and connection[key] not in harmless
    ]
    if connection.get("transport") == "websocket":
        missed.append("'websocket' is no transport of the protocol: use 'http', or give a transport object")
    if missed:
        raise ConfigError(f"server {name!r}: {'; '.join(missed)}", server=name)
    return {key: value for key, value in connection.items() if key not in _REFUSED}
