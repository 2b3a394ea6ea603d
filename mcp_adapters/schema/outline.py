"""Describe in a few words which form of value a schema accepts.

In: a schema of a document. Out: one phrase of bounded length, for a model that got it wrong.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcp_adapters.schema.merging import types_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_adapters.schema.references import Document

__all__ = ("cut", "outline")

_LONGEST = 240
_MOST = 12
_BOUNDS: Mapping[str, str] = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} elements",
    "maxItems": "at most {} elements",
    "format": "in the format {}",
    "pattern": "that matches {}",
}


def cut(text: str, longest: int = _LONGEST) -> str:
    """Shorten a text to a number of characters, with a mark where it was cut."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def outline(schema: Any, document: Document) -> str:
    """Describe what a schema accepts, in at most about 240 characters."""
    return cut(_describe(schema, document, 0))


def _describe(schema: Any, document: Document, depth: int) -> str:
    if not isinstance(schema, dict) or depth > 4:
        return "nothing" if schema is False else "any value"
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is not None:
        shown = ", ".join(cut(json.dumps(value, ensure_ascii=False), 40) for value in values[:_MOST])
        return shown if len(values) == 1 else f"one of {shown}{', …' if len(values) > _MOST else ''}"
    for union in ("anyOf", "oneOf"):
        if branches := schema.get(union):
            return " or ".join(
                dict.fromkeys(_describe(branch, document, depth + 1) for branch in branches[:6])
            )
    target = document.target(schema)
    for part in (target, *schema.get("allOf", ())):
        if part is not None and not types_of(schema):
            return _describe(part, document, depth + 1)
    return _describe_types(schema, document, depth)


def _describe_types(schema: Mapping[str, Any], document: Document, depth: int) -> str:
    words = [_describe_type(kind, schema, document, depth) for kind in types_of(schema)]
    bounds = [
        text.format(cut(str(schema[key]), 80))
        for key, text in _BOUNDS.items()
        if not isinstance(schema.get(key, True), bool)
    ]
    return ", ".join([" or ".join(words) or "any value", *bounds])


def _describe_type(kind: str, schema: Mapping[str, Any], document: Document, depth: int) -> str:
    if kind == "array" and isinstance(schema.get("items"), dict):
        return f"array of {_describe(schema['items'], document, depth + 1)}"
    if kind == "object" and schema.get("properties"):
        required = schema.get("required", ())
        names = [name if name in required else f"{name}?" for name in list(schema["properties"])[:_MOST]]
        return f"object with {', '.join(names)}{', …' if len(schema['properties']) > _MOST else ''}"
    return kind
