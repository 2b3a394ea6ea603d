"""Schemas of real servers, and cases of what providers refuse: by rule, never by equality.

They lie beside the repository; where they do not, these tests are skipped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_adapters.schema import ArgumentCodec, Dialect, check, project
from mcp_adapters.schema.dialects import compile_schema, declared_draft

from .generators import instances
from .linters import as_the_model_writes, gemini_as_json_schema, lint_gemini, lint_portable, lint_strict

_BESIDE = Path(__file__).parents[2] / ".." / "shared"
_CORPUS = sorted((_BESIDE / "corpus").glob("*.json"))
_CASES_FILE = _BESIDE / "cases" / "provider_cases.json"
_EDGE_FILE = _BESIDE / "cases" / "edge_tools.json"
# Refused by design: no object, a reference to the network, a value that is no schema.
_REFUSED = {"root-non-object", "ref-external", "meta-prop-value-string"}
_NO_SCHEMA = {
    "name-llamaindex-dispatch",
    "gem-lc-json-schema-dict",
    "gem-lc-json-schema-object",
    "strict-anthropic-21-tools",
}
# Cases for a conversion that is the caller's choice.
_OPT_IN = {"args-empty-string-optional"}

pytestmark = pytest.mark.skipif(not _CORPUS, reason="no schemas of real servers beside the repository")


def _cases(*kinds: str) -> list[Any]:
    cases = json.loads(_CASES_FILE.read_text()) if _CASES_FILE.exists() else []
    return [
        pytest.param(case, id=case["id"])
        for case in cases
        if case["kind"] in kinds and case["id"] not in _NO_SCHEMA | _OPT_IN
    ]


def _tools(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.read_text()).get("tools", [])
    return found


def _pair(reference: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"$ref": reference}, "b": {"$ref": reference}}}


def _generated(what: str) -> dict[str, Any]:
    """The schemas that the cases describe in words."""
    nested = {f"L{n}": _pair(f"#/$defs/L{n + 1}") for n in range(30)}
    texts = {
        "$defs L0..L30": {
            "type": "object",
            "properties": {"r": {"$ref": "#/$defs/L0"}},
            "$defs": nested | {"L30": {"type": "null"}},
        },
        "object with 25": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(25)}},
        "tools with 201": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(201)}},
        "string enum of 300": {
            "type": "object",
            "properties": {"e": {"enum": [f"{n:060}" for n in range(300)]}},
        },
    }
    return next(schema for start, schema in texts.items() if what.startswith(start))


def _input(case: dict[str, Any]) -> Any:
    return _generated(case["input"]["generate"]) if "generate" in case["input"] else case["input"]


def _dialect(case: dict[str, Any]) -> Dialect:
    if "genai" in case["provider"] or case["provider"].startswith("gemini"):
        return "gemini"
    return "openai-strict" if case["provider"] == "openai-strict" else "portable"


def _lint(schema: dict[str, Any], dialect: Dialect, *, strict: bool) -> list[str]:
    if dialect == "gemini":
        return lint_gemini(schema)
    return lint_strict(schema) if strict else lint_portable(schema)


@pytest.mark.parametrize("case", _cases("schema", "strict", "integration"))
def test_what_a_provider_refused_once_it_gets_in_a_form_that_its_rules_accept(case):
    verdict = check(_input(case))
    assert (verdict.schema is None) == (case["id"] in _REFUSED)
    if verdict.schema is None:
        return
    dialect = _dialect(case)
    projection = project(verdict.schema, dialect)

    assert _lint(projection.schema, dialect, strict=projection.strict) == []
    if case["kind"] == "strict" and dialect == "openai-strict":
        assert projection.strict == (case["expected"]["outcome"] == "convert")


@pytest.mark.parametrize("case", _cases("schema", "strict", "integration"))
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_form_accepts_what_the_original_accepts_unless_a_loss_narrows(case, data):
    schema = check(_input(case)).schema
    if schema is None:
        return
    original = compile_schema(schema, draft=declared_draft(schema) or "2020-12")
    arguments = data.draw(instances(schema))
    projection = project(schema, "gemini" if _dialect(case) == "gemini" else "portable")
    usable = isinstance(arguments, dict) and original.is_valid(arguments)
    if not usable or any(loss.narrows for loss in projection.losses):
        return

    form = compile_schema(gemini_as_json_schema(projection.schema), draft="2020-12")

    assert form.is_valid(as_the_model_writes(arguments, projection.renames))


@pytest.mark.parametrize("case", _cases("args"))
def test_arguments_reach_the_server_in_the_form_that_it_takes(case):
    decoded = ArgumentCodec(json.dumps(case["input"]["schema"])).decode(case["input"]["args"])

    assert decoded.arguments == case["expected"]["sent_to_server"]


@pytest.mark.parametrize(
    "case",
    [case for case in _cases("schema", "strict", "integration") if "args" in case.values[0]["expected"]],
)
def test_what_the_model_writes_by_the_form_reaches_the_server_as_meant(case):
    schema = check(_input(case)).schema
    assert schema is not None
    projection = project(schema, _dialect(case))

    expected = case["expected"]["args"]
    decoded = ArgumentCodec(json.dumps(_input(case)), projection.renames).decode(expected["model"])

    assert (decoded.arguments, decoded.problems) == (expected["sent_to_server"], ())


@pytest.mark.parametrize("file", _CORPUS, ids=lambda file: file.stem)
def test_every_tool_of_a_real_server_is_accepted_by_every_provider(file):
    for tool in _tools(file):
        verdict = check(tool.get("inputSchema"))
        assert verdict.problems == (), tool["name"]
        schema = verdict.schema
        strict = project(schema, "openai-strict")
        found = [
            *lint_portable(project(schema).schema),
            *lint_gemini(project(schema, "gemini").schema),
            *_lint(strict.schema, "openai-strict", strict=strict.strict),
        ]
        assert found == [], tool["name"]


def test_the_tools_that_stood_out_are_accepted_with_both_their_schemas():
    tools = [entry["tool"] for entry in json.loads(_EDGE_FILE.read_text())]
    schemas = [tool[key] for tool in tools for key in ("inputSchema", "outputSchema") if key in tool]
    verdicts = [check(schema) for schema in schemas]

    assert [verdict.problems for verdict in verdicts] == [()] * len(schemas)
    assert [lint_portable(project(verdict.schema).schema) for verdict in verdicts] == [[]] * len(schemas)


def test_only_the_server_that_sends_no_type_needs_repairs():
    repaired = {
        file.stem for file in _CORPUS for tool in _tools(file) if check(tool.get("inputSchema")).repairs
    }

    assert repaired == {"gitlab"}
