"""The form of a schema that nearly every provider accepts."""

from __future__ import annotations

import pytest

from mcp_adapters.schema import Loss, Rename, check, project

from .linters import lint_portable


def _project(raw, dialect="portable"):
    schema = check(raw).schema
    assert schema is not None
    return project(schema, dialect)


def _object(properties, **more):
    return {"type": "object", "properties": properties, **more}


NODE = {
    "type": "object",
    "properties": {"v": {"type": "string"}, "next": {"$ref": "#/$defs/Nd"}},
    "required": ["v"],
}
CUT = {
    "type": "object",
    "additionalProperties": True,
    "description": "Nd; its structure is not repeated here",
}


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ({}, _object({})),
        ({"type": "object"}, _object({})),
        ({"type": ["object", "null"]}, _object({})),
        (
            _object({"a": {"type": "string"}}, required=["a"]),
            _object({"a": {"type": "string"}}, required=["a"]),
        ),
        (_object({}, title="T", additionalProperties=False), _object({})),
        (_object({}, required=["a"]), _object({"a": {}}, required=["a"])),
        (_object({"a": True, "b": False}), _object({"a": {}})),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": _object({"x": {"type": "integer"}})}},
            _object({"x": {"type": "integer"}}),
        ),
        (
            {"allOf": [_object({"a": {"type": "string"}}, required=["a"]), _object({"b": {"type": "null"}})]},
            _object({"a": {"type": "string"}, "b": {"type": "null"}}, required=["a"]),
        ),
        (
            {
                "anyOf": [
                    _object({"v": {"type": "string"}}, required=["v"]),
                    _object({"v": {"type": "null"}}, required=["v"]),
                ]
            },
            _object({"v": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, required=["v"]),
        ),
        (
            {
                "oneOf": [
                    _object({"k": {"const": "a"}, "x": {"type": "number"}}, required=["k", "x"]),
                    _object({"k": {"const": "b"}, "y": {"type": "string"}}, required=["k", "y"]),
                ]
            },
            _object(
                {
                    "k": {"type": "string", "enum": ["a", "b"]},
                    "x": {"type": "number"},
                    "y": {"type": "string"},
                },
                required=["k"],
            ),
        ),
        (
            _object({"a": {}, "b": {}}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
            _object({"a": {}, "b": {}}),
        ),
    ],
)
def test_the_root_is_an_object_with_properties_and_nothing_else(raw, shown):
    assert _project(raw).schema == shown


