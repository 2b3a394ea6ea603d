"""Hypothesis strategies for schemas, for instances that they probably accept, and for any JSON."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from mcp_adapters.schema.references import Document

KEYS = ("a", "b", "c", "$ref", "x y", "self", "__proto__")
TEXTS = st.sampled_from(["", "a", "ab", "abc", "5", "true", "null", "[1]", "{}", "x/y"])
NUMBERS = st.one_of(st.integers(-5, 5), st.sampled_from([0.5, 1.0, -2.5, 3.0]))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
JSON = st.recursive(
    st.one_of(SCALARS, st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text()), inner)
    ),
    max_leaves=12,
)
KEYWORDS = (
    "$ref", "$defs", "$id", "$anchor", "$schema", "type", "properties", "required", "items", "prefixItems",
    "additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "not", "if", "then", "else",
    "enum", "const", "default", "examples", "minimum", "exclusiveMinimum", "pattern", "format", "nullable",
    "dependentSchemas", "dependentRequired", "dependencies", "definitions", "unevaluatedProperties",
    "contains", "propertyNames", "maxItems", "additionalItems", "$dynamicRef", "description",
)  # fmt: skip
NEARLY_SCHEMAS = st.recursive(
    st.one_of(SCALARS, st.sampled_from(["#", "#/$defs/a", "object", "string", "any", "^a", "["])),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
        st.lists(inner, max_size=3),
    ),
    max_leaves=20,
)
"""JSON that looks like a schema and mostly is none."""


@st.composite
def _scalar_schema(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["string", "integer", "number", "boolean", "null", "enum", "const", "any"]))
    match kind:
        case "enum":
            return {"enum": draw(st.lists(SCALARS, min_size=1, max_size=4, unique_by=repr))}
        case "const":
            return {"const": draw(SCALARS)}
        case "any":
            return draw(st.sampled_from([{}, True]))
        case "integer" | "number":
            bounds = draw(
                st.sets(st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]))
            )
            return {"type": kind} | {bound: draw(st.integers(-4, 4)) for bound in bounds}
        case "string":
            bounds = draw(st.sets(st.sampled_from(["minLength", "maxLength", "pattern", "default"])))
            values: dict[str, Any] = {"minLength": 1, "maxLength": 3, "pattern": "^[a-z]*$", "default": None}
            return {"type": draw(st.sampled_from(["string", ["string", "null"]]))} | {
                bound: values[bound] for bound in bounds
            }
    return {"type": kind}


@st.composite
def _object_schema(draw: st.DrawFn, depth: int) -> Any:
    properties = draw(st.dictionaries(st.sampled_from(KEYS), _schema(depth - 1), max_size=3))
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if names := draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True)):
        schema["required"] = names
    rest = draw(st.sampled_from(["absent", "absent", "true", "false", "schema"]))
    if rest != "absent":
        choices = {"true": True, "false": False}
        schema["additionalProperties"] = choices[rest] if rest in choices else draw(_schema(depth - 1))
    if draw(st.integers(0, 9)) == 0:
        schema["patternProperties"] = {"^a": draw(_schema(depth - 1))}
    if draw(st.integers(0, 9)) == 0:
        schema[draw(st.sampled_from(["minProperties", "maxProperties"]))] = 1
    return schema


@st.composite
def _array_schema(draw: st.DrawFn, depth: int) -> Any:
    schema: dict[str, Any] = {"type": "array"}
    if draw(st.integers(0, 4)) == 0:
        schema["prefixItems"] = draw(st.lists(_schema(depth - 1), min_size=1, max_size=2))
    if draw(st.booleans()):
        schema["items"] = draw(st.one_of(_schema(depth - 1), st.just(False)))
    if draw(st.integers(0, 3)) == 0:
        schema[draw(st.sampled_from(["minItems", "maxItems"]))] = draw(st.integers(0, 2))
    return schema


@st.composite
def _combined_schema(draw: st.DrawFn, depth: int) -> Any:
    keyword = draw(st.sampled_from(["anyOf", "oneOf", "allOf", "if", "not"]))
    if keyword == "if":
        return {key: draw(_schema(depth - 1)) for key in ("if", "then")}
    if keyword == "not":
        return {"not": draw(_schema(depth - 1))}
    beside = draw(st.one_of(st.just({}), _schema(depth - 1)))
    branches = draw(st.lists(_schema(depth - 1), min_size=1, max_size=3))
    return {**(beside if isinstance(beside, dict) else {}), keyword: branches}


@cache
def _schema(depth: int) -> st.SearchStrategy[Any]:
    plain = st.one_of(
        _scalar_schema(), st.sampled_from([{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}, {"$ref": "#"}])
    )
    if depth <= 0:
        return plain
    return st.one_of(
        plain,
        st.deferred(lambda: _object_schema(depth)),
        st.deferred(lambda: _array_schema(depth)),
        st.deferred(lambda: _combined_schema(depth)),
    )


@st.composite
def tool_schemas(draw: st.DrawFn) -> dict[str, Any]:
    """Input schemas of tools, with references that may be recursive and unions at any place."""
    root: dict[str, Any] = draw(_object_schema(2))
    if draw(st.integers(0, 3)) == 0:
        root |= draw(_combined_schema(2))
    return root | {"$defs": {"A": draw(_schema(2)), "B": draw(_schema(1))}}


@st.composite
def closed_schemas(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    """Input schemas that say every argument, none of which may be null."""
    leaves: list[dict[str, Any]] = [
        {"type": "string"}, {"type": "integer"}, {"type": "boolean"}, {"enum": ["a", "b"]},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "number", "minimum": -5},
    ]  # fmt: skip
    forms: list[st.SearchStrategy[dict[str, Any]]] = [st.sampled_from(leaves)]
    if depth:
        inner = st.deferred(lambda: closed_schemas(depth - 1))
        forms += [inner, st.builds(lambda items: {"type": "array", "items": items}, inner)]
    properties = draw(st.dictionaries(st.sampled_from(KEYS), st.one_of(forms), max_size=4))
    required = [name for name in properties if draw(st.booleans())]
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


@st.composite
def instances(draw: st.DrawFn, schema: dict[str, Any]) -> Any:
    """Values that the schema probably accepts."""
    return _instance(draw, schema, Document(schema, draft="2020-12"), 0)


def _instance(draw: st.DrawFn, schema: Any, document: Document, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > 6:
        return draw(SCALARS)
    parts = [schema, *([document.target(schema)] if document.target(schema) is not None else [])]
    parts += schema.get("allOf", [])
    for union in ("anyOf", "oneOf"):
        if schema.get(union):
            parts.append(draw(st.sampled_from(schema[union])))
    if len(parts) > 1:
        merged: dict[str, Any] = {}
        for part in parts[1:]:
            value = _instance(draw, part, document, depth + 1)
            if not isinstance(value, dict):
                return value
            merged |= value
        own = _own_instance(draw, schema, document, depth)
        return merged | own if isinstance(own, dict) else own if "type" in schema else merged
    return _own_instance(draw, schema, document, depth)


def _own_instance(draw: st.DrawFn, schema: dict[str, Any], document: Document, depth: int) -> Any:
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return draw(st.sampled_from(schema["enum"]))
    kinds = schema.get("type", draw(st.sampled_from(["object", "string", "integer"])))
    kind = kinds if isinstance(kinds, str) else draw(st.sampled_from(kinds))
    match kind:
        case "object":
            properties = schema.get("properties", {})
            names = [name for name in properties if name in schema.get("required", ()) or draw(st.booleans())]
            names += [name for name in schema.get("required", ()) if name not in properties]
            value = {
                name: _instance(
                    draw, properties.get(name, schema.get("additionalProperties")), document, depth + 1
                )
                for name in names
            }
            if schema.get("additionalProperties", True) is not False and draw(st.integers(0, 3)) == 0:
                value["extra"] = _instance(draw, schema.get("additionalProperties"), document, depth + 1)
            return value
        case "array":
            places = schema.get("prefixItems", [])
            more = [] if schema.get("items") is False else [schema.get("items", {})] * draw(st.integers(0, 2))
            return [_instance(draw, place, document, depth + 1) for place in (*places, *more)]
    return draw(
        {
            "string": TEXTS, "integer": st.integers(-5, 5), "number": NUMBERS, "boolean": st.booleans(),
            "null": st.none(),
        }[kind]
    )  # fmt: skip
