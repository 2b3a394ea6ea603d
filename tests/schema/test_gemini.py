"""Google's OpenAPI subset."""

from __future__ import annotations

import json

import pytest

from mcp_adapters.schema import ArgumentCodec, Loss, check, project

from .linters import lint_gemini


def _project(raw):
    schema = check(raw).schema
    assert schema is not None
    return project(schema, "gemini")


ANY = {"anyOf": [{"type": "number"}, {"type": "boolean"}, {"type": "string"}]}


@pytest.mark.parametrize(
    ("inner", "shown"),
    [
        (
            {"type": ["string", "null"], "enum": ["m", None]},
            {"type": "string", "enum": ["m"], "nullable": True},
        ),
        (
            {"type": ["string", "integer", "null"]},
            {"anyOf": [{"type": "string", "nullable": True}, {"type": "integer", "nullable": True}]},
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"},
            {"type": "string", "nullable": True, "description": "d"},
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "d"},
            {"anyOf": [{"type": "string", "description": "d"}, {"type": "integer"}]},
        ),
        ({"const": "fast"}, {"type": "string", "enum": ["fast"]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "integer", "description": "One of: 1, 2."}),
        ({"type": "string", "enum": ["", "a"]}, {"type": "string", "description": 'One of: "", "a".'}),
        ({"type": "string", "format": "uri"}, {"type": "string", "description": "Format: uri."}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        (
            {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9},
            {"type": "integer", "minimum": 1, "maximum": 8},
        ),
        (
            {"type": "number", "exclusiveMinimum": 0},
            {"type": "number", "minimum": 0, "description": "Greater than 0."},
        ),
        (
            {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            {"type": "array", "items": {"type": "string"}, "description": "Without duplicates."},
        ),
        ({"type": "array"}, {"type": "array", "items": ANY}),
        ({}, ANY),
        ({"type": "null"}, {"type": "string", "nullable": True, "description": "Always null."}),
        (
            {"anyOf": [{"type": "null", "title": "a"}, {"type": "null"}]},
            {"type": "string", "nullable": True, "description": "Always null."},
        ),
        (
            {"type": "object", "description": "free"},
            {"type": "string", "description": "free\nObject written as JSON text."},
        ),
        (
            {"type": "object", "additionalProperties": {"type": "integer"}},
            {
                "type": "string",
                "description": "Object written as JSON text by the schema "
                '{"additionalProperties": {"type": "integer"}}.',
            },
        ),
        (
            {
                "type": "object",
                "properties": {"x": {"type": "string"}, "y": {"type": "string", "default": "d"}},
                "required": ["y"],
            },
            {
                "type": "object",
                "required": ["y"],
                "properties": {
                    "x": {"type": "string", "default": None},
                    "y": {"type": "string", "description": 'Default: "d".'},
                },
            },
        ),
        (
            {"type": "object", "properties": {"x y": {"type": "string"}}, "required": ["x y"]},
            {
                "type": "object",
                "properties": {"x_y": {"type": "string", "description": "Sent as 'x y'."}},
                "required": ["x_y"],
            },
        ),
    ],
)
def test_an_inner_form_is_said_in_the_subset(inner, shown):
    projection = _project({"type": "object", "properties": {"p": inner}})

    assert projection.schema == {"type": "object", "properties": {"p": shown}}
    assert lint_gemini(projection.schema) == []


def test_a_property_called_title_has_a_description():
    assert _project({"type": "object", "properties": {"title": {"type": "string"}}}).schema["properties"] == {
        "title": {"type": "string", "description": "The title."}
    }


def _deep(levels):
    schema = {"type": "object", "properties": {"end": {"type": "integer"}}}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"in": schema}, "required": ["in"]}
    return schema


def test_what_is_nested_too_deep_is_asked_for_as_json_text_that_the_way_back_reads():
    raw = _deep(8)
    projection = _project(raw)
    arguments = {"in": {"in": {"in": {"in": {"in": {"in": {"in": {"in": {"end": 3}}}}}}}}}
    written = {"in": {"in": {"in": {"in": {"in": {"in": '{"in": {"in": {"end": 3.0}}}'}}}}}}

    decoded = ArgumentCodec(json.dumps(raw), projection.renames).decode(written)

    assert lint_gemini(projection.schema) == []
    assert (decoded.arguments, decoded.problems) == (arguments, ())
    assert "asked for as JSON text" in projection.note


def _list_of(*branches):
    return _project(
        {"type": "object", "properties": {"p": {"type": "array", "items": {"anyOf": list(branches)}}}}
    )


def test_objects_of_a_union_inside_a_list_are_shown_as_one_object():
    """langchain-google-genai keeps one type there, and of an object no properties."""
    circle = {
        "type": "object",
        "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}},
        "required": ["kind", "r"],
    }
    square = {
        "type": "object",
        "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
        "required": ["kind", "side"],
    }
    projection = _list_of(circle, square)

    assert projection.schema["properties"]["p"]["items"] == {
        "type": "object",
        "description": 'Takes one of these forms: kind="circle", r | kind="square", side.',
        "properties": {
            "kind": {"type": "string", "enum": ["circle", "square"]},
            "r": {"type": "number", "default": None},
            "side": {"type": "number", "default": None},
        },
        "required": ["kind"],
    }
    assert (
        Loss(pointer="/properties/p/items", keyword="anyOf", reason="the variants are shown as one object")
        in projection.losses
    )


@pytest.mark.parametrize(
    ("branches", "shown"),
    [
        (["string", "integer"], ["integer", "string"]),
        (["integer", "object"], ["object", "integer"]),
        (["object", "array"], ["object", "array", "string"]),
    ],
)
def test_the_last_type_of_a_union_inside_a_list_can_be_written_without_properties_or_items(branches, shown):
    forms = {
        "object": {"type": "object", "properties": {"x": {"type": "string"}}},
        "array": {"type": "array", "items": {"type": "string"}},
    }
    projection = _list_of(*(forms.get(kind, {"type": kind}) for kind in branches))

    union = projection.schema["properties"]["p"]["items"]["anyOf"]
    assert [branch["type"] for branch in union] == shown


def test_text_in_place_of_an_object_inside_a_list_comes_back_as_the_object():
    inner = {
        "anyOf": [{"type": "object", "properties": {"x": {"type": "string"}}}, {"type": "array", "items": {}}]
    }
    schema = {"type": "object", "properties": {"p": {"type": "array", "items": inner}}}

    decoded = ArgumentCodec(json.dumps(schema)).decode({"p": ['{"x": "a"}', "[1]"]})

    assert (decoded.arguments, decoded.problems) == ({"p": [{"x": "a"}, [1]]}, ())


def test_branches_that_differ_only_in_their_descriptions_are_one():
    union = {"anyOf": [{"type": "string", "description": "A."}, {"type": "string", "description": "B."}]}

    assert _project({"type": "object", "properties": {"p": union}}).schema["properties"] == {
        "p": {"type": "string", "description": "A.\nB."}
    }
