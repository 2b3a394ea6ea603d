"""The lock file: what the tools of a toolbox were when somebody looked at them.

In: tools as their servers list them, with the names under which they are offered; or the text of a
lock file. Out: a `Lock`, and its text: sorted JSON, a block for each tool, so that a version control
shows what changed and merges what others changed. No file is read or written here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_adapters.errors import ConfigError
from mcp_adapters.lockfile.schemas import canonical
from mcp_adapters.spec import ListedTool

__all__ = ("LOCK_NAME", "Lock", "LockedTool", "lock_tools", "parse_lock")

LOCK_NAME = "mcp-tools.lock"
"""The usual name of the file."""
_FORMAT = 1
_WAY_OUT = "write it again with: mcp-adapters lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTool:
    """One tool as it was."""

    server: str
    name: str
    """As its server knows it."""
    exposed_name: str
    definition: Mapping[str, Any] = field(hash=False)
    """Its entry of `tools/list` as JSON, without `_meta` and `icons`."""

    @property
    def fingerprint(self) -> str:
        """`sha256:` and the hexadecimal digest of the definition as canonical JSON."""
        return "sha256:" + hashlib.sha256(canonical(self.definition).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Lock:
    """What tools were, by server and name."""

    tools: Mapping[tuple[str, str], LockedTool] = field(default_factory=dict, hash=False)

    @property
    def names(self) -> dict[tuple[str, str], str]:
        """Exposed names by (server, tool)."""
        return {identity: tool.exposed_name for identity, tool in self.tools.items()}

    def text(self) -> str:
        """The lock file: JSON with sorted keys and a newline at the end."""
        servers: dict[str, dict[str, Any]] = {}
        for (server, name), tool in self.tools.items():
            servers.setdefault(server, {})[name] = {
                "definition": tool.definition,
                "exposed_name": tool.exposed_name,
                "fingerprint": tool.fingerprint,
            }
        content = {"lockfile": _FORMAT, "servers": servers}
        return json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def lock_tools(tools: Iterable[tuple[ListedTool, str]]) -> Lock:
    """Lock tools as they are now.

    Args:
        tools: Each with the name under which it is offered.

    """
    return Lock(
        {
            (tool.server, tool.name): LockedTool(
                server=tool.server,
                name=tool.name,
                exposed_name=exposed,
                definition=pinned(tool.definition),
            )
            for tool, exposed in tools
        }
    )


def pinned(definition: Mapping[str, Any]) -> dict[str, Any]:
    """What counts of a tool's definition: not `_meta`, not the pictures for people."""
    return {key: value for key, value in definition.items() if key not in ("_meta", "icons")}


def parse_lock(text: str, *, source: str = LOCK_NAME) -> Lock:
    """Read a lock file.

    Args:
        text: What is in the file.
        source: What errors call it, such as its path.

    Raises:
        ConfigError: It is no lock file of a known format, or a definition does not fit its
            fingerprint: it was changed by hand or merged wrongly.

    """
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{source} is not JSON ({error}); {_WAY_OUT}") from error
    found = content.get("lockfile") if isinstance(content, dict) else None
    servers = content.get("servers") if isinstance(content, dict) else None
    if found != _FORMAT or not isinstance(servers, dict):
        raise ConfigError(f"{source} is no lock file of format {_FORMAT}; {_WAY_OUT}")
    read = [
        _entry(server, name, entry, source)
        for server, entries in servers.items()
        for name, entry in _object(entries, f"{source}: server {server!r}").items()
    ]
    return Lock({(tool.server, tool.name): tool for tool in read})


def _entry(server: str, name: str, entry: Any, source: str) -> LockedTool:
    where = f"{source}: tool {server}:{name}"
    fields = _object(entry, where)
    exposed = fields.get("exposed_name")
    if not isinstance(exposed, str):
        raise ConfigError(f"{where} has no exposed_name; {_WAY_OUT}", server=server, tool=name)
    definition = _object(fields.get("definition"), where)
    tool = LockedTool(server=server, name=name, exposed_name=exposed, definition=definition)
    if fields.get("fingerprint") != tool.fingerprint:
        raise ConfigError(
            f"{where} does not fit its fingerprint: it was changed by hand or merged wrongly; {_WAY_OUT}",
            server=server,
            tool=name,
        )
    return tool


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where} is not an object; {_WAY_OUT}")
    return value
