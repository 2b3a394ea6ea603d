"""Tools as the providers' own APIs take them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mcp_adapters import ConfigError, Loss, Toolbox, ToolSpec
from mcp_adapters.catalog import Catalog, build, read_listing
from mcp_adapters.declarations import PROVIDERS, declaration_losses, declare
from mcp_adapters.naming import NamePolicy
from mcp_adapters.providers import ProviderProfile, profile
from mcp_adapters.schema import Dialect, SchemaLimits, check, project

from .conftest import Wire
from .conftest import tool as listed
from .schema.generators import instances, tool_schemas
from .schema.linters import as_the_model_writes, lint_gemini, lint_portable, lint_strict

QUICK = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
TEXT = {"type": "string"}
PAIR = {"type": "object", "properties": {"a": TEXT, "n": {"type": "integer"}}, "required": ["a"]}
MAP = {"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": TEXT}}}
STRICT_PAIR = {
    "type": "object",
    "properties": {"a": TEXT, "n": {"type": ["integer", "null"]}},
    "required": ["a", "n"],
    "additionalProperties": False,
}


def catalog(
    schema: Any,
    dialect: Dialect = "portable",
    *,
    provider: ProviderProfile | None = None,
    text: str = "Does it.",
) -> Catalog:
    tool = {"name": "tool", "description": text, "inputSchema": schema}
    return build(
        [read_listing("one", [{"tools": [tool]}])],
        filters=None,
        names=NamePolicy(),
        kept={},
        dialect=dialect,
        provider=provider,
        limits=SchemaLimits(),
        on_bad_tool="fail",
    )


def spec(schema: Any, dialect: Dialect = "portable") -> ToolSpec:
    [made] = catalog(schema, dialect).specs
    return made


@pytest.mark.parametrize(
    ("provider", "declared"),
    [
        (
            "openai",
            {
                "type": "function",
                "function": {"name": "one_tool", "description": "Does it.", "parameters": PAIR},
            },
        ),
        (
            "openai-responses",
            {
                "type": "function",
                "name": "one_tool",
                "description": "Does it.",
                "parameters": PAIR,
                "strict": False,
            },
        ),
        ("anthropic", {"name": "one_tool", "description": "Does it.", "input_schema": PAIR}),
        ("gemini", {"name": "one_tool", "description": "Does it.", "parameters": PAIR}),
    ],
)
@pytest.mark.parametrize("dialect", ["portable", "gemini"])
def test_a_declaration_has_the_provider_s_form_whatever_the_toolbox_s_dialect(provider, declared, dialect):
    assert declare(spec(PAIR, dialect), provider) == declared


@pytest.mark.parametrize("strict", [True, None])
def test_a_tool_that_can_be_said_in_strict_mode_is_declared_strict(strict):
    tool = spec(PAIR, "portable" if strict else "openai-strict")
    function = declare(tool, "openai", strict=strict)["function"]

    assert function["parameters"] == STRICT_PAIR
    assert function["strict"] is True
    assert function["description"] == "Does it.\n\nOnly the listed properties can be given."
    assert declare(tool, "openai-responses", strict=strict)["strict"] is True


def test_a_tool_that_cannot_be_said_in_strict_mode_is_declared_without_and_the_reason_is_told():
    tool = spec(MAP)

    assert declare(tool, "openai", strict=True) == declare(tool, "openai")
    assert declare(tool, "openai-responses", strict=True)["strict"] is False
    assert declaration_losses(tool, "openai", strict=True) == (
        Loss(
            pointer="/properties/labels",
            keyword="additionalProperties",
            reason="not strict: a map or open object cannot be said in strict mode",
        ),
    )
    assert declaration_losses(tool, "openai") == ()


def test_a_toolbox_for_strict_mode_gives_other_providers_their_own_form_and_openai_what_it_asks_for():
    tool = spec(PAIR, "openai-strict")

    assert declare(tool, "anthropic")["input_schema"] == PAIR
    assert declare(tool, "openai", strict=False)["function"]["parameters"] == PAIR


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_strict_is_refused_for_providers_that_do_not_take_it(provider):
    with pytest.raises(ConfigError, match=provider):
        declare(spec(PAIR), provider, strict=False)


def test_a_tool_without_arguments_has_no_parameters_for_gemini():
    assert declare(spec({"type": "object"}), "gemini") == {"name": "one_tool", "description": "Does it."}


def test_gemini_gets_no_default_of_null_at_any_depth():
    inner = {"type": "object", "properties": {"x": {"anyOf": [TEXT, {"type": "integer"}]}, "default": TEXT}}
    schema = {"type": "object", "properties": {"list": {"type": "array", "items": inner}}}

    assert declare(spec(schema), "gemini")["parameters"] == schema


def test_the_server_s_own_schemas_go_to_every_provider_when_the_user_chose_them():
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": TEXT}}
    tool = spec(schema, "raw")

    assert declare(tool, "openai")["function"]["parameters"] == schema
    assert declare(tool, "anthropic")["input_schema"] == schema
    assert declare(tool, "gemini")["parametersJsonSchema"] == schema


def test_the_note_of_the_toolbox_s_projection_is_replaced_by_that_of_the_declaration():
    tool = spec(MAP, "gemini")

    assert tool.description.startswith("Does it.\n\nThe server accepts more")
    assert declare(tool, "openai")["function"]["description"] == "Does it."


def test_a_description_keeps_to_its_length_and_loses_no_note():
    [tool] = catalog(MAP, provider=profile("azure"), text="word " * 1_000).specs
    declared = declare(tool, "gemini", description_max=1024)

    assert len(declared["description"]) <= 1024
    assert declared["description"].endswith("(asked for as JSON text).")


def test_losses_are_those_of_the_projection_that_is_asked_for():
    tool = spec(MAP, "gemini")

    assert [loss.keyword for loss in tool.losses] == ["properties"]
    assert declaration_losses(tool, "gemini") == tool.losses
    assert declaration_losses(tool, "anthropic") == ()


@pytest.mark.parametrize("strict", [None, True])
@pytest.mark.parametrize("dialect", ["portable", "gemini", "openai-strict"])
@QUICK
@given(schema=tool_schemas())
def test_every_declaration_keeps_the_provider_s_rules(dialect, strict, schema):
    assume(check(schema).schema is not None)
    tool = spec(schema, dialect)
    function = declare(tool, "openai", strict=strict)["function"]

    assert (lint_strict if "strict" in function else lint_portable)(function["parameters"]) == []
    assert lint_portable(declare(tool, "anthropic")["input_schema"]) == []
    assert lint_gemini(declare(tool, "gemini").get("parameters", {"type": "object"})) == []


@pytest.mark.parametrize("shown_in", ["portable", "gemini", "openai-strict", "raw"])
@pytest.mark.parametrize("toolbox_in", ["portable", "gemini", "openai-strict", "raw"])
@QUICK
@given(data=st.data())
def test_arguments_come_back_whichever_dialect_the_model_saw_them_in(toolbox_in, shown_in, data):
    """Keys are renamed at the root for some dialects, everywhere for one, nowhere for another."""
    keys = data.draw(st.permutations(["x y", "x/y", "x_y", "a", "$ref"]))
    inner = {"type": "object", "properties": dict.fromkeys(keys, TEXT), "additionalProperties": False}
    nested = {"type": "array", "items": inner}
    schema = {**inner, "properties": {"a": nested, "x y": inner, **dict.fromkeys(keys[:2], TEXT)}}
    arguments = data.draw(instances(schema))
    made = catalog(schema, toolbox_in)
    written = as_the_model_writes(arguments, project(made.specs[0].input_schema, shown_in).renames)

    decoded = made.codecs["one", "tool"].decode(written)

    assert (decoded.arguments, decoded.problems) == (arguments, ())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_toolbox_declares_its_tools_and_calls_what_the_model_asks_for(wire: Wire, provider):
    with Toolbox({"wire": wire.server(tools=[listed("echo"), listed("other")])}) as toolbox:
        declared = toolbox.to(provider)
        names = [entry.get("function", entry)["name"] for entry in declared]

        assert json.loads(json.dumps(declared)) == declared
        assert names == ["wire_echo", "wire_other"]
        assert toolbox.call(names[0], {"text": "hello"}).text == '{"text": "hello"}'


def test_a_toolbox_passes_strict_on_and_refuses_options_that_nothing_reads(wire: Wire):
    with Toolbox({"wire": wire.server()}) as toolbox:
        [entry, *_] = toolbox.to("openai-responses", strict=True)

        assert set(entry) == {"type", "name", "description", "parameters", "strict"}
        with pytest.raises(TypeError, match="temperature"):
            toolbox.to("openai", temperature=0)
