"""Find every schema inside a document, and follow references without leaving it.

In: a document that `limits.measure` has passed. Out: its schemas with their JSON pointers, the
target of every reference, and the references that lead nowhere or out of the document. Nothing is
fetched; what stands in data (`default`, `const`, `enum`, `examples`) is never taken for a schema.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urljoin

from mcp_adapters.schema.dialects import Draft, is_legacy
from mcp_adapters.schema.limits import pointer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ("DATA", "BrokenReference", "Document", "Schema", "subschemas")

Schema = dict[str, Any]

DATA = frozenset({"const", "default", "enum", "example", "examples"})
"""Keywords whose values are data, never schemas."""
_MAPS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_SINGLES = frozenset({
    "items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "contains",
    "propertyNames", "not", "if", "then", "else", "contentSchema",
})  # fmt: skip
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


def subschemas(node: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the schemas directly below a schema, each with its steps, in the schema's order."""
    for keyword, value in node.items():
        if isinstance(value, dict) and keyword in _MAPS:
            yield from (((keyword, key), inner) for key, inner in value.items() if _is_schema(inner))
        elif isinstance(value, list) and keyword in _LISTS:
            yield from (((keyword, at), inner) for at, inner in enumerate(value) if _is_schema(inner))
        elif keyword in _SINGLES and _is_schema(value):
            yield (keyword,), value
        elif keyword == "additionalItems" and _is_schema(value) and isinstance(node.get("items"), list):
            # Beside anything but a list it says nothing, and no meta-schema sees what it holds.
            yield (keyword,), value


def _is_schema(value: Any) -> bool:
    return isinstance(value, (dict, bool))


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenReference:
    """A reference that cannot be followed."""

    pointer: str
    """Of the reference itself."""
    reference: str
    remote: bool
    """Whether it names another document; otherwise it names nothing in this one."""


@dataclass(frozen=True, slots=True)
class _Visit:
    node: Schema
    steps: tuple[str | int, ...]
    base: str


class Document:
    """One schema document, every reference in it followed once.

    The document must not change while this is used: schemas are known by identity.
    """

    def __init__(self, root: Schema, *, draft: Draft) -> None:
        self.root = root
        self.draft = draft
        self.broken: list[BrokenReference] = []
        self.strays: list[tuple[str, Any]] = []
        """Targets of references that stand where no schema is expected, with their pointers."""
        self._visits: dict[int, _Visit] = {}
        self._targets: dict[int, Any] = {}
        self._resources: dict[str, Schema] = {"": root}
        self._anchors: dict[tuple[str, str], Schema] = {}
        self._follow(self._index(root, (), ""))

    def schemas(self) -> Iterator[tuple[str, Schema]]:
        """Yield every schema that is an object, with its pointer."""
        for visit in self._visits.values():
            yield pointer_of(*visit.steps), visit.node

    def pointer(self, node: Schema) -> str:
        """Give the JSON pointer of a schema of this document; empty for one that is not of it."""
        visit = self._visits.get(id(node))
        return pointer_of(*visit.steps) if visit else ""

    def target(self, node: Schema) -> Any:
        """Give what a schema refers to; None when it refers to nothing that can be followed."""
        return self._targets.get(id(node))

    def size(self) -> int:
        """Count the schemas of the document."""
        return len(self._visits)

    def _index(self, node: Any, steps: tuple[str | int, ...], base: str) -> list[_Visit]:
        """Record a schema and all below it; return those that were new."""
        found: list[_Visit] = []
        stack = [(node, steps, base)]
        while stack:
            node, steps, base = stack.pop()
            if not isinstance(node, dict) or id(node) in self._visits:
                continue
            visit = _Visit(node, steps, self._enter(node, base))
            self._visits[id(node)] = visit
            found.append(visit)
            stack.extend((child, steps + more, visit.base) for more, child in subschemas(node))
        return found

    def _enter(self, node: Schema, base: str) -> str:
        """Learn the identifiers that a schema gives itself; return the base for what it holds."""
        identifier = node.get("id" if self.draft == "draft-04" else "$id")
        if isinstance(identifier, str) and not (is_legacy(self.draft) and "$ref" in node):
            address, fragment = _split(base, identifier)
            if fragment:
                self._anchors.setdefault((base, fragment), node)
            else:
                base = address
                self._resources.setdefault(base, node)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := node.get(keyword), str):
                self._anchors.setdefault((base, anchor), node)
        return base

    def _follow(self, visits: list[_Visit]) -> None:
        while visits:
            fresh: list[_Visit] = []
            for visit in visits:
                for keyword in _REFERENCES:
                    if isinstance(reference := visit.node.get(keyword), str):
                        fresh += self._follow_one(visit, keyword, reference)
            visits = fresh

    def _follow_one(self, visit: _Visit, keyword: str, reference: str) -> list[_Visit]:
        address, fragment = _split(visit.base, reference)
        resource = self._resources.get(address)
        found = None if resource is None else self._find(resource, address, fragment)
        if found is None:
            self.broken.append(
                BrokenReference(
                    pointer=pointer_of(*visit.steps, keyword), reference=reference, remote=resource is None
                )
            )
            return []
        target, steps = found
        self._targets.setdefault(id(visit.node), target)
        if not isinstance(target, dict) or id(target) in self._visits:
            return []
        self.strays.append((pointer_of(*steps), target))
        return self._index(target, steps, address)

    def _find(
        self, resource: Schema, address: str, fragment: str
    ) -> tuple[Any, tuple[str | int, ...]] | None:
        if fragment and not fragment.startswith("/"):
            anchored = self._anchors.get((address, fragment))
            return None if anchored is None else (anchored, ())
        node: Any = resource
        steps = self._visits[id(resource)].steps if id(resource) in self._visits else ()
        for token in fragment.split("/")[1:]:
            step = token.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and _INDEX.fullmatch(step) and int(step) < len(node):
                node, steps = node[int(step)], (*steps, int(step))
            elif isinstance(node, dict) and step in node:
                node, steps = node[step], (*steps, step)
            else:
                return None
        return (node, steps) if _is_schema(node) else None


def _split(base: str, reference: str) -> tuple[str, str]:
    """Split a reference, read against a base, into the address of a document and a fragment."""
    if reference.startswith("#"):
        return base, unquote(reference[1:])
    try:
        address, fragment = urldefrag(urljoin(base, reference))
    except ValueError:
        return reference, ""
    return address, unquote(fragment)
