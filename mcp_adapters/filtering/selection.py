"""Apply filters to the listings of all servers.

In: listed tools and filters. Out: what is kept, what is not and why, and a warning for each name in
a filter that leads nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_adapters.filtering.filters import ToolFilter
from mcp_adapters.filtering.requirements import closest_names
from mcp_adapters.spec import ListedTool, SkippedTool, ToolAnnotations

__all__ = ("Selection", "read_annotations", "select")


def read_annotations(definition: Mapping[str, Any]) -> ToolAnnotations:
    """Read the annotations of a listed tool, leniently.

    Args:
        definition: The entry of `tools/list` as it came over the wire.

    Returns:
        What the server says; a field that is absent or has another type is None.

    Source: MCP 2025-11-25, schema, "ToolAnnotations".

    """
    said = definition.get("annotations")
    if not isinstance(said, Mapping):
        return ToolAnnotations()
    title = said.get("title")
    return ToolAnnotations(
        title=title if isinstance(title, str) else None,
        read_only=_flag(said.get("readOnlyHint")),
        destructive=_flag(said.get("destructiveHint")),
        idempotent=_flag(said.get("idempotentHint")),
        open_world=_flag(said.get("openWorldHint")),
    )


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _listed_annotations(tool: ListedTool) -> ToolAnnotations:
    return read_annotations(tool.definition)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a filter made of the listings."""

    kept: tuple[ListedTool, ...]
    """In listing order."""
    dropped: tuple[SkippedTool, ...] = ()
    """In listing order, each with the part of the filter that left it out."""
    warnings: tuple[str, ...] = ()
    """One sentence for each name in a filter that leads nowhere."""


def select(
    listed: Sequence[ListedTool],
    filters: ToolFilter | Mapping[str, ToolFilter] | None,
    *,
    servers: Collection[str] | None = None,
    annotations_of: Callable[[ListedTool], ToolAnnotations] = _listed_annotations,
) -> Selection:
    """Keep the tools that the filters keep.

    Args:
        listed: The tools of all servers.
        filters: One filter for all servers, or one for each server key; a server without one
            keeps all its tools, and None keeps everything.
        servers: The keys of all servers, also of those that list nothing; None means the servers
            in `listed`.
        annotations_of: What predicates see of a tool's annotations.

    Returns:
        Kept and dropped tools in listing order. A filter for an unknown server and a name without
        wildcards that is not offered are warnings with the closest that exist.

    """
    known = dict.fromkeys([*(servers or ()), *(tool.server for tool in listed)])
    kept: list[ListedTool] = []
    dropped: list[SkippedTool] = []
    for tool in listed:
        applied = filters.get(tool.server) if isinstance(filters, Mapping) else filters
        reason = None if applied is None else applied.refusal(tool.name, annotations_of(tool))
        if reason is None:
            kept.append(tool)
        else:
            dropped.append(SkippedTool(server=tool.server, name=tool.name, reason=reason))
    return Selection(kept=tuple(kept), dropped=tuple(dropped), warnings=_warnings(listed, filters, known))


def _warnings(
    listed: Sequence[ListedTool],
    filters: ToolFilter | Mapping[str, ToolFilter] | None,
    known: Collection[str],
) -> tuple[str, ...]:
    if filters is None:
        return ()
    if isinstance(filters, ToolFilter):
        return tuple(_unoffered(filters, [tool.name for tool in listed], "no server offers"))
    offered: dict[str, list[str]] = {server: [] for server in known}
    for tool in listed:
        offered[tool.server].append(tool.name)
    found: list[str] = []
    for server, applied in filters.items():
        if server in offered:
            found += _unoffered(applied, offered[server], f"server {server!r} does not offer")
        else:
            found.append(f"the filter for {server!r} has no server of that key{_hint(server, offered)}")
    return tuple(found)


def _unoffered(applied: ToolFilter, offered: Sequence[str], who: str) -> Iterable[str]:
    present = set(offered)
    for name in applied.exact_names():
        if name not in present:
            yield f"the filter names {name!r}, which {who}{_hint(name, present)}"


def _hint(word: str, names: Iterable[str]) -> str:
    closest = closest_names(word, names)
    return f"; did you mean {', '.join(map(repr, closest))}?" if closest else ""