@pytest.mark.parametrize(
    ("inner", "shown"),
    [
        (
            {"$ref": "#/$defs/U", "description": "unit"},
            {"type": "string", "enum": ["c"], "description": "unit"},
        ),
        ({"allOf": [{"$ref": "#/$defs/U"}]}, {"type": "string", "enum": ["c"], "description": "temperature"}),
        ({"allOf": [{"minimum": 1}, {"minimum": 3, "maximum": 9}]}, {"minimum": 3, "maximum": 9}),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": "number"}]}, {"type": "integer"}),
        ({"allOf": [{"enum": [1, 2]}, {"enum": [2.0, True]}]}, {"type": "integer", "enum": [2]}),
        (
            {
                "enum": ["a"],
                "anyOf": [{"type": "string", "minLength": 1}, {"type": "string", "maxLength": 5}],
            },
            {
                "enum": ["a"],
                "anyOf": [{"type": "string", "minLength": 1}, {"type": "string", "maxLength": 5}],
            },
        ),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": ["array", "null"]}, {"type": ["array", "null"], "items": {}}),
        ({"type": "array", "items": False}, {"type": "array", "items": {}, "maxItems": 0}),
        ({"type": ["string", "string"]}, {"type": "string"}),
        ({"const": "fast"}, {"type": "string", "enum": ["fast"]}),
        ({"enum": [1, 2.5]}, {"type": "number", "enum": [1, 2.5]}),
        (
            {"type": "string", "nullable": True, "enum": ["a"]},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        ({"anyOf": [{"not": {}}, {"type": "string"}]}, {"type": "string"}),
        ({"anyOf": [{"type": "string"}]}, {"type": "string"}),
        ({"anyOf": [{}, {"type": "string"}]}, {}),
        (
            {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"anyOf": [_object({"a": {}}, required=["a"]), _object({"b": {}}, required=["b"])]},
        ),
        ({"type": "string", "properties": {"x": {}}, "minimum": 1}, {"type": "string"}),
        ({"type": "object", "required": ["k"]}, _object({"k": {}}, required=["k"])),
        ({"type": "object", "additionalProperties": {}}, {"type": "object", "additionalProperties": True}),
        (
            {
                "type": "object",
                "patternProperties": {"^x": {"type": "string"}},
                "additionalProperties": False,
            },
            {"type": "object", "additionalProperties": {"type": "string"}},
        ),
        (
            {"type": "object", "patternProperties": {"^x": {"type": "string"}}},
            {"type": "object", "additionalProperties": True},
        ),
        (
            {"type": "object", "properties": {"x": {}}, "unevaluatedProperties": False},
            {"type": "object", "properties": {"x": {}}, "additionalProperties": False},
        ),
        ({"example": {"a": "#"}}, {"examples": [{"a": "#"}]}),
        (
            {"type": "string", "pattern": "(?=a)b"},
            {"type": "string", "description": "Pattern: (?=a)b."},
        ),
        (
            {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": False},
            {
                "type": "array",
                "items": {"anyOf": [{"type": "number"}, {"type": "string"}]},
                "maxItems": 2,
                "description": "Elements in order: number, string.",
            },
        ),
    ],
)
def test_an_inner_form_is_said_in_a_way_that_is_accepted_everywhere(inner, shown):
    raw = _object(
        {"p": inner}, **{"$defs": {"U": {"type": "string", "enum": ["c"], "description": "temperature"}}}
    )

    projection = _project(raw)

    assert projection.schema["properties"]["p"] == shown
    assert lint_portable(projection.schema) == []


@pytest.mark.parametrize(
    ("schema_uri", "inner", "shown"),
    [
        (
            "http://json-schema.org/draft-04/schema#",
            {"type": "number", "minimum": 1, "exclusiveMinimum": True},
            {"type": "number", "exclusiveMinimum": 1},
        ),
        (
            "http://json-schema.org/draft-04/schema#",
            {"type": "number", "maximum": 1, "exclusiveMaximum": False},
            {"type": "number", "maximum": 1},
        ),
        (
            "http://json-schema.org/draft-07/schema#",
            {"$ref": "#/definitions/P", "minLength": 3, "title": "t"},
            {"type": "string", "title": "t"},
        ),
        (
            "http://json-schema.org/draft-07/schema#",
            {"type": "array", "items": [{"type": "null"}], "additionalItems": False},
            {
                "type": "array",
                "items": {"type": "null"},
                "maxItems": 1,
                "description": "Elements in order: null.",
            },
        ),
        (
            "http://json-schema.org/draft-07/schema#",
            {"type": "array", "items": [{"type": "null"}], "additionalItems": {"type": "string"}},
            {
                "type": "array",
                "items": {"anyOf": [{"type": "null"}, {"type": "string"}]},
                "description": "Elements in order: null.",
            },
        ),
    ],
)
def test_the_forms_of_older_dialects_are_said_in_the_newest(schema_uri, inner, shown):
    raw = _object({"p": inner}, **{"$schema": schema_uri, "definitions": {"P": {"type": "string"}}})

    assert _project(raw).schema == _object({"p": shown})


def test_data_is_never_taken_for_a_schema():
    data = {"title": "x", "properties": {"a": True}, "$schema": "y", "allOf": 5, "required": "z"}
    raw = _object(
        {
            "p": {"type": "object", "default": data, "examples": [data]},
            "q": {"enum": [data]},
            "r": {"const": data},
        }
    )

    assert _project(raw).schema["properties"] == {
        "p": {"type": "object", "default": data, "examples": [data]},
        "q": {"type": "object", "enum": [data]},
        "r": {"type": "object", "enum": [data]},
    }


def test_data_that_frameworks_take_for_a_reference_is_told_in_words():
    """langchain-core follows whatever is called `$ref`, in data too, and fails for all tools at once."""
    data = {"$ref": "#/nope"}
    raw = _object(
        {"p": {"type": "object", "default": data}, "q": {"enum": [data]}, "r": _object({"$ref": {}})}
    )

    assert _project(raw).schema["properties"] == {
        "p": {"type": "object", "description": 'default: {"$ref": "#/nope"}.'},
        "q": {"type": "object", "description": 'enum: [{"$ref": "#/nope"}].'},
        "r": _object({"_ref": {"description": "Sent as '$ref'."}}),
    }


def test_a_cycle_is_shown_two_levels_deep_and_then_as_a_described_open_object():
    projection = _project(_object({"root": {"$ref": "#/$defs/Nd"}}, **{"$defs": {"Nd": NODE}}))
    inner = {"type": "object", "properties": {"v": {"type": "string"}, "next": CUT}, "required": ["v"]}

    assert projection.schema == _object(
        {
            "root": {
                "type": "object",
                "properties": {"v": {"type": "string"}, "next": inner},
                "required": ["v"],
            }
        }
    )
    assert projection.losses == (
        Loss(
            pointer="/$defs/Nd/properties/next",
            keyword="$ref",
            reason="what contains itself is shown two levels deep",
        ),
    )


def test_keys_that_anthropic_refuses_are_renamed_in_the_root_only():
    raw = _object(
        {
            "filter[id]": {"type": "string"},
            "k" * 65: {},
            "天": {},
            "ok.key": {"type": "object", "properties": {"$eq": {}}},
        },
        required=["filter[id]"],
    )
    projection = _project(raw)
    exposed = list(projection.schema["properties"])

    assert exposed[0] == "filter_id_"
    assert [len(key) <= 64 for key in exposed] == [True] * 4
    assert projection.schema["properties"]["filter_id_"] == {
        "type": "string",
        "description": "Sent as 'filter[id]'.",
    }
    assert projection.schema["required"] == ["filter_id_"]
    assert list(projection.schema["properties"]["ok.key"]["properties"]) == ["$eq"]
    assert projection.renames.entries == (
        Rename(path=(), exposed="filter_id_", original="filter[id]"),
        Rename(path=(), exposed=exposed[1], original="k" * 65),
        Rename(path=(), exposed=exposed[2], original="天"),
    )


def test_a_renamed_key_never_takes_the_name_of_another():
    projection = _project(
        _object({"a b": {"type": "null"}, "a_b": {"type": "string"}, "a/b": {"type": "integer"}})
    )

    assert len(projection.schema["properties"]) == 3
    assert projection.schema["properties"]["a_b"] == {"type": "string"}


@pytest.mark.parametrize(
    ("raw", "note"),
    [
        (_object({"a": {"type": "string"}}), ""),
        (_object({}, description="How to use it."), "How to use it."),
        (
            _object({"a": {}}, **{"not": {"required": ["a", "b"]}}),
            'The server also checks: for the arguments, "not": {"required": ["a", "b"]}.',
        ),
        (
            _object({"a": {"type": "array", "contains": {"const": 1}}}),
            'The server also checks: for /a, "contains": {"const": 1}.',
        ),
        (
            _object({"a": {}, "b": {}}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
            "The arguments take one of these forms: a | b.",
        ),
        (
            _object({}, additionalProperties={"type": "string"}),
            'Further arguments may be given, each of the form {"type": "string"}.',
        ),
        (
            _object({"a": {"type": "array", "prefixItems": [{"type": "string"}]}}),
            "The server accepts more than is shown for /a (further elements are shown like the listed ones).",
        ),
    ],
)
def test_the_note_tells_the_rules_that_the_schema_does_not_show(raw, note):
    assert _project(raw).note == note


def test_every_loss_that_narrows_is_told_in_the_note():
    raw = {"oneOf": [_object({"k": {"const": "a"}, "x": {"type": "number"}}), _object({"k": {"const": "b"}})]}
    projection = _project(raw)

    assert [loss.reason for loss in projection.losses if loss.narrows] == ["'x' as in the forms that name it"]
    assert "'x' as in the forms that name it" in projection.note


def test_the_note_is_bounded():
    raw = _object({f"p{i}": {"not": {"enum": ["x" * 500]}} for i in range(50)}, description="d" * 5_000)

    assert len(_project(raw).note) < 4_000


@pytest.mark.parametrize(
    "raw",
    [{"type": "object", "$comment": "x"}, _object({"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": {}}})],
)
def test_raw_is_the_servers_own_with_properties(raw):
    assert _project(raw, "raw").schema == {"properties": {}} | raw
