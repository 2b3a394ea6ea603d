"""Which schemas can be used, which are repaired, and why the others are not."""

from __future__ import annotations

import socket

import pytest

from mcp_adapters.schema import SchemaLimits, SchemaProblem, check
from mcp_adapters.schema.dialects import compile_schema

DRAFT_04 = "http://json-schema.org/draft-04/schema#"
DRAFT_06 = "http://json-schema.org/draft-06/schema#"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def _property(schema: object) -> dict[str, object]:
    return {"type": "object", "properties": {"a": schema}}


def _pointers(raw: object) -> list[str]:
    return [problem.pointer for problem in check(raw).problems]


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"type": ["object", "null"], "properties": {"a": {"type": "string"}}},
        {"$schema": DRAFT_2020, "type": "object"},
        {"$schema": DRAFT_2019, "type": "object"},
        {
            "$schema": DRAFT_07,
            "type": "object",
            "properties": {"a": {"items": [{}], "additionalItems": False}},
        },
        {"$schema": DRAFT_06, "type": "object", "properties": {"a": {"exclusiveMinimum": 1}}},
        {
            "$schema": DRAFT_04,
            "type": "object",
            "properties": {"a": {"minimum": 1, "exclusiveMinimum": True}},
        },
        _property({"$ref": "#"}),
        _property({"$ref": "#/properties/a/x", "x": {"type": "string"}}),
        _property({"default": {"$ref": "https://example.com/x"}, "enum": [{"$ref": "#/nope"}]}),
        {"type": "object", "properties": {"$ref": {"type": "string"}}},
        _property({"$ref": "#name"}) | {"$defs": {"A": {"$anchor": "name"}}},
        _property({"$ref": "#/$defs/a~1b%25"}) | {"$defs": {"a/b%": {}}},
        _property({"$ref": "other#/$defs/B"})
        | {"$id": "https://x.test/root", "$defs": {"O": {"$id": "other", "$defs": {"B": {}}}}},
        _property({"$ref": "#/$defs/A"})
        | {"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
    ],
)
def test_a_schema_that_describes_an_object_passes_unchanged(raw):
    verdict = check(raw)

    assert (verdict.schema, verdict.problems, verdict.repairs) == (raw, (), ())
    assert verdict.schema is not raw


@pytest.mark.parametrize(
    ("raw", "repaired", "pointers"),
    [
        ({}, {"type": "object"}, [""]),
        ({"$schema": DRAFT_07}, {"$schema": DRAFT_07, "type": "object"}, [""]),
        ({"type": "object", "properties": None}, {"type": "object"}, ["/properties"]),
        ({"type": "object", "required": None}, {"type": "object"}, ["/required"]),
        ({"type": "object", "properties": []}, {"type": "object", "properties": {}}, ["/properties"]),
        ({"type": None}, {"type": "object"}, ["/type", ""]),
        (
            _property({"properties": None, "enum": None}),
            _property({}),
            ["/properties/a/properties", "/properties/a/enum"],
        ),
        (_property({"default": None, "const": None}), _property({"default": None, "const": None}), []),
        (_property({"type": "any"}), _property({}), ["/properties/a/type"]),
        (_property({"required": ["x", "x"]}), _property({"required": ["x"]}), ["/properties/a/required"]),
        (_property({"type": ["null", "null"]}), _property({"type": ["null"]}), ["/properties/a/type"]),
        (
            _property({"description": 3, "examples": "x"}),
            _property({}),
            ["/properties/a/description", "/properties/a/examples"],
        ),
        (_property({"pattern": "["}), _property({}), ["/properties/a/pattern"]),
        (
            _property({"patternProperties": {"(": {}, "^b": {}}, "additionalProperties": False}),
            _property({"patternProperties": {"^b": {}}}),
            ["/properties/a/patternProperties"],
        ),
        (
            _property({"$ref": "#/$defs/Page[Item]"}) | {"$defs": {"Page[Item]": {}}},
            _property({"$ref": "#/$defs/Page%5BItem%5D"}) | {"$defs": {"Page[Item]": {}}},
            ["/properties/a/$ref"],
        ),
        (
            {"$schema": "https://x.test/mine", "type": "object"},
            {"$schema": DRAFT_2020, "type": "object"},
            ["/$schema"],
        ),
        (_property({"items": [{}]}), _property({"items": [{}]}) | {"$schema": DRAFT_07}, [""]),
        (
            _property({"minimum": 1, "exclusiveMinimum": True}),
            _property({"minimum": 1, "exclusiveMinimum": True}) | {"$schema": DRAFT_04},
            [""],
        ),
    ],
)
def test_what_can_only_be_meant_one_way_is_repaired_with_a_note(raw, repaired, pointers):
    verdict = check(raw)

    assert verdict.schema == repaired
    assert [note.pointer for note in verdict.repairs] == pointers


