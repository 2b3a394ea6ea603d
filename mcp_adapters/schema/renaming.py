"""Give argument keys that every provider accepts, and remember which ones were changed.

In: the keys of a schema. Out: the keys that models see, and the way back as `Renames`. Equal input
gives equal output; a key that needs no change keeps its name, and one key has one name everywhere.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from mcp_adapters.schema.projection import Path, Rename, Renames

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ("Renamer",)

_TAKEN_FOR_REFERENCE = "$ref"  # langchain-core takes a property of this name for a reference
# Anthropic Messages API: "Property keys should match pattern ...", seen in the root object only.
_ACCEPTED = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


class Renamer:
    """The keys of one projection.

    Args:
        taken: Every key that the schema has anywhere; none is given to another argument.
        everywhere: Whether keys of inner objects are renamed too, not only the root's.

    """

    def __init__(self, taken: Iterable[str], *, everywhere: bool) -> None:
        self._taken = set(taken)
        self._everywhere = everywhere
        self._names: dict[str, str] = {}
        self._met: dict[tuple[Path, str], bool] = {}

    def expose(self, key: str, path: Path) -> str:
        """Give the key that models see for the server's key in the object at `path`."""
        if _ACCEPTED.fullmatch(key):
            return key
        # Invented also where it is not shown: every dialect has the same name for a key.
        if key not in self._names:
            self._names[key] = self._invent(key)
        shown = not path or self._everywhere or key == _TAKEN_FOR_REFERENCE
        self._met[path, key] = shown
        return self._names[key] if shown else key

    def _invent(self, key: str) -> str:
        plain = re.sub(r"[^a-zA-Z0-9_.-]", "_", key)
        # With nothing readable left, or too long, the key's hash tells it from others.
        if len(plain) > 64 or not re.search(r"[a-zA-Z0-9]", plain) or plain in self._taken:
            digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
            stem = plain[:55] if re.search(r"[a-zA-Z0-9]", plain) else "key"
            plain = f"{stem}_{digest[:8]}"
        self._taken.add(plain)
        return plain

    def renames(self) -> Renames:
        """List every change, outer objects first."""
        return self._listed(place for place, shown in self._met.items() if shown)

    def every_rename(self) -> Renames:
        """List every change that a dialect with inner renames would make, outer objects first."""
        return self._listed(self._met)

    def _listed(self, places: Iterable[tuple[Path, str]]) -> Renames:
        entries = [Rename(path=path, exposed=self._names[key], original=key) for path, key in places]
        return Renames(entries=tuple(sorted(entries, key=lambda entry: len(entry.path))))
