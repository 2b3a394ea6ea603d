"""Whether a changed schema accepts more or less, and that "more" is never said of what accepts less."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcp_adapters.lockfile import compare_schemas

A = {"type": "object", "properties": {"a": {"type": "string"}}}
CHANGES: dict[str, tuple[Any, Any, list[tuple[str, str]]]] = {
    "nothing": (A, {"properties": {"a": {"type": "string"}}, "type": "object"}, []),
    "true is the empty schema": ({"items": True}, {"items": {}}, []),
    "absent items take everything": ({}, {"items": {}}, []),
    "words": (
        {"title": "A", "properties": {"a": {"description": "x", "default": 1}}},
        {"title": "B", "properties": {"a": {"description": "y", "default": 2}}},
        [("text", "/properties/a/default"), ("text", "/properties/a/description"), ("text", "/title")],
    ),
    "another argument": (
        A,
        {**A, "properties": {**A["properties"], "b": {}}},
        [("widened", "/properties/b")],
    ),
    "an argument less": (A, {"type": "object", "properties": {}}, [("narrowed", "/properties/a")]),
    "the last argument": (A, {"type": "object"}, [("narrowed", "/properties/a")]),
    "required": (A, {**A, "required": ["a"]}, [("narrowed", "/required")]),
    "no longer required": ({**A, "required": ["a"]}, A, [("widened", "/required")]),
    "another type": ({"type": "string"}, {"type": ["string", "null"]}, [("widened", "/type")]),
    "a type less": ({"type": ["string", "null"]}, {"type": "string"}, [("narrowed", "/type")]),
    "type for type": ({"type": "string"}, {"type": "null"}, [("widened", "/type"), ("narrowed", "/type")]),
    "integers are numbers": ({"type": "integer"}, {"type": "number"}, [("widened", "/type")]),
    "any type": ({"type": "string"}, {}, [("widened", "/type")] * 6),
    "another value": ({"enum": [1]}, {"enum": [2, 1]}, [("widened", "/enum")]),
    "a value less": ({"enum": [1, 2]}, {"enum": [1]}, [("narrowed", "/enum")]),
    "a constant is one value": ({"const": 1}, {"enum": [1]}, []),
    "free values": ({"const": 1}, {}, [("widened", "/enum")]),
    "certain values": ({}, {"enum": [1]}, [("narrowed", "/enum")]),
    "a higher minimum": ({"minimum": 1}, {"minimum": 2}, [("narrowed", "/minimum")]),
    "a lower minimum": ({"minimum": 1}, {"minimum": 0.5}, [("widened", "/minimum")]),
    "no minimum": ({"minimum": 1}, {}, [("widened", "/minimum")]),
    "a maximum": ({}, {"maxLength": 9}, [("narrowed", "/maxLength")]),
    "a lower maximum": ({"maxItems": 9}, {"maxItems": 8}, [("narrowed", "/maxItems")]),
    "a bound that is none": ({"maximum": 1}, {"maximum": "x"}, [("widened", "/maximum")]),
    "in an array": ({"items": {"maximum": 1}}, {"items": {"maximum": 2}}, [("widened", "/items/maximum")]),
    "any items": ({"items": {"maximum": 1}}, {}, [("widened", "/items/maximum")]),
    "closed": ({}, {"additionalProperties": False}, [("narrowed", "/additionalProperties")]),
    "open": ({"additionalProperties": False}, {}, [("widened", "/additionalProperties")]),
    "another alternative": (
        {"anyOf": [{"type": "null"}]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        [("widened", "/anyOf")],
    ),
    "an alternative less": (
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"anyOf": [{"type": "null"}]},
        [("narrowed", "/anyOf")],
    ),
    "within an alternative": (
        {"anyOf": [{"maximum": 1}, {"type": "null"}]},
        {"anyOf": [{"maximum": 2}, {"type": "null"}]},
        [("widened", "/anyOf/0/maximum")],
    ),
    "exactly one of more": (
        {"oneOf": [{"type": "null"}]},
        {"oneOf": [{"type": "null"}, {}]},
        [("narrowed", "/oneOf")],
    ),
    "under a name": (
        {"$defs": {"x/y": {"type": "string"}, "old": {}}},
        {"$defs": {"x/y": {"type": ["string", "null"]}, "new": {}}},
        [("widened", "/$defs/x~1y/type")],
    ),
    "a pattern": ({}, {"pattern": "a"}, [("narrowed", "/pattern")]),
    "another pattern": ({"pattern": "a"}, {"pattern": "b"}, [("narrowed", "/pattern")]),
    "no pattern": ({"pattern": "a"}, {}, [("widened", "/pattern")]),
    "a keyword that nobody knows": ({"x-level": 1}, {}, [("narrowed", "/x-level")]),
    "fewer places": (
        {"prefixItems": [{"maximum": 1}], "items": {"type": "string"}},
        {"prefixItems": [], "items": {"type": "string"}},
        [("narrowed", "/prefixItems")],
    ),
    "no schema at all": ({"items": 3}, {"items": {}}, [("narrowed", "/items")]),
}


@pytest.mark.parametrize(("old", "new", "expected"), CHANGES.values(), ids=CHANGES)
def test_each_change_has_its_direction_and_its_place(
    old: Any, new: Any, expected: list[tuple[str, str]]
) -> None:
    assert [(change.direction, change.pointer) for change in compare_schemas(old, new)] == expected


NAMES = st.sampled_from(["a", "b"])
TYPES = ["string", "integer", "number", "null", "object", "array"]
VALUES = st.recursive(
    st.none() | st.integers(-2, 2) | st.sampled_from(["", "a", "ab", 0.5]),
    lambda values: st.lists(values, max_size=2) | st.dictionaries(NAMES, values, max_size=2),
    max_leaves=6,
)
LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(TYPES)
        | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True),
        "minimum": st.integers(-2, 2),
        "maximum": st.integers(-2, 2),
        "maxLength": st.integers(0, 2),
        "minItems": st.integers(0, 2),
        "pattern": st.sampled_from(["a", "b"]),
        "enum": st.lists(VALUES, min_size=1, max_size=3, unique_by=repr),
        "const": VALUES,
        "uniqueItems": st.booleans(),
        "description": st.sampled_from(["x", "y"]),
    },
)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(TYPES),
            "properties": st.dictionaries(NAMES, inner, max_size=2),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "items": st.booleans() | inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    )


SCHEMAS = st.recursive(LEAVES, _nested, max_leaves=5)


@st.composite
def _edited(draw: st.DrawFn) -> tuple[Any, Any]:
    """A schema, and the same with one or two keywords of it or of another schema's instead."""
    old, other = draw(SCHEMAS), draw(SCHEMAS)
    keywords = draw(st.lists(st.sampled_from(sorted(old.keys() | other.keys()) or ["type"]), max_size=2))
    new = {key: value for key, value in old.items() if key not in keywords}
    return old, new | {key: other[key] for key in keywords if key in other}


@given(_edited(), st.lists(VALUES, max_size=8))
def test_what_is_not_called_narrowed_accepts_all_that_was_accepted(
    pair: tuple[Any, Any], values: list[Any]
) -> None:
    old, new = pair
    assume(all(change.direction != "narrowed" for change in compare_schemas(old, new)))
    # An argument that is new may have been sent before, when nobody had declared it.
    assume(not any(change.what.endswith("is new") for change in compare_schemas(old, new)))
    before, after = (jsonschema_rs.validator_for(schema) for schema in (old, new))
    for value in values:
        assert after.is_valid(value) or not before.is_valid(value)


@given(SCHEMAS)
def test_a_schema_does_not_differ_from_itself_in_another_order(schema: Any) -> None:
    assert compare_schemas(schema, dict(reversed(schema.items()))) == ()
