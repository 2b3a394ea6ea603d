"""OpenAI's strict mode: made where it is honest, else the portable form with the reasons."""

from __future__ import annotations

import pytest

from mcp_adapters.schema import SchemaLimits, check, project

from .linters import lint_strict


def _project(raw, dialect="openai-strict"):
    schema = check(raw, limits=SchemaLimits(nodes=20_000)).schema
    assert schema is not None
    return project(schema, dialect)


def _closed(properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("inner", "shown"),
    [
        ({"type": "integer"}, {"type": ["integer", "null"]}),
        ({"type": ["integer", "null"]}, {"type": ["integer", "null"]}),
        ({"type": "string", "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
        (
            {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "description": "d"},
            {
                "description": "d\nuniqueItems: true.",
                "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
            },
        ),
        ({"type": "integer", "default": 10}, {"type": ["integer", "null"], "description": "default: 10."}),
        ({"type": "string", "format": "uri"}, {"type": ["string", "null"], "description": "format: uri."}),
        ({"type": "string", "format": "uuid"}, {"type": ["string", "null"], "format": "uuid"}),
        (
            {"type": "object", "properties": {"x": {"type": "null"}}, "additionalProperties": False},
            {"anyOf": [_closed({"x": {"type": "null"}}), {"type": "null"}]},
        ),
    ],
)
def test_an_optional_property_is_required_and_may_be_null(inner, shown):
    projection = _project({"type": "object", "properties": {"p": inner}, "additionalProperties": False})

    assert (projection.strict, projection.schema) == (True, _closed({"p": shown}))
    assert lint_strict(projection.schema) == []


def test_a_required_property_is_not_made_nullable():
    projection = _project({"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]})

    assert projection.schema == _closed({"p": {"type": "string"}})
    assert projection.note == "Only the listed properties can be given."


def _nested(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize(
    "inner",
    [
        {},
        True,
        {"type": "array"},
        {"type": "object"},
        {"type": "object", "additionalProperties": True},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": True},
        {"type": "object", "properties": {"x": {"type": "string"}}, "patternProperties": {"^x-": {}}},
        {"$ref": "#"},
        {"type": "object", "properties": {"x": {"type": "string"}}, "maxProperties": 1},
        {"type": "object", "properties": {"x": {"type": "string"}}, "not": {"required": ["x"]}},
        {"anyOf": [{"type": "object", "properties": {"k": {"const": c}}, "required": ["k"]} for c in "ab"]},
        {
            "type": "object",
            "properties": {"x": {"type": "string"}},
            "anyOf": [{"required": ["x"]}, {"required": ["y"]}],
        },
        _nested(10),
        {"enum": [f"v{i}" for i in range(1001)]},
        {"enum": [f"{i:060}" for i in range(300)]},
    ],
)
def test_what_strict_mode_cannot_say_honestly_gets_the_portable_form_with_the_reason(inner):
    raw = {"type": "object", "properties": {"p": inner}, "required": ["p"]}
    projection, portable = _project(raw), _project(raw, "portable")
    reasons = [loss for loss in projection.losses if loss.reason.startswith("not strict: ")]

    assert (projection.strict, projection.schema) == (False, portable.schema)
    assert reasons
    assert not any(loss.narrows for loss in reasons)


@pytest.mark.parametrize(
    ("raw", "strict"),
    [
        ({"type": "object", "properties": {}}, True),
        ({"type": "object", "additionalProperties": False}, True),
        ({"type": "object"}, False),
        ({}, False),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": True}, False),
        ({"type": "object", "properties": {f"p{i}": {"type": "null"} for i in range(5_001)}}, False),
    ],
)
def test_a_tool_is_strict_only_if_its_arguments_are_all_known(raw, strict):
    assert _project(raw).strict == strict
