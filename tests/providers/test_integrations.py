"""What went wrong between tools and the packages that carry them to models, as it was reported.

Each situation is written out here; where the reports lie beside the repository, each of them has a
test in this file. What needs a provider's package runs in the environments of `make servers`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools.calling import call_tool_with_selection

from mcp_adapters import Toolbox
from tests.conftest import Wire
from tests.conftest import tool as listed

from .listings import SHARED
from .test_provider_packages import functions

TEXT = {"type": "string"}
COVERED = {
    "gem-lc-items-anyof",
    "gem-lc-json-schema-dict",
    "gem-lc-json-schema-object",
    "li-metadata-keys",
    "li-optional-null",
    "name-llamaindex-dispatch",
    "ref-langchain-recursive",
    "ref-pointer-percent",
}
"""The reports that the tests below stand for."""
NOT_HELD = {"ollama-client-drops-nested"}
"""Ollama's Python client shows models no more of a property than type, items, description and enum.

No projection says the rest in descriptions.
"""


def sent(extra: str, recipient: str, name: str) -> dict[str, Any]:
    """What a package sent of a tool in `listings.HOSTILE`."""
    [found] = [function for function in functions(extra, recipient) if function["name"] == f"hostile_{name}"]
    schema: dict[str, Any] = found["schema"]
    return schema


def test_every_report_beside_the_repository_has_a_test_here() -> None:
    file = SHARED / "cases" / "provider_cases.json"
    if not file.is_file():
        pytest.skip("no reports beside the repository")
    reports = {case["id"] for case in json.loads(file.read_text()) if case["kind"] == "integration"}

    assert reports == COVERED | NOT_HELD


def test_a_union_inside_a_list_takes_text_after_langchain_s_package_for_gemini_has_cut_it_to_one_type() -> (
    None
):
    """It keeps the last type; text is the one whose values come back as any other."""
    assert sent("langchain", "langchain-google-genai", "inner_union")["properties"]["xs"] == {
        "type": "ARRAY",
        "items": {"type": "STRING"},
    }


def test_langchain_s_package_for_gemini_keeps_the_arguments() -> None:
    """It drops a JSON Schema without a word and fails for a FunctionDeclaration that has one."""
    schema = sent("langchain", "langchain-google-genai", "keys_further_in")

    assert list(schema["properties"]["filter"]["properties"]) == ["_and", "x_y", "title"]


def test_llamaindex_shows_models_the_whole_projection(wire: Wire) -> None:
    """Its own metadata keeps five keywords of the root; rules beside them stand in the description."""
    entry = listed("search", q=TEXT)
    entry["inputSchema"] |= {"additionalProperties": False, "description": "Use one word."}
    with Toolbox({"wire": wire.server(tools=[entry])}) as toolbox:
        [native] = toolbox.to("llamaindex")

        assert native.metadata.get_parameters_dict() == toolbox.tools[0].model_schema
        assert "Use one word." in native.metadata.description


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_an_argument_that_the_model_leaves_out_is_left_out_for_the_server(wire: Wire, framework: str) -> None:
    entry = listed("echo", q=TEXT, n={"type": "integer"})
    entry["inputSchema"]["required"] = ["q"]
    with Toolbox({"wire": wire.server(tools=[entry])}) as toolbox:
        [native] = toolbox.to(framework)
        answer = native.invoke({"q": "a"}) if framework == "langchain" else native.call(q="a").content

    assert answer == '{"q": "a"}'


def test_llamaindex_finds_a_tool_by_the_name_that_it_showed_the_model(wire: Wire) -> None:
    with Toolbox({"wire": wire.server(tools=[listed("a/b")])}) as toolbox:
        [native] = toolbox.to("llamaindex")
        shown = native.metadata.to_openai_tool()["function"]["name"]
        output = call_tool_with_selection(
            ToolSelection(tool_id="1", tool_name=shown, tool_kwargs={}), [native], verbose=False
        )

    assert (shown, output.is_error) == ("wire_a_b", False)
    assert [event["params"]["name"] for event in wire.events() if event.get("method") == "tools/call"] == [
        "a/b"
    ]


@pytest.mark.parametrize("dialect", ["portable", "openai-strict", "gemini"])
def test_langchain_s_own_resolver_finds_no_reference_to_cut(wire: Wire, dialect: Any) -> None:
    """It makes `{}` of the inner reference of a schema that contains itself."""
    node = {
        "type": "object",
        "properties": {"v": TEXT, "next": {"$ref": "#/$defs/Nd"}},
        "required": ["v"],
    }
    entry = listed("walk", root={"$ref": "#/$defs/Nd"})
    entry["inputSchema"]["$defs"] = {"Nd": node}
    with Toolbox({"wire": wire.server(tools=[entry])}, dialect=dialect) as toolbox:
        [native] = toolbox.to("langchain")
        root = convert_to_openai_tool(native)["function"]["parameters"]["properties"]["root"]

    assert "$ref" not in json.dumps(root)
    assert root["properties"]["v"] == TEXT
    assert root["properties"]["next"]["type"] == "object"
    assert root["properties"]["next"]["properties"]["v"] == TEXT


def test_a_reference_in_the_form_of_an_address_is_followed(wire: Wire) -> None:
    entry = listed("page", p={"$ref": "#/$defs/Page%5BItem%5D"})
    entry["inputSchema"]["$defs"] = {"Page[Item]": {"type": "object", "properties": {"id": TEXT}}}
    with Toolbox({"wire": wire.server(tools=[entry])}) as toolbox:
        [native] = toolbox.to("langchain")

        assert convert_to_openai_tool(native)["function"]["parameters"] == {
            "type": "object",
            "properties": {"p": {"type": "object", "properties": {"id": TEXT}}},
        }
