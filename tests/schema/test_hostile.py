"""Schemas that were made to hurt whoever reads them."""

from __future__ import annotations

import json
import threading
from typing import Any, get_args

import pytest

from mcp_adapters.schema import ArgumentCodec, Dialect, check, describe, project

from .linters import lint_gemini, lint_portable

DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
SCHEMA_KEYWORDS = (
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)


def _chain(length: int, link: Any) -> dict[str, Any]:
    """`$defs` in which each refers to the next by `link`."""
    defs = {f"L{at}": link({"$ref": f"#/$defs/L{at + 1}"}) for at in range(length)}
    inner = {"type": "object", "properties": {"x": {"type": "string"}}}
    return {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/L0"}},
        "$defs": defs | {f"L{length}": inner},
    }


def _survive(raw: dict[str, Any]) -> None:
    """Check, project and decode; every projection is accepted, and no larger than a small page."""
    verdict = check(raw)
    assert verdict.schema is not None
    codec = ArgumentCodec(json.dumps(raw), project(verdict.schema).renames)
    assert lint_portable(project(verdict.schema).schema) == []
    assert lint_gemini(project(verdict.schema, "gemini").schema) == []
    for dialect in DIALECTS:
        assert len(json.dumps(project(verdict.schema, dialect).schema)) < 200_000
    for arguments in ({}, {"a": "x"}, {"a": {"a": {"a": {"a": None}}}}, {"a": "a" * 5_000 + "!"}):
        assert len(describe(codec.decode(arguments).problems, "t")) < 6_500


@pytest.mark.parametrize(
    "link",
    [
        lambda ref: {"type": "object", "properties": {"a": ref, "b": ref}},
        lambda ref: {"anyOf": [ref, ref]},
        lambda ref: {"oneOf": [ref, ref]},
        lambda ref: {"allOf": [ref, ref]},
        lambda ref: {"type": "array", "items": {"anyOf": [ref, {"type": "array", "items": ref}]}},
        lambda ref: {"anyOf": [{"properties": {"a": ref}}, {"properties": {"a": ref}}]},
        lambda ref: {"not": ref, "if": ref, "then": ref, "else": ref},
        lambda ref: {"dependentSchemas": {"a": ref, "b": ref}},
    ],
)
def test_references_that_double_at_each_of_60_levels_stay_small(link):
    _survive(_chain(60, link))


@pytest.mark.parametrize(
    "link",
    [
        lambda ref: ref,
        lambda ref: {"allOf": [ref]},
        lambda ref: {"anyOf": [ref, {"type": "null"}]},
        lambda ref: {"type": "object", "properties": {"a": ref}},
        lambda ref: {"type": "array", "items": ref},
    ],
)
def test_a_chain_of_1500_references_is_no_recursion(link):
    _survive(_chain(1_500, link))


def test_a_long_chain_is_harmless_on_a_thread_with_a_small_stack():
    failures: list[BaseException] = []

    def run() -> None:
        try:
            _survive(_chain(1_500, lambda ref: {"allOf": [ref]}))
        except BaseException as error:
            failures.append(error)

    before = threading.stack_size(512 * 1024)
    thread = threading.Thread(target=run)
    thread.start()
    threading.stack_size(before)
    thread.join()

    assert failures == []


@pytest.mark.parametrize("keyword", SCHEMA_KEYWORDS)
def test_recursion_through_a_keyword_that_holds_a_schema_ends(keyword):
    _survive(
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {keyword: {"$ref": "#/$defs/A"}}},
        }
    )


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "prefixItems"])
def test_recursion_through_a_keyword_that_holds_a_list_ends(keyword):
    _survive(
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {keyword: [{"$ref": "#/$defs/A"}, {"$ref": "#"}]}},
        }
    )


