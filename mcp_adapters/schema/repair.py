"""Repair in a schema what can only be meant one way.

In: a copy of a schema, which is changed in place. Out: a note for every change. What could be meant
in two ways is left alone, for the check to refuse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcp_adapters.schema.dialects import compile_schema
from mcp_adapters.schema.limits import SchemaProblem, pointer_of
from mcp_adapters.schema.references import Schema, subschemas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ("repair",)

_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
# Serialisers that know no "absent" write null for each of these.
_KEYWORDS = _NAMED | {
    "$anchor", "$comment", "$id", "$ref", "$schema", "additionalItems", "additionalProperties", "allOf",
    "anyOf", "contains", "contentEncoding", "contentMediaType", "contentSchema", "dependencies",
    "dependentRequired", "deprecated", "description", "else", "enum", "exclusiveMaximum",
    "exclusiveMinimum", "format", "if", "items", "maxContains", "maxItems", "maxLength", "maxProperties",
    "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not",
    "nullable", "oneOf", "pattern", "prefixItems", "propertyNames", "readOnly", "required", "then", "title",
    "type", "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly",
}  # fmt: skip
_ANNOTATIONS: Mapping[str, type] = {
    "title": str,
    "description": str,
    "$comment": str,
    "format": str,
    "examples": list,
    "deprecated": bool,
    "readOnly": bool,
    "writeOnly": bool,
}
_URI_CHARACTERS = "%/:?#@!$&'()*+,;=~"
_FIX = "correct the server's schema"


def repair(root: Schema) -> tuple[SchemaProblem, ...]:
    """Repair a schema in place.

    Args:
        root: A schema that nobody else holds; `limits.measure` has passed it.

    Returns:
        What was changed, with the place of each change.

    """
    notes: list[SchemaProblem] = []
    stack: list[tuple[Any, tuple[str | int, ...]]] = [(root, ())]
    while stack:
        node, steps = stack.pop()
        if isinstance(node, dict):
            notes += [_note((*steps, keyword), reason) for keyword, reason in _mend(node)]
            stack.extend((child, steps + more) for more, child in subschemas(node))
    if "type" not in root:
        root["type"] = "object"
        notes.append(_note((), "the root has no 'type'; read as \"object\""))
    return tuple(notes)


def _note(steps: tuple[str | int, ...], reason: str) -> SchemaProblem:
    return SchemaProblem(pointer=pointer_of(*steps), reason=reason, remedy=_FIX)


def _mend(node: Schema) -> Iterator[tuple[str, str]]:
    for keyword in [key for key, value in node.items() if value is None and key in _KEYWORDS]:
        del node[keyword]
        yield keyword, f"{keyword!r} is null; read as absent"
    for keyword in _NAMED:
        if node.get(keyword) == []:
            node[keyword] = {}
            yield keyword, f"{keyword!r} is an empty list; read as an empty object"
    if node.get("type") == "any":
        del node["type"]
        yield "type", "'type' is \"any\"; read as absent"
    for keyword in [key for key in node if not isinstance(node[key], _ANNOTATIONS.get(key, object))]:
        del node[keyword]
        yield keyword, f"{keyword!r} is of a wrong type and says nothing about values; left out"
    for keyword in ("type", "required"):
        if (names := _distinct(node.get(keyword))) is not None:
            node[keyword] = names
            yield keyword, f"{keyword!r} names something twice; read as once"
    yield from _mend_reference(node)
    yield from _mend_patterns(node)


def _distinct(names: Any) -> list[str] | None:
    """Give a list of names without repetitions; None for what has none, or is no list of names."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    distinct = list(dict.fromkeys(names))
    return distinct if len(distinct) < len(names) else None


def _mend_reference(node: Schema) -> Iterator[tuple[str, str]]:
    reference = node.get("$ref")
    if isinstance(reference, str) and reference != (quoted := quote(reference, safe=_URI_CHARACTERS)):
        node["$ref"] = quoted
        yield "$ref", "the reference has characters that a URI must escape; escaped"


def _mend_patterns(node: Schema) -> Iterator[tuple[str, str]]:
    pattern = node.get("pattern")
    if isinstance(pattern, str) and not _is_readable(pattern):
        del node["pattern"]
        yield "pattern", "the regular expression cannot be read here; left to the server"
    patterns = node.get("patternProperties")
    if not isinstance(patterns, dict):
        return
    for key in list(patterns):
        if not _is_readable(key):
            del patterns[key]
            # Keys that only this pattern allowed must not be refused now.
            node.pop("additionalProperties", None)
            node.pop("unevaluatedProperties", None)
            yield "patternProperties", "a regular expression cannot be read here; left to the server"


def _is_readable(pattern: str) -> bool:
    try:
        compile_schema({"pattern": pattern}, draft="2020-12")
    except ValueError:
        return False
    return True
