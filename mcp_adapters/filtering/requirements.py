"""Which required tools are missing, and what was probably meant.

In: the names that the user requires, and what is offered. Out: what is missing, and the one error
that says so. Nothing here decides whether the error is raised.
"""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_adapters.errors import ToolboxLoadError
from mcp_adapters.spec import ListedTool, SkippedTool

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ("MissingTool", "closest_names", "folded_name", "missing", "missing_error")

_NAMES_SHOWN = 20
_SERVERS_SHOWN = 10


def closest_names(word: str, names: Iterable[str], *, count: int = 3) -> tuple[str, ...]:
    """Return up to `count` of the names that `word` was probably meant to be, best first.

    Case and the difference of `-` and `_` do not count. The order of `names` means nothing.
    """
    folded: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        folded.setdefault(folded_name(name), []).append(name)
    wanted = folded_name(word)
    # A name with a prefix or a hash holds the word, but is too long to count as similar to it.
    holding = sorted((name for name in folded if wanted and wanted in name), key=len)
    similar = difflib.get_close_matches(wanted, folded, n=count, cutoff=0.6)
    ranked = dict.fromkeys([*holding[:count], *similar])
    return tuple(name for match in ranked for name in folded[match])[:count]


def folded_name(name: str) -> str:
    """Return what is left of a name when case and the difference of `-` and `_` do not count."""
    return name.casefold().replace("-", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingTool:
    """A required tool that no server offers."""

    entry: str
    """The requirement as the user wrote it."""
    server: str | None
    """The key of the server that the entry names; None when any server would do."""
    closest: tuple[str, ...] = ()
    """What is offered and was probably meant, in the form of the entry, best first."""


def missing(require: Sequence[str], offered: Sequence[ListedTool]) -> tuple[MissingTool, ...]:
    """Find the requirements that nothing meets.

    Args:
        require: Names as servers give them, exactly: `tool`, on any server, or `server:tool`.
        offered: The tools that there are.

    Returns:
        In the order of `require`, each once. An entry with a colon is never cut at it: it is met by a
        tool of exactly that name as well, since tool names may hold colons.

    """
    names = {tool.name for tool in offered}
    ids = {f"{tool.server}:{tool.name}" for tool in offered}
    servers = {tool.server for tool in offered}
    found = []
    for entry in dict.fromkeys(require):
        if entry not in names and entry not in ids:
            closest = closest_names(entry, ids if ":" in entry else names)
            found.append(MissingTool(entry=entry, server=_named_server(entry, servers), closest=closest))
    return tuple(found)


def _named_server(entry: str, servers: Collection[str]) -> str | None:
    """Find the longest known server key before a colon; else whatever is before the first one."""
    fitting = [server for server in servers if entry.startswith(f"{server}:")]
    if fitting:
        return max(fitting, key=len)
    server, colon, _ = entry.partition(":")
    return server if colon else None


def missing_error(absent: Sequence[MissingTool], offered: Sequence[ListedTool]) -> ToolboxLoadError:
    """Make the one error that lists every requirement that is not met, by server.

    Args:
        absent: What `missing` found; not empty.
        offered: The tools that there are; up to 20 names of up to 10 servers are shown.

    Returns:
        The error, not raised; `tools` has a `SkippedTool` for each entry, with "" for "any server".

    """
    counts = Counter(tool.server for tool in offered)
    lines = ["required tools are missing:"]
    for server in dict.fromkeys(entry.server for entry in absent):
        lines.append(f"  {_place(server, counts)}:")
        lines += [
            f"    {entry.entry!r} is not offered{_suggestion(entry)}"
            for entry in absent
            if entry.server == server
        ]
    lines += [f"  {server!r} offers {_shown(server, offered)}" for server in _concerned(absent, counts)]
    lines.append("correct the names in require=, or check that the servers are the right ones")
    refused = tuple(
        SkippedTool(server=entry.server or "", name=entry.entry, reason="required, but not offered")
        for entry in absent
    )
    return ToolboxLoadError("\n".join(lines), tools=refused)


def _place(server: str | None, counts: Mapping[str, int]) -> str:
    if server is None:
        return "on any server"
    return f"server {server!r}" if server in counts else f"server {server!r}, which offers no tools"


def _concerned(absent: Sequence[MissingTool], counts: Mapping[str, int]) -> list[str]:
    named = {entry.server for entry in absent}
    return [server for server in counts if None in named or server in named][:_SERVERS_SHOWN]


def _suggestion(entry: MissingTool) -> str:
    return f"; closest: {', '.join(map(repr, entry.closest))}" if entry.closest else ""


def _shown(server: str, offered: Sequence[ListedTool]) -> str:
    names = [tool.name for tool in offered if tool.server == server]
    rest = len(names) - _NAMES_SHOWN
    return ", ".join(map(repr, names[:_NAMES_SHOWN])) + (f" and {rest} more" if rest > 0 else "")
