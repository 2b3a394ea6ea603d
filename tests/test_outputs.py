"""What a result may say against its tool's output schema, and what a schema cannot do to a result."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_adapters.outputs import OutputCheck, describe_mismatch

OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def problems(schema: Any, raw: dict[str, Any]) -> str:
    return describe_mismatch(OutputCheck(json.dumps(schema)).problems(raw))


MATCHES = [
    pytest.param(OBJECT, {"n": 1}, id="object"),
    pytest.param({"type": "array", "items": {"type": "string"}}, ["a"], id="array"),
    pytest.param({"type": "null"}, None, id="null"),
    pytest.param({"type": "integer"}, 1, id="number"),
    pytest.param({"$ref": "#/$defs/N", "$defs": {"N": OBJECT}}, {"n": 1}, id="local reference"),
    pytest.param({"type": "string", "nullable": True}, None, id="OpenAPI's nullable"),
    pytest.param({"type": "string", "format": "date"}, "yesterday", id="formats are the server's affair"),
    pytest.param({"items": [{"type": "integer"}], "additionalItems": False}, [1], id="draft-07 unsaid"),
    pytest.param({"$schema": "http://json-schema.org/draft-07/schema#", **OBJECT}, {"n": 1}, id="draft-07"),
    pytest.param({"$schema": "https://example.com/mine", **OBJECT}, {"n": 1}, id="unknown dialect"),
    pytest.param({}, "anything", id="anything"),
]


@pytest.mark.parametrize(("schema", "value"), MATCHES)
def test_what_the_schema_describes_is_accepted(schema: Any, value: Any) -> None:
    assert problems(schema, {"content": [], "structuredContent": value}) == ""


MISMATCHES = [
    pytest.param(OBJECT, {"structuredContent": {"n": "one"}}, 'at /n: "one" is a string', id="type"),
    pytest.param(OBJECT, {"structuredContent": {}}, "at /n: it is required and missing", id="required"),
    pytest.param(OBJECT, {"structuredContent": [1]}, "[1] is an array", id="root"),
    pytest.param(OBJECT, {"structuredContent": None}, "it is null", id="null"),
    pytest.param(OBJECT, {"content": []}, "there is no structured content", id="missing"),
    pytest.param(
        {"items": {"type": "integer"}},
        {"structuredContent": list("abcde")},
        'at /0: "a" is a string; at /1: "b" is a string; at /2: "c" is a string; and 2 more',
        id="many",
    ),
]


@pytest.mark.parametrize(("schema", "raw", "expected"), MISMATCHES)
def test_each_mismatch_is_named_with_its_place(schema: Any, raw: dict[str, Any], expected: str) -> None:
    assert problems(schema, raw) == expected


UNUSABLE = [
    pytest.param({"type": "objekt"}, id="no JSON Schema"),
    pytest.param({"$ref": "https://example.com/schema.json"}, id="reference to the network"),
    pytest.param({"$ref": "#/nowhere"}, id="reference to nothing"),
    pytest.param({"properties": {"a": {"pattern": "("}}}, id="broken pattern"),
    pytest.param({"enum": ["x" * 300_000]}, id="too large"),
    pytest.param({"required": "n"}, id="required is a text"),
]


@pytest.mark.parametrize("schema", UNUSABLE)
@pytest.mark.parametrize("raw", [{"content": []}, {"structuredContent": {"n": "one"}}])
def test_a_schema_that_cannot_be_used_promises_nothing_and_says_why(schema: Any, raw: dict[str, Any]) -> None:
    check = OutputCheck(json.dumps(schema))

    assert check.problems(raw) == ()
    assert check.defect


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
KEYWORDS = st.sampled_from(["type", "$ref", "items", "properties", "enum", "allOf", "not", "$schema", "$id"])


@given(schema=st.dictionaries(KEYWORDS, JSON, max_size=4), value=JSON)
def test_no_schema_and_no_value_makes_the_check_raise(schema: Any, value: Any) -> None:
    check = OutputCheck(json.dumps(schema))
    found = check.problems({"structuredContent": value})

    assert not (found and check.defect)
