"""The keys that the dialects use for one server, and which misspelled key was probably meant.

In: a key. Out: what it means here, or the key that was probably meant. This is data with one
function; a new dialect starts by adding its keys here.

Sources: the configuration references of Claude Desktop, Claude Code, Cursor, VS Code, Gemini CLI,
Cline, Roo Code, Windsurf, opencode and Copilot CLI, and langchain-mcp-adapters' connections (2026).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = (
    "ALLOWING",
    "DENYING",
    "HANDLED",
    "KINDS",
    "MILLISECONDS",
    "RENAMED",
    "SECONDS_MARKS",
    "URL_KEYS",
    "Kind",
    "likely_key",
)

RENAMED: Mapping[str, str] = MappingProxyType(
    {
        "args": "args",
        "auth": "auth",
        "command": "command",
        "connect_timeout": "connect_timeout",
        "cwd": "cwd",
        "env": "env",
        "environment": "env",
        "headers": "headers",
        "httpUrl": "url",
        "install": "install",
        "protocol": "protocol",
        "read_timeout": "read_timeout",
        "sandbox": "sandbox",
        "serverUrl": "url",
        "sse_read_timeout": "read_timeout",
        "timeout": "timeout",
        "tools": "tools",
        "url": "url",
    }
)
"""Keys whose value goes into a field of the model, and the field."""

URL_KEYS = ("url", "httpUrl", "serverUrl")
"""Keys that give an address."""

ALLOWING = ("includeTools", "enabledTools")
"""Keys that list the only tools to offer."""

DENYING = ("excludeTools", "disabledTools")
"""Keys that list tools to leave out."""

HANDLED = ("disabled", "enabled", "envFile", "transport", "type", *ALLOWING, *DENYING)
"""Further keys that are used, with rules of their own."""

_FOREIGN = (
    "alwaysAllow",
    "authProvider",
    "authProviderType",
    "autoApprove",
    "description",
    "dev",
    "encoding",
    "encoding_error_handler",
    "gallery",
    "headersHelper",
    "httpx_client_factory",
    "icon",
    "name",
    "oauth",
    "requestInit",
    "sandbox",
    "sandboxEnabled",
    "session_kwargs",
    "targetAudience",
    "targetServiceAccount",
    "terminate_on_close",
    "trust",
    "version",
    "watchPaths",
)
"""Keys of other programs that are kept and not used: never taken for a misspelling."""

Kind: TypeAlias = Literal["stdio", "http", "sse", "remote"]
"""How a server is reached; "remote" leaves it to the URL."""

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "http": "http",
        "local": "stdio",
        "remote": "remote",
        "sse": "sse",
        "stdio": "stdio",
        "streamablehttp": "http",
    }
)
"""Values of `type` and `transport`, in lower case without `-` and `_`."""

MILLISECONDS: Mapping[str, float] = MappingProxyType({"mcpServers": 1000.0, "mcp": 0.0})
"""For each container, from which number on a `timeout` is in milliseconds; elsewhere it is in seconds.

opencode (`mcp`) counts in milliseconds. In `mcpServers`, Claude Code and Gemini CLI count in
milliseconds (Claude Code ignores numbers below 1000), Cline and Roo Code in seconds.
"""

SECONDS_MARKS = ("autoApprove", "alwaysAllow")
"""Keys that only Cline and Roo Code write: beside them a `timeout` is in seconds."""

_USED = (*RENAMED, *HANDLED)

_MEANT = {
    "arguments": "args",
    "cmd": "command",
    "endpoint": "url",
    "uri": "url",
    "workingdirectory": "cwd",
}
"""Other words for keys, in lower case without `-` and `_`."""


def likely_key(key: str) -> str | None:
    """Give the known key that an unknown one was probably meant to be; None when none is near.

    Near means: another word for the same, other case or separators, or one letter added, left out,
    changed, or two neighbours swapped.
    """
    if key in _USED or key in _FOREIGN:
        return None
    plain = _plain(key)
    same = (used for used in _USED if _plain(used) == plain)
    near = (used for used in _USED if _one_slip_apart(plain, _plain(used)))
    return _MEANT.get(plain) or next(same, None) or next(near, None)


def _plain(key: str) -> str:
    return key.lower().replace("-", "").replace("_", "")


def _one_slip_apart(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    if len(long) - len(short) > 1 or len(short) < 3:
        return False
    start = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    changed = short[start + 1 :] == long[start + 1 :] and len(short) > 3
    swapped = (
        short[start : start + 2] == long[start : start + 2][::-1] and short[start + 2 :] == long[start + 2 :]
    )
    return changed or swapped
