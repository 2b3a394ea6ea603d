"""Combine schemas that say everything in place: no reference, no boolean, no `allOf`.

In: schemas as the expansion makes them. Out: one schema that accepts at least what both accept.
What cannot be combined is left out and named. No input is changed; parts of it are shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from mcp_adapters.schema.references import Schema

__all__ = (
    "NEVER",
    "alternatives",
    "frozen",
    "is_never",
    "kind_of",
    "merge",
    "narrow_types",
    "types_of",
    "types_of_values",
)

NEVER: Schema = {"not": {}}
"""The schema that accepts nothing."""

_GREATER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_LESSER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_FIRST = frozenset({"title", "description", "default", "examples"})


def is_never(schema: Schema) -> bool:
    """Say whether a schema is `NEVER`."""
    return schema.get("not") == {}


def types_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """List the types that a schema names, in its order; empty when it names none."""
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)


def kind_of(value: Any) -> str:
    """Name the type of a JSON value; a number without a fraction is an integer."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    kinds = {str: "string", float: "number", dict: "object", list: "array"}
    return kinds.get(type(value), "null")


def types_of_values(values: Iterable[Any]) -> tuple[str, ...]:
    """List the types that JSON values have, in their order."""
    kinds = dict.fromkeys(map(kind_of, values))
    if "number" in kinds:
        kinds.pop("integer", None)
    return tuple(kinds)


def frozen(value: Any) -> Hashable:
    """Make a hashable stand-in for a JSON value, equal where JSON Schema says that values are equal."""
    if isinstance(value, dict):
        return "object", frozenset((key, frozen(entry)) for key, entry in value.items())
    if isinstance(value, list):
        return "array", tuple(map(frozen, value))
    return isinstance(value, bool), value


def merge(first: Schema, second: Schema, *, drop: Callable[[str], None]) -> Schema:
    """Combine two schemas that both hold.

    Args:
        first: Its annotations win.
        second: The other.
        drop: Told each keyword of the second that could not be combined.

    Returns:
        A schema that accepts at least what both accept; `NEVER` when that is nothing.

    """
    if is_never(first) or is_never(second):
        return NEVER
    merged = {**first, **second, **first}  # the order of the first, then of the second
    for keyword in first.keys() & second.keys():
        merged[keyword] = _join(keyword, first[keyword], second[keyword], drop)
    # "additionalProperties": false beside the keys of both accepts more than either: widening.
    if False in (first.get("additionalProperties"), second.get("additionalProperties")):
        merged["additionalProperties"] = False
    return NEVER if merged.get("type") == [] or merged.get("enum") == [] else merged


def _join(keyword: str, first: Any, second: Any, drop: Callable[[str], None]) -> Any:
    if keyword in _FIRST or first == second:
        return first
    if keyword in _GREATER:
        return max(first, second)
    if keyword in _LESSER:
        return min(first, second)
    joiner = _JOINERS.get(keyword)
    if joiner is None:
        drop(keyword)
        return first
    return joiner(first, second, drop)


def _join_types(first: Any, second: Any, _: Callable[[str], None]) -> Any:
    types = narrow_types(types_of({"type": first}), types_of({"type": second}))
    return types[0] if len(types) == 1 else list(types)


def narrow_types(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """List the types that two lists of types have in common; an integer is a number."""
    common = [kind for kind in first if kind in second or (kind == "integer" and "number" in second)]
    if "number" in first and "integer" in second and "integer" not in common:
        common.append("integer")
    return tuple(common)


def _join_enums(first: Any, second: Any, _: Callable[[str], None]) -> Any:
    allowed = set(map(frozen, second))
    return [value for value in first if frozen(value) in allowed]


def _join_required(first: Any, second: Any, _: Callable[[str], None]) -> Any:
    return [*first, *(name for name in second if name not in first)]


def _join_properties(first: Any, second: Any, drop: Callable[[str], None]) -> Any:
    both = {key: merge(first[key], second[key], drop=drop) for key in first if key in second}
    return {**first, **second, **both}


def _join_schemas(first: Any, second: Any, drop: Callable[[str], None]) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        return merge(first, second, drop=drop)
    return first if isinstance(first, dict) else second


def _join_flags(first: Any, second: Any, _: Callable[[str], None]) -> Any:
    return first or second


_JOINERS: Mapping[str, Callable[[Any, Any, Callable[[str], None]], Any]] = {
    "type": _join_types,
    "enum": _join_enums,
    "required": _join_required,
    "properties": _join_properties,
    "items": _join_schemas,
    "additionalProperties": _join_schemas,
    "uniqueItems": _join_flags,
}


def alternatives(schemas: Iterable[Schema]) -> Schema:
    """Combine schemas of which one holds.

    Returns:
        The schema itself where all are one; one list of values where all are lists of values of
        one type; else an `anyOf`; `NEVER` for none.

    """
    distinct = list({frozen(schema): schema for schema in schemas if not is_never(schema)}.values())
    if len(distinct) < 2:
        return distinct[0] if distinct else NEVER
    if (
        all(_is_value_list(schema) for schema in distinct)
        and len({schema["type"] for schema in distinct}) == 1
    ):
        values = {frozen(value): value for schema in distinct for value in schema["enum"]}
        return {**distinct[0], "enum": list(values.values())}
    return {"anyOf": distinct}


def _is_value_list(schema: Schema) -> bool:
    return "enum" in schema and isinstance(schema.get("type"), str) and not schema.keys() - _LISTING


_LISTING = _FIRST | {"enum", "type"}