@pytest.mark.parametrize(
    ("raw", "pointers"),
    [
        (None, [""]),
        (True, [""]),
        (False, [""]),
        ("object", [""]),
        ([], [""]),
        ({"type": "array", "items": {}}, [""]),
        ({"type": "objekt"}, ["/type"]),
        ({"enum": ["a"]}, [""]),
        ({"const": 1}, [""]),
        ({"not": {}}, [""]),
        ({"allOf": [{"type": "string"}]}, [""]),
        ({"anyOf": [{"type": "string"}, False]}, [""]),
        ({"$ref": "#/$defs/S", "$defs": {"S": {"type": "string"}}}, [""]),
        (_property({"type": "strnig"}), ["/properties/a/type"]),
        (_property("string"), ["/properties/a"]),
        (_property({"required": True}), ["/properties/a/required"]),
        (_property({"minLength": -1}), ["/properties/a/minLength"]),
        (_property({"$ref": "#/$defs/Nope"}), ["/properties/a/$ref"]),
        (_property({"$ref": "#nope"}), ["/properties/a/$ref"]),
        (_property({"$ref": "#/properties/a/default", "default": "text"}), ["/properties/a/$ref"]),
        (_property({"$ref": "#/x"}) | {"x": {"type": 5}}, ["/x/type"]),
        (_property({"$dynamicRef": "#nope"}), ["/properties/a/$dynamicRef"]),
        (_property({"$ref": "https://example.com/s.json"}), ["/properties/a/$ref"]),
        (_property({"$ref": "file:///etc/passwd"}), ["/properties/a/$ref"]),
        (_property({"$ref": "../other.json#/x"}), ["/properties/a/$ref"]),
        (_property({"$ref": "http://["}), ["/properties/a/$ref"]),
        (_property({"$ref": "#/properties/" + "9" * 5000}), ["/properties/a/$ref"]),
        ({"$schema": DRAFT_07} | _property({"prefixItems": 5}), ["/properties/a/prefixItems"]),
        (_property({"default": float("nan")}), ["/properties/a/default"]),
        (_property({"default": float("inf")}), ["/properties/a/default"]),
        (_property({"default": "\ud800"}), ["/properties/a/default"]),
        (_property({"default": 10**5000}), ["/properties/a/default"]),
        (_property({"default": {1: 2}}), ["/properties/a/default"]),
        (_property({"default": {1, 2}}), ["/properties/a/default"]),
        (_property({"default": b"x"}), ["/properties/a/default"]),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_at_its_place(raw, pointers):
    verdict = check(raw)

    assert verdict.schema is None
    assert [problem.pointer for problem in verdict.problems] == pointers


def test_every_problem_is_reported_not_only_the_first():
    raw = {
        "type": "object",
        "properties": {
            "a": {"type": "strnig"},
            "b": {"$ref": "#/no"},
            "c": {"$ref": "https://x.test/"},
            "d": {"minItems": "x"},
        },
    }

    assert sorted(_pointers(raw)) == [
        "/properties/a/type",
        "/properties/b/$ref",
        "/properties/c/$ref",
        "/properties/d/minItems",
    ]


def test_a_problem_says_where_what_and_what_to_do():
    assert check(_property({"$ref": "#/$defs/Nope"})).problems == (
        SchemaProblem(
            pointer="/properties/a/$ref",
            reason="the reference '#/$defs/Nope' leads nowhere",
            remedy="put the schema into '$defs' and refer to it there",
        ),
    )


def test_a_reason_is_short_whatever_the_schema_holds():
    problems = check(_property({"minLength": ["x" * 10_000]})).problems

    assert [len(problem.reason) < 300 for problem in problems] == [True]


def _nest(levels: int) -> dict[str, object]:
    schema: dict[str, object] = {}
    for _ in range(levels - 1):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    ("limits", "raw", "passes"),
    [
        (SchemaLimits(), _nest(64), True),
        (SchemaLimits(), _nest(65), False),
        (SchemaLimits(depth=3), _property({}), True),
        (SchemaLimits(depth=2), _property({}), False),
        (SchemaLimits(nodes=4), _property({}), True),
        (SchemaLimits(nodes=3), _property({}), False),
        (SchemaLimits(bytes=60), _property({"title": "é" * 10}), False),
        (SchemaLimits(bytes=90), _property({"title": "é" * 10}), True),
        (SchemaLimits(), _property({"enum": ["x" * 300_000]}), False),
        (SchemaLimits(), _property({"enum": list(range(20_000))}), False),
    ],
)
def test_the_limits_are_kept(limits, raw, passes):
    assert (check(raw, limits=limits).problems == ()) == passes


def test_a_limit_is_one_problem_that_names_the_limit():
    problems = check(_nest(70)).problems

    assert [problem.reason for problem in problems] == ["the schema is nested deeper than 64 levels"]


def test_a_depth_that_no_reader_takes_is_refused():
    with pytest.raises(ValueError, match="depth=129"):
        SchemaLimits(depth=129)


def test_no_reference_is_fetched(monkeypatch):
    """Neither by the check nor by the library behind it."""
    asked: list[object] = []
    monkeypatch.setattr(socket, "create_connection", lambda *args, **_: asked.append(args))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **_: asked.append(args))
    server = socket.create_server(("127.0.0.1", 0))
    server.setblocking(False)
    address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"

    problems = _pointers(_property({"$ref": address}))
    with pytest.raises(ValueError, match="references are not fetched"):
        compile_schema({"$ref": address}, draft="2020-12")

    with server, pytest.raises(BlockingIOError):
        server.accept()
    assert (problems, asked) == (["/properties/a/$ref"], [])
