"""Properties that hold for whatever schema and whatever arguments."""

from __future__ import annotations

import copy
import json
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mcp_adapters.schema import ArgumentCodec, Dialect, check, describe, project
from mcp_adapters.schema.dialects import compile_schema

from .generators import JSON, NEARLY_SCHEMAS, closed_schemas, instances, tool_schemas
from .linters import as_the_model_writes, gemini_as_json_schema, lint_gemini, lint_portable, lint_strict

DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
SLOW = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def _schemas_and_arguments(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    schema = check(draw(tool_schemas())).schema
    assume(schema is not None)
    arguments = draw(instances(schema))
    assume(isinstance(arguments, dict) and _accepts(schema, arguments))
    return schema, arguments


def _accepts(schema: Any, value: Any) -> bool:
    return compile_schema(schema, draft="2020-12").is_valid(value)


@SLOW
@given(_schemas_and_arguments())
def test_whatever_the_server_accepts_the_portable_form_accepts_unless_a_loss_narrows(pair):
    schema, arguments = pair
    projection = project(schema)
    assume(not any(loss.narrows for loss in projection.losses))

    assert _accepts(projection.schema, as_the_model_writes(arguments, projection.renames))


@SLOW
@given(_schemas_and_arguments())
def test_whatever_the_server_accepts_the_gemini_form_accepts_unless_a_loss_narrows(pair):
    schema, arguments = pair
    projection = project(schema, "gemini")
    assume(not any(loss.narrows for loss in projection.losses))

    shown = as_the_model_writes(arguments, projection.renames)
    assert _accepts(gemini_as_json_schema(projection.schema), shown)


@SLOW
@given(tool_schemas())
def test_every_projection_keeps_the_rules_of_its_providers(raw):
    schema = check(raw).schema
    assume(schema is not None)

    assert lint_portable(project(schema).schema) == []
    assert lint_gemini(project(schema, "gemini").schema) == []
    strict = project(schema, "openai-strict")
    assert (lint_strict if strict.strict else lint_portable)(strict.schema) == []


@SLOW
@given(_schemas_and_arguments(), st.sampled_from(DIALECTS))
def test_arguments_that_the_server_accepts_come_back_unchanged(pair, dialect):
    schema, arguments = pair
    projection = project(schema, dialect)

    decoded = ArgumentCodec(json.dumps(schema), projection.renames).decode(
        as_the_model_writes(arguments, projection.renames)
    )

    assert decoded.problems == ()
    assert decoded.arguments == arguments


@SLOW
@given(st.data())
def test_every_null_that_strict_mode_demands_is_taken_away_again(data):
    schema = data.draw(closed_schemas())
    arguments = data.draw(instances(schema))
    projection = project(check(schema).schema, "openai-strict")
    written = _filled(as_the_model_writes(arguments, projection.renames), projection.schema)

    decoded = ArgumentCodec(json.dumps(schema), projection.renames).decode(written)

    assert projection.strict
    assert _accepts(projection.schema, written)
    assert (decoded.arguments, decoded.problems) == (arguments, ())


def _filled(value: Any, form: dict[str, Any]) -> Any:
    """Arguments with null for whatever the form requires beyond them."""
    form = next((branch for branch in form.get("anyOf", ()) if branch["type"] != "null"), form)
    if isinstance(value, dict):
        return {key: _filled(value.get(key), inner) for key, inner in form["properties"].items()}
    return [_filled(inner, form["items"]) for inner in value] if isinstance(value, list) else value


@SLOW
@given(tool_schemas(), st.sampled_from(DIALECTS))
def test_neither_check_nor_projection_changes_what_it_is_given(raw, dialect):
    before = copy.deepcopy(raw)
    schema = check(raw).schema
    assert raw == before
    assume(schema is not None)
    kept = copy.deepcopy(schema)

    _overwrite(project(schema, dialect).schema)

    assert schema == kept


def _overwrite(node: Any) -> None:
    for inner in list(node.values() if isinstance(node, dict) else node):
        if isinstance(inner, (dict, list)):
            _overwrite(inner)
            inner.clear()


@SLOW
@given(tool_schemas(), st.sampled_from(DIALECTS))
def test_a_projection_is_the_same_each_time(raw, dialect):
    schema = check(raw).schema
    assume(schema is not None)

    assert project(schema, dialect) == project(json.loads(json.dumps(schema)), dialect)


@SLOW
@given(st.one_of(JSON, NEARLY_SCHEMAS), JSON)
def test_no_foreign_exception_leaves_whatever_json_comes_in(raw, arguments):
    verdict = check(raw)

    assert (verdict.schema is None) == bool(verdict.problems)
    if verdict.schema is None:
        return
    for dialect in DIALECTS:
        renames = project(verdict.schema, dialect).renames
        decoded = ArgumentCodec(json.dumps(verdict.schema), renames).decode(arguments)
        assert len(describe(decoded.problems, "tool")) < 10_000


@SLOW
@given(NEARLY_SCHEMAS, JSON)
def test_what_looks_like_a_schema_below_a_property_is_refused_or_projected(inner, arguments):
    raw = {"type": "object", "properties": {"a": inner}, "$defs": {"a": {"type": "string"}}}
    verdict = check(raw)
    if verdict.schema is None:
        assert verdict.problems
        return

    assert lint_portable(project(verdict.schema).schema) == []
    assert lint_gemini(project(verdict.schema, "gemini").schema) == []
    ArgumentCodec(json.dumps(raw)).decode({"a": arguments})


@pytest.mark.parametrize("dialect", DIALECTS)
@SLOW
@given(arguments=JSON)
def test_arguments_of_any_json_are_decoded_or_refused_with_a_reason(dialect, arguments):
    schema = {"type": "object", "properties": {"x y": {"type": "integer"}}, "additionalProperties": False}
    codec = ArgumentCodec(json.dumps(schema), project(schema, dialect).renames)

    decoded = codec.decode(arguments)

    assert bool(decoded.problems) or _accepts(schema, decoded.arguments)
