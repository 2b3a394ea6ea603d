"""What a projection is: the schema that models get, and what became of the server's own on the way.

In: nothing. Out: frozen values, which pickle. Nothing here decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_adapters.spec import Dialect, Loss

if TYPE_CHECKING:
    from mcp_adapters.schema.references import Schema

__all__ = ("Dialect", "Loss", "Path", "Projection", "Rename", "Renames")

Path = tuple[str | None, ...]
"""A place in arguments, by the server's own keys; None stands for every element and every value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename:
    """One argument that models see under another key than the server."""

    path: Path
    """The object that has the key."""
    exposed: str
    original: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Renames:
    """Every argument that models see under another key; an outer object comes before an inner one."""

    entries: tuple[Rename, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """The schema that models get."""

    schema: Schema
    """Nobody else holds it or a part of it."""
    losses: tuple[Loss, ...] = ()
    note: str = ""
    """For the end of the tool's description: rules that the schema does not show; empty without any."""
    strict: bool = False
    """Whether the schema keeps the rules of OpenAI's strict mode."""
    renames: Renames = Renames()
    every_rename: Renames = Renames()
    """The renames of all dialects together: what the way back may meet. They never contradict each other."""
