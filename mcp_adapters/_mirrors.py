"""Which arguments of a tool are mirrored into HTTP headers, for servers of protocol 2026-07-28.

In: the pages of a listing. Out: for each tool the headers that its arguments fill, and the reason for
each tool whose declaration of them is invalid. How headers are found and written is the SDK's.

Source: MCP 2026-07-28, basic/transports, "Custom Headers from Tool Parameters".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map

__all__ = ("Mirrors",)

_Places: TypeAlias = Mapping[tuple[str, ...], str]
_MAX_REASON = 300
"""Characters of a reason: it quotes what the server wrote."""


@dataclass(frozen=True, slots=True)
class Mirrors:
    """What one server's tools mirror."""

    places: Mapping[str, _Places] = field(default_factory=dict)
    """Tool name -> place of an argument -> the name of its header, for tools that have any."""
    invalid: Mapping[str, str] = field(default_factory=dict)
    """Tool name -> why a client must not offer the tool."""

    @classmethod
    def of(cls, pages: Iterable[Mapping[str, Any]]) -> Mirrors:
        """Read them from the pages of a `tools/list`."""
        places: dict[str, _Places] = {}
        invalid: dict[str, str] = {}
        for name, schema in _schemas(pages):
            if (reason := find_invalid_x_mcp_header(schema)) is not None:
                invalid[name] = reason[:_MAX_REASON]
            elif found := x_mcp_header_map(schema):
                places[name] = found
        return cls(places, invalid)

    def headers(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
        """The headers that a call with these arguments carries."""
        return mcp_param_headers(self.places.get(tool, {}), arguments)


def _schemas(pages: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, Any]]:
    for page in pages:
        entries = page.get("tools")
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and isinstance(name := entry.get("name"), str):
                yield name, entry.get("inputSchema")
