"""What has become of locked tools.

In: a lock and what servers list now. Out: one `Drift` for each tool that is not what it was, with
every kind of change and where it is. Nothing is decided here: what a drift does is the toolbox's
option.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from mcp_adapters.lockfile.locks import Lock, LockedTool, pinned
from mcp_adapters.lockfile.schemas import canonical, compare_schemas
from mcp_adapters.spec import ListedTool

__all__ = ("Drift", "DriftKind", "OnDrift", "find_drifts")

DriftKind: TypeAlias = Literal[
    "text", "schema_widened", "schema_narrowed", "output_schema", "hints", "new", "gone"
]
"""What changed: only words that models or people read; arguments are accepted in addition; arguments may
no longer be accepted; the form of results; annotations and other fields; the tool itself came or went."""
OnDrift: TypeAlias = Literal["fail", "warn", "drop"]
"""What a tool that is not as it was locked does: keep the toolbox from opening, be named in a warning, or
be left out."""

_ORDER: tuple[DriftKind, ...] = (
    "new",
    "gone",
    "schema_narrowed",
    "schema_widened",
    "output_schema",
    "hints",
    "text",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One tool that is not as it was locked."""

    server: str
    name: str
    """As its server knows it."""
    kinds: tuple[DriftKind, ...]
    """The gravest first."""
    changes: tuple[str, ...]
    """Each difference: a JSON pointer into the definition and a few words."""

    def __str__(self) -> str:
        kinds = ", ".join(kind.replace("_", " ") for kind in self.kinds)
        changes = "".join(f"; {change}" for change in self.changes)
        return f"tool {self.name!r} of server {self.server!r} is not as locked: {kinds}{changes}"


_TOLD_MAX = 300
"""Characters of one difference: it may hold what a server said."""


class _Change(NamedTuple):
    kind: DriftKind
    told: str


def find_drifts(
    lock: Lock, offered: Iterable[ListedTool], *, listed: Mapping[str, Collection[str]]
) -> tuple[Drift, ...]:
    """Compare tools with a lock.

    Args:
        lock: What the tools were.
        offered: The tools that the toolbox is to offer.
        listed: Server key -> the names of all tools that it lists, filtered ones too. Tools of other
            servers, such as one that could not be started, are not gone.

    Returns:
        Those that differ: first the offered ones in their order, then those that are gone.

    """
    drifts = [
        Drift(
            server=tool.server,
            name=tool.name,
            kinds=tuple(kind for kind in _ORDER if any(change.kind == kind for change in changes)),
            changes=tuple(change.told[:_TOLD_MAX] for change in changes if change.told),
        )
        for tool in offered
        if (changes := _changes(lock.tools.get((tool.server, tool.name)), tool))
    ]
    gone = [
        Drift(server=server, name=name, kinds=("gone",), changes=())
        for server, name in lock.tools
        if server in listed and name not in listed[server]
    ]
    return (*drifts, *gone)


def _changes(locked: LockedTool | None, tool: ListedTool) -> list[_Change]:
    if locked is None:
        return [_Change("new", "")]
    old, new = locked.definition, pinned(tool.definition)
    if canonical(old) == canonical(new):
        return []
    return [
        change
        for key in sorted(old.keys() | new.keys())
        if canonical(old.get(key)) != canonical(new.get(key))
        for change in _field(key, old.get(key), new.get(key))
    ]


def _field(key: str, old: Any, new: Any) -> Iterator[_Change]:
    if key in ("title", "description"):
        yield _Change("text", f"/{key} reads differently")
    elif key == "annotations":
        yield from _annotations(old, new)
    elif key in ("inputSchema", "outputSchema"):
        yield from _schema(key, old, new)
    else:
        yield _Change("hints", f"/{key} is different")


def _annotations(old: Any, new: Any) -> Iterator[_Change]:
    before, after = (value if isinstance(value, dict) else {} for value in (old, new))
    for key in sorted(before.keys() | after.keys()):
        if canonical(before.get(key)) != canonical(after.get(key)):
            told = f"/annotations/{key} was {canonical(before.get(key))}, is {canonical(after.get(key))}"
            yield (
                _Change("text", "/annotations/title reads differently")
                if key == "title"
                else _Change("hints", told)
            )


def _schema(key: str, old: Any, new: Any) -> Iterator[_Change]:
    for direction, pointer, what in compare_schemas({} if old is None else old, {} if new is None else new):
        kind: DriftKind
        if direction == "text":
            kind = "text"
        elif key == "outputSchema":
            kind = "output_schema"
        else:
            kind = "schema_widened" if direction == "widened" else "schema_narrowed"
        yield _Change(kind, f"/{key}{pointer}: {what}")
