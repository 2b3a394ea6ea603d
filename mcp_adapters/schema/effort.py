"""Bound the work of validating against a schema, before the work begins.

In: a document. Out: an upper bound, in schemas looked at, for arguments of a given depth. Unions that
refer to one another can double at every level; such a schema would keep the validator busy for years.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_adapters.schema.references import Document, Schema

__all__ = ("Effort",)

_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")
_IN_PLACE_MAPS = ("dependentSchemas", "dependencies")
_DEEPEST = 150
_MOST_ENTRIES = 200_000
_TOO_MUCH = 10**30


class Effort:
    """The effort of one document; computed once.

    Args:
        document: A checked document.

    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._widths: dict[int, int] = {}
        self._keys: dict[int, Counter[str]] = {}
        self._left = _MOST_ENTRIES
        for _, node in document.schemas():
            self._measure(node, 0)
        self._width = max(self._widths.values(), default=1)
        self._growth = max(map(_growth, self._keys.values()), default=1)

    def bound(self, depth: int) -> int:
        """Bound the schemas that are looked at for one value in arguments of a depth."""
        bound: int = self._width * self._growth**depth
        return bound

    def _measure(self, node: Any, depth: int) -> tuple[int, Counter[str]]:
        """Count the schemas that see the same value as this one, and the same inner values."""
        if not isinstance(node, dict):
            return 1, Counter()
        if id(node) in self._widths:
            return self._widths[id(node)], self._keys[id(node)]
        if depth > _DEEPEST or self._left < 0:
            return _TOO_MUCH, Counter({"": _TOO_MUCH})
        # A schema that leads back to itself in place is looked at once.
        self._widths[id(node)], self._keys[id(node)] = 1, Counter()
        keys = Counter(_inner_keys(node))
        width = 1
        for part in self._parts(node):
            part_width, part_keys = self._measure(part, depth + 1)
            width = min(width + part_width, _TOO_MUCH)
            keys += part_keys
        self._left -= len(keys)
        self._widths[id(node)], self._keys[id(node)] = width, keys
        return width, keys

    def _parts(self, node: Schema) -> Iterator[Any]:
        yield self._document.target(node)
        for keyword in _IN_PLACE_LISTS:
            yield from node.get(keyword, ())
        for keyword in _IN_PLACE:
            yield node.get(keyword)
        for keyword in _IN_PLACE_MAPS:
            yield from node.get(keyword, {}).values()


def _growth(keys: Counter[str]) -> int:
    # What holds for every key holds beside what holds for one.
    every = keys["*"]
    return max(1, every + max((count for key, count in keys.items() if key != "*"), default=0))


def _inner_keys(node: Schema) -> Iterator[str]:
    yield from (f".{key}" for key in node.get("properties", ()))
    for keyword in ("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"):
        if keyword in node:
            yield "[]"
    for keyword in ("additionalProperties", "patternProperties", "unevaluatedProperties"):
        if isinstance(node.get(keyword), dict):
            yield "*"
