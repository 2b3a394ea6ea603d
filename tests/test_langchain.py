"""MCP tools in LangChain: a real agent, real child processes, a scripted model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from mcp_adapters import Toolbox
from mcp_adapters_langchain import McpTool, McpToolkit

from .conftest import Wire, tool


class ScriptedModel(BaseChatModel):
    """Says what it is told to say, and remembers what it was given."""

    script: list[AIMessage]
    _bound: list[dict[str, Any]] = PrivateAttr(default_factory=list)
    _read: list[BaseMessage] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> ScriptedModel:  # type: ignore[override]
        self._bound[:] = [convert_to_openai_tool(one) for one in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self._read[:] = messages
        answered = sum(isinstance(message, AIMessage) for message in messages)
        return ChatResult(generations=[ChatGeneration(message=self.script[answered])])


def calling(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    return AIMessage(
        "",
        tool_calls=[
            {"name": name, "args": args, "id": f"call-{name}-{n}"} for n, (name, args) in enumerate(calls)
        ],
    )


def said_by_tools(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    return [message for message in messages if isinstance(message, ToolMessage)]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_agent_calls_the_tools_of_two_servers(wire: Wire, asynchronous: bool) -> None:
    model = ScriptedModel(
        script=[calling(("one_echo", {"word": "a"}), ("two_echo", {"word": "b"})), AIMessage("done")]
    )
    with Toolbox({"one": wire.server("one"), "two": wire.server("two")}) as toolbox:
        agent = create_agent(model, toolbox.to("langchain"))
        question = {"messages": [("user", "go")]}
        state = await agent.ainvoke(question) if asynchronous else agent.invoke(question)

    assert [(m.name, m.status, m.content) for m in said_by_tools(state["messages"])] == [
        ("one_echo", "success", '{"word": "a"}'),
        ("two_echo", "success", '{"word": "b"}'),
    ]
    assert state["messages"][-1].content == "done"
    assert (wire.starts("one"), wire.starts("two")) == (1, 1)
    assert [bound["function"]["name"] for bound in model._bound] == ["one_echo", "two_echo"]


def test_what_the_model_can_act_on_reaches_it_as_a_failed_tool_call(wire: Wire) -> None:
    """A failed tool, a protocol error, wrong arguments, a timeout and a dead server; the run goes on."""
    tools = [tool(name, n={"type": "integer"}) for name in ("fail", "refuse", "echo", "hang", "die")]
    script = [
        calling(("wire_fail", {})),
        calling(("wire_refuse", {})),
        calling(("wire_echo", {"n": "many"})),
        calling(("wire_hang", {})),
        calling(("wire_die", {})),
        calling(("wire_echo", {"n": 1})),
        AIMessage("done"),
    ]
    with Toolbox({"wire": wire.server(tools=tools)}, call_timeout=3) as toolbox:
        agent = create_agent(ScriptedModel(script=script), toolbox.to("langchain"))
        messages = said_by_tools(agent.invoke({"messages": [("user", "go")]})["messages"])

    assert [message.status for message in messages] == ["error"] * 5 + ["success"]
    assert [message.name for message in messages] == [
        *("wire_fail", "wire_refuse", "wire_echo", "wire_hang", "wire_die", "wire_echo")
    ]
    failed, refused, wrong, silent, lost, good = (str(message.content) for message in messages)
    assert failed == "it did not work"
    assert "bad arguments, says the server" in refused
    assert "/n" in wrong
    assert "3 s" in silent
    assert "unknown" in lost
    assert good == '{"n": 1}'


def test_the_artifact_has_the_structured_content_as_json_only(wire: Wire) -> None:
    with Toolbox({"wire": wire.server(tools=[tool("structured")])}) as toolbox:
        [structured] = toolbox.to("langchain")
        message = structured.invoke({"type": "tool_call", "id": "1", "name": "wire_structured", "args": {}})

    assert message.artifact["structured_content"] == {"rows": [1, 2, 3]}
    assert json.loads(json.dumps(message.artifact)) == message.artifact


def test_an_image_is_a_block_that_providers_take(wire: Wire) -> None:
    with Toolbox({"wire": wire.server(tools=[tool("picture")])}) as toolbox:
        [picture] = toolbox.to("langchain")
        message = picture.invoke({"type": "tool_call", "id": "1", "name": "wire_picture", "args": {}})

    assert [block["type"] for block in message.content] == ["text", "image"]
    assert all("id" not in block for block in message.content)


NAMES = [
    "config",
    "run_manager",
    "runtime",
    "self",
    "callbacks",
    "args",
    "kwargs",
    "tool_input",
    "x-y",
    "a.b",
    "$c",
    "_d",
]


@pytest.mark.parametrize("name", NAMES)
async def test_every_argument_name_reaches_the_server(wire: Wire, name: str) -> None:
    server = wire.server(tools=[tool("echo", **{name: {"type": "string"}})])
    with Toolbox({"wire": server}) as toolbox:
        [echo] = toolbox.to("langchain")
        call = {"type": "tool_call", "id": "1", "name": "wire_echo", "args": {name: "value"}}
        assert json.loads(echo.invoke(call).content) == {name: "value"}
        assert json.loads((await echo.ainvoke(call)).content) == {name: "value"}


def test_on_tool_error_raise_raises_in_langchains_own_form(wire: Wire) -> None:
    server = wire.server(tools=[tool("fail")])
    with Toolbox({"wire": server}, on_tool_error="raise") as toolbox:
        [fail] = toolbox.to("langchain")
        with pytest.raises(ToolException, match="it did not work"):
            fail.invoke({})


def test_a_tool_without_properties_has_the_form_that_providers_demand(wire: Wire) -> None:
    bare = {"name": "bare", "description": "x", "inputSchema": {"type": "object"}}
    with Toolbox({"wire": wire.server(tools=[bare])}) as toolbox:
        [native] = toolbox.to("langchain")
        assert native.args == {}
        assert convert_to_openai_tool(native)["function"]["parameters"] == {
            "type": "object",
            "properties": {},
        }


def test_the_toolkit_offers_the_same_tools(wire: Wire) -> None:
    with Toolbox({"wire": wire.server()}) as toolbox:
        [native] = McpToolkit(toolbox=toolbox).get_tools()
        assert isinstance(native, McpTool)
        assert native.name == "wire_echo"
        assert native.mcp_tool.id == "wire:echo"
        assert native.metadata == {"mcp": {"server": "wire", "tool": "echo", "annotations": {}}}
        assert native.invoke({}) == "{}"
