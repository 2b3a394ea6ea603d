"""Names, filters and providers' limits in an open toolbox, with both frameworks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from mcp_adapters import ConfigError, NamePolicy, StdioServer, Toolbox, ToolboxLoadError, ToolNotFoundError
from mcp_adapters.naming import rename_map

from .conftest import Wire, tool
from .test_llamaindex import run, scripted

ODD = ["files/read", "a.b", "x y", "GET:/items/{id}", "天气", "handoff"]


@pytest.fixture
def odd(wire: Wire) -> Any:
    return wire.server(tools=[tool(name) for name in ODD])


@pytest.mark.parametrize("prefix", ["always", "never", "on_clash"])
async def test_every_part_of_both_frameworks_uses_one_legal_name(odd: StdioServer, prefix: Any) -> None:
    """What the model is given, what the agent looks up, and what the tool is called are the same."""
    async with Toolbox({"wire": odd}, names=NamePolicy(prefix=prefix)) as toolbox:
        names = [one.name for one in toolbox]
        langchain, llamaindex = toolbox.to("langchain"), toolbox.to("llamaindex")

    assert all(NamePolicy().rule.allows(name) for name in names)
    assert len(set(names)) == len(ODD)
    assert "handoff" not in names
    assert [native.name for native in langchain] == names
    assert [convert_to_openai_tool(native)["function"]["name"] for native in langchain] == names
    assert [native.metadata.name for native in llamaindex] == names
    assert [native.metadata.get_name() for native in llamaindex] == names
    assert [native.metadata.to_openai_tool()["function"]["name"] for native in llamaindex] == names


async def test_a_llamaindex_agent_reaches_every_tool_and_the_server_gets_its_own_name(
    wire: Wire, odd: StdioServer
) -> None:
    async with Toolbox({"wire": odd}) as toolbox:
        _, results = await run(scripted(*[[(one.name, {})] for one in toolbox]), toolbox.to("llamaindex"))

    assert [result.tool_output.is_error for result in results] == [False] * len(ODD)
    called = [e["params"]["name"] for e in wire.events() if e.get("method") == "tools/call"]
    assert called == ODD


def test_a_name_that_was_given_stays_with_its_tool_over_refreshes(wire: Wire) -> None:
    """A server that later publishes another tool's exposed name as its own does not get it."""
    server = wire.server(tools=[tool("x/y")])
    with Toolbox({"wire": server}) as toolbox:
        [given] = [one.name for one in toolbox]
        wire.rewrite(tools=[tool("x_y"), tool("x/y"), tool("new")])
        toolbox.refresh()
        assert toolbox[given].remote_name == "x/y"
        assert len({one.name for one in toolbox}) == 3
        wire.rewrite(tools=[tool("x_y")])
        toolbox.refresh()
        with pytest.raises(ToolNotFoundError, match="no longer"):
            toolbox[given]


def test_a_model_that_writes_a_name_a_little_differently_is_understood(wire: Wire) -> None:
    with Toolbox(
        {"wire": wire.server(tools=[tool("get-item"), tool("Set_Item"), tool("set-item")])}
    ) as toolbox:
        assert toolbox["wire_get_item"].remote_name == "get-item"
        assert toolbox["WIRE_GET-ITEM"].remote_name == "get-item"
        with pytest.raises(ToolNotFoundError, match="could mean any of") as caught:
            toolbox["wire_SET_ITEM"]

    assert set(caught.value.closest) == {"wire_Set_Item", "wire_set-item"}


def test_more_tools_than_the_provider_takes_are_an_error_with_the_counts_of_each_server(wire: Wire) -> None:
    servers = {
        "many": wire.server("many", tools=[tool(f"t{n}") for n in range(120)]),
        "few": wire.server("few", tools=[tool(f"t{n}") for n in range(9)]),
    }
    with pytest.raises(ToolboxLoadError, match="129 tools are more than the 128") as caught:
        Toolbox(servers, provider="openai").open()
    assert "'many' has 120, 'few' has 9" in str(caught.value)
    assert "ToolFilter" in str(caught.value)

    with Toolbox(servers, provider="anthropic") as toolbox:
        assert len(toolbox) == 129


def test_a_description_is_cut_to_the_providers_length_and_no_further(wire: Wire) -> None:
    server = wire.server(tools=[{**tool("echo"), "description": "word " * 1000}])
    with Toolbox({"wire": server}, provider="azure") as toolbox:
        assert 900 < len(toolbox["wire_echo"].description) <= 1024
        assert toolbox["wire_echo"].description.endswith("word…")
    with Toolbox({"wire": server}, provider="openai") as toolbox:
        assert len(toolbox["wire_echo"].description) == 4999


def test_a_policy_for_one_provider_may_allow_more(wire: Wire) -> None:
    server = wire.server(tools=[tool("read.file"), tool("t" * 100)])
    with Toolbox({"wire": server}, names=NamePolicy.for_provider("gemini")) as toolbox:
        assert toolbox.tools[0].name == "wire_read.file"
    with Toolbox({"wire": server}, names=NamePolicy.for_provider("anthropic")) as toolbox:
        assert [len(one.name) for one in toolbox] == [14, 105]


def test_an_unknown_provider_is_told_with_those_that_there_are(wire: Wire) -> None:
    with pytest.raises(ConfigError, match="anthropic"):
        Toolbox({"wire": wire.server()}, provider="antropic")


def test_filters_of_the_configuration_count_and_those_of_the_program_come_first(wire: Wire) -> None:
    entry = wire.server(tools=[tool("a"), tool("b")]).argv()
    config = {"mcpServers": {"wire": {"command": entry, "tools": {"a": False}}}}
    with Toolbox(json.loads(json.dumps(config))) as toolbox:
        assert [one.remote_name for one in toolbox] == ["b"]


def test_stored_conversations_can_be_renamed_from_one_policy_to_another(odd: StdioServer) -> None:
    with Toolbox({"wire": odd}) as old, Toolbox({"wire": odd}, names=NamePolicy(prefix="never")) as new:
        mapping = rename_map(old.names, new.names)
        before = old.names

    assert mapping["wire_a_b"] == "a_b"
    assert {before.find(name) for name in mapping} == {("wire", name) for name in ODD}
