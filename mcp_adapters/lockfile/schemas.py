"""Whether a changed schema accepts more or less than before.

In: a tool's old and new JSON schema. Out: what reads differently, what is accepted in addition and
what is accepted no longer, each with a pointer. A change that cannot be judged counts as narrowed:
somebody should look. References are not followed; definitions are compared under their names. What an
old schema says nothing about, such as an argument that nobody declared, does not count.

Source: JSON Schema 2020-12, Validation (keywords) and section 9 (what only annotates).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

__all__ = ("Direction", "SchemaChange", "canonical", "compare_schemas")

Direction: TypeAlias = Literal["text", "widened", "narrowed"]
"""Only the words; everything that was valid still is; something that was valid may no longer be."""


class SchemaChange(NamedTuple):
    """One difference between two schemas."""

    direction: Direction
    pointer: str
    """JSON pointer into the schema, RFC 6901."""
    what: str
    """What is different, in a few words."""


_WORDS = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "$schema",
    }
)
_AT_LEAST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_AT_MOST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_ONLY_FORBID = frozenset(
    {"$ref", "allOf", "anyOf", "contains", "dependentRequired", "dependentSchemas", "else", "format", "if"}
    | {"multipleOf", "not", "oneOf", "pattern", "propertyNames", "then", "uniqueItems"}
)
"""Without one of these more is accepted, whatever else the schema says."""
_BY_NAME = frozenset({"properties", "$defs", "definitions"})
_WITHIN = frozenset({"items", "additionalProperties"})


def canonical(value: Any) -> str:
    """JSON text in which equal values are equal: keys sorted, no spaces."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def compare_schemas(old: Any, new: Any) -> tuple[SchemaChange, ...]:
    """What is different, in the order of the pointers; empty when nothing is.

    Args:
        old: The schema as it was, as JSON.
        new: The schema as it is.

    """
    return tuple(sorted(_changes(old, new, ""), key=lambda change: (change.pointer, change.what)))


def _changes(old: Any, new: Any, at: str) -> Iterator[SchemaChange]:
    if canonical(old) == canonical(new):
        return
    old, new = ({} if schema is True else schema for schema in (old, new))
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        yield _closed(old, new, at)
        return
    yield from _values(old, new, at)
    for keyword in sorted((old.keys() | new.keys()) - {"type", "enum", "const", "required"}):
        before, after = old.get(keyword, _ABSENT), new.get(keyword, _ABSENT)
        if before is _ABSENT or after is _ABSENT or canonical(before) != canonical(after):
            yield from _keyword(keyword, before, after, f"{at}/{_escaped(keyword)}")


_ABSENT: Any = object()


def _closed(old: Any, new: Any, at: str) -> SchemaChange:
    """A change from or to `false`, which accepts nothing, or something that is no schema."""
    if old is False:
        return SchemaChange("widened", at, "no longer closed")
    return SchemaChange("narrowed", at, "nothing is accepted" if new is False else "cannot be judged")


def _values(old: Mapping[str, Any], new: Mapping[str, Any], at: str) -> Iterator[SchemaChange]:
    """Keywords that are sets: types, values, required properties."""
    yield from _sets("type", _types(old), _types(new), f"{at}/type")
    before, after = _enum(old), _enum(new)
    if before is not None and after is not None:
        yield from _sets("value", before, after, f"{at}/enum")
    elif before is not None:
        yield SchemaChange("widened", f"{at}/enum", "no longer only certain values")
    elif after is not None:
        yield SchemaChange("narrowed", f"{at}/enum", "only certain values")
    before, after = _names(old), _names(new)
    for name in sorted(after - before):
        yield SchemaChange("narrowed", f"{at}/required", f"{name!r} is now required")
    for name in sorted(before - after):
        yield SchemaChange("widened", f"{at}/required", f"{name!r} is no longer required")