@pytest.mark.parametrize("keyword", ["properties", "patternProperties", "dependentSchemas", "$defs"])
def test_recursion_through_a_keyword_that_holds_a_map_ends(keyword):
    _survive(
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {keyword: {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#"}}}},
        }
    )


def test_a_root_that_is_itself_in_every_way_ends():
    ref = {"$ref": "#"}
    _survive(
        {
            "type": "object",
            "allOf": [ref, ref],
            "anyOf": [ref, ref],
            "oneOf": [ref],
            "properties": {"a": ref, "b": ref},
            "additionalProperties": ref,
            "not": {"not": ref},
        }
    )


def test_the_meta_schema_as_a_tools_schema_ends():
    """It refers to itself through every keyword that there is."""
    inner = {"$ref": "#"}
    maps = {
        key: {"type": "object", "additionalProperties": inner}
        for key in ("properties", "$defs", "dependentSchemas")
    }
    lists = {key: {"type": "array", "items": inner} for key in ("anyOf", "allOf", "oneOf", "prefixItems")}
    singles = dict.fromkeys(SCHEMA_KEYWORDS, inner)
    _survive({"type": "object", "properties": {**maps, **lists, **singles}})


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(x{1000}){1000}",
        "((((x{100}){100}){100}){100})",
        r"(?=a)(a+)+\1$",
        "(" * 5_000,
        "a|" * 50_000,
    ],
)
def test_a_regular_expression_cannot_hang_the_host(pattern):
    _survive({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}})


def test_a_nest_of_100_000_levels_is_one_problem():
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"properties": {"a": deep}}

    assert [problem.pointer for problem in check(deep).problems] == [""]


def test_a_value_that_contains_itself_is_one_problem():
    endless: dict[str, Any] = {"type": "object"}
    endless["properties"] = endless

    assert [problem.pointer for problem in check(endless).problems] == [""]


def test_a_list_of_a_million_values_is_refused_without_a_look_at_each():
    assert len(check({"type": "object", "enum": [{}] * 1_000_000}).problems) == 1


def test_a_megabyte_of_one_text_is_refused_without_being_quoted():
    problems = check({"type": "object", "properties": {"a": {"const": "x" * 2_000_000}}}).problems

    assert [len(problem.reason) < 100 for problem in problems] == [True]


def test_a_list_of_9000_values_passes_as_it_is():
    values = [f"value {number}" for number in range(9_000)]
    schema = check({"type": "object", "properties": {"a": {"enum": values}}}).schema

    assert project(schema).schema["properties"]["a"]["enum"] == values


@pytest.mark.parametrize(
    "name",
    [
        "$ref",
        "$defs",
        "properties",
        "type",
        "default",
        "__proto__",
        "__class__",
        "self",
        "model_config",
        "schema",
        "json",
        "a.b",
        "a b",
        "",
        "\n",
        "天",
        "x" * 200,
        "a/b~c%25",
    ],
)
def test_a_property_of_any_name_passes_and_comes_back(name):
    raw = {
        "type": "object",
        "properties": {name: {"type": "string"}},
        "required": [name],
        "additionalProperties": False,
    }
    schema = check(raw).schema
    assert schema == raw
    for dialect in DIALECTS:
        projection = project(schema, dialect)
        (exposed,) = projection.schema["properties"]
        decoded = ArgumentCodec(json.dumps(raw), projection.renames).decode({exposed: "v"})
        assert (decoded.arguments, decoded.problems) == ({name: "v"}, ())


def test_a_reference_inside_data_is_neither_followed_nor_refused():
    data = {"$ref": "https://example.com/x", "$id": "::", "properties": 5, "type": "objekt"}
    raw = {
        "type": "object",
        "properties": {"a": {"default": data, "enum": [data], "examples": [data]}, "b": {"const": data}},
    }

    assert check(raw).schema == raw
    assert project(raw, "raw").schema == raw
    assert "https://example.com/x" in project(raw).schema["properties"]["a"]["description"]


def test_a_union_that_doubles_with_each_level_of_the_arguments_is_left_to_the_server():
    twice = [
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": [key]} for key in "bc"
    ]
    raw = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"anyOf": twice}}}
    arguments: dict[str, Any] = {}
    for _ in range(60):
        arguments = {"a": arguments}

    assert ArgumentCodec(json.dumps(raw)).decode(arguments).arguments == arguments