def _sets(noun: str, before: frozenset[str], after: frozenset[str], at: str) -> Iterator[SchemaChange]:
    for value in sorted(after - before):
        yield SchemaChange("widened", at, f"{noun} {value} is accepted")
    for value in sorted(before - after):
        yield SchemaChange("narrowed", at, f"{noun} {value} is no longer accepted")


def _types(schema: Mapping[str, Any]) -> frozenset[str]:
    said = schema.get("type", sorted(_TYPES))
    named = frozenset(str(name) for name in (said if isinstance(said, list) else [said]))
    return named | {"integer"} if "number" in named else named


def _enum(schema: Mapping[str, Any]) -> frozenset[str] | None:
    if "const" in schema:
        return frozenset({canonical(schema["const"])})
    values = schema.get("enum")
    return frozenset(map(canonical, values)) if isinstance(values, list) else None


def _names(schema: Mapping[str, Any]) -> frozenset[str]:
    names = schema.get("required")
    return frozenset(map(str, names)) if isinstance(names, list) else frozenset()


def _keyword(keyword: str, before: Any, after: Any, at: str) -> Iterator[SchemaChange]:
    if keyword in _WORDS:
        yield SchemaChange("text", at, f"{keyword} reads differently")
    elif keyword in _AT_LEAST or keyword in _AT_MOST:
        yield _bound(keyword, before, after, at)
    elif keyword in _BY_NAME and _are(Mapping, before, after):
        yield from _members(keyword, before, after, at)
    elif keyword in {"allOf", "anyOf", "prefixItems"} and _are_lists(before, after):
        yield from _one_by_one(keyword, before, after, at)
    elif keyword in _WITHIN:
        yield from _changes(_or(before, True), _or(after, True), at)
    else:
        yield _unjudged(keyword, before, after, at)


def _are(kind: type, before: Any, after: Any) -> bool:
    """Whether both are of a kind; what is absent is the empty one."""
    return all(value is _ABSENT or isinstance(value, kind) for value in (before, after))


def _or(value: Any, default: Any) -> Any:
    return default if value is _ABSENT else value


def _bound(keyword: str, before: Any, after: Any, at: str) -> SchemaChange:
    sign = 1 if keyword in _AT_MOST else -1
    was, now = (sign * value if _is_number(value) else math.inf for value in (before, after))
    told = "is gone" if after is _ABSENT else f"is now {canonical(after)}"
    return SchemaChange("widened" if now > was else "narrowed", at, f"{keyword} {told}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _members(keyword: str, before: Any, after: Any, at: str) -> Iterator[SchemaChange]:
    """Schemas under names; a definition that comes or goes matters only where it is referred to."""
    old, new = _or(before, {}), _or(after, {})
    for name in sorted(old.keys() | new.keys()):
        where = f"{at}/{_escaped(name)}"
        if name in old and name in new:
            yield from _changes(old[name], new[name], where)
        elif keyword == "properties":
            yield (
                SchemaChange("widened", where, f"argument {name!r} is new")
                if name in new
                else SchemaChange("narrowed", where, f"argument {name!r} is gone")
            )


def _are_lists(before: Any, after: Any) -> bool:
    return isinstance(before, list) and isinstance(after, list)


def _one_by_one(keyword: str, before: list[Any], after: list[Any], at: str) -> Iterator[SchemaChange]:
    """Schemas in a row: those of the same place are compared when there are as many of them."""
    if len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _changes(one, other, f"{at}/{index}")
    elif keyword == "anyOf" and set(map(canonical, before)) <= set(map(canonical, after)):
        yield SchemaChange("widened", at, f"{len(after) - len(before)} more alternatives")
    else:
        yield SchemaChange("narrowed", at, f"{keyword} has {len(after)} members, not {len(before)}")


def _unjudged(keyword: str, before: Any, after: Any, at: str) -> SchemaChange:
    if after is _ABSENT:
        return SchemaChange("widened" if keyword in _ONLY_FORBID else "narrowed", at, f"{keyword} is gone")
    return SchemaChange("narrowed", at, f"{keyword} is {'new' if before is _ABSENT else 'different'}")


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
