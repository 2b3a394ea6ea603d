"""MCP tools in LlamaIndex: a real agent, real child processes, a scripted model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.calling import call_tool

from mcp_adapters import Toolbox, ToolExecutionError, ToolResult
from mcp_adapters_llamaindex import McpTool, McpToolSpec

from .conftest import Wire, tool

Calls = Sequence[tuple[str, dict[str, Any]]]


def scripted(*turns: Calls) -> MockFunctionCallingLLM:
    """A model that makes the calls of each turn, one turn after the other, then says "done"."""

    def reply(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        turn = sum(any(isinstance(b, ToolCallBlock) for b in message.blocks) for message in messages)
        if turn == len(turns):
            return ChatMessage(role=MessageRole.ASSISTANT, content="done")
        blocks = [
            ToolCallBlock(tool_call_id=f"call-{turn}-{n}", tool_name=name, tool_kwargs=arguments)
            for n, (name, arguments) in enumerate(turns[turn])
        ]
        return ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks)

    return MockFunctionCallingLLM(response_generator=reply)


async def run(llm: MockFunctionCallingLLM, tools: list[Any]) -> tuple[str, list[ToolCallResult]]:
    handler = FunctionAgent(tools=tools, llm=llm, streaming=False).run(user_msg="go")
    results = [event async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
    return str(await handler), results


async def test_an_agent_calls_the_tools_of_two_servers(wire: Wire) -> None:
    llm = scripted([("one_echo", {"word": "a"}), ("two_echo", {"word": "b"})])
    async with Toolbox({"one": wire.server("one"), "two": wire.server("two")}) as toolbox:
        answer, results = await run(llm, toolbox.to("llamaindex"))

    assert answer == "done"
    assert {(r.tool_name, r.tool_output.content, r.tool_output.is_error) for r in results} == {
        ("one_echo", '{"word": "a"}', False),
        ("two_echo", '{"word": "b"}', False),
    }
    assert (wire.starts("one"), wire.starts("two")) == (1, 1)


async def test_what_the_model_can_act_on_reaches_it_as_a_failed_tool_call(wire: Wire) -> None:
    """A failed tool, a protocol error, wrong arguments, a timeout and a dead server; the run goes on."""
    names = ("fail", "refuse", "echo", "hang", "die")
    tools = [tool(name, n={"type": "integer"}) for name in names]
    turns = [[(f"wire_{name}", {"n": "many"} if name == "echo" else {})] for name in names]
    llm = scripted(*turns, [("wire_echo", {"n": 1})])
    async with Toolbox({"wire": wire.server(tools=tools)}, call_timeout=3) as toolbox:
        answer, results = await run(llm, toolbox.to("llamaindex"))

    assert answer == "done"
    assert [r.tool_output.is_error for r in results] == [True] * 5 + [False]
    failed, refused, wrong, silent, lost, good = (r.tool_output.content for r in results)
    assert failed == "Error: it did not work"
    assert "bad arguments, says the server" in refused
    assert "/n" in wrong
    assert "3 s" in silent
    assert "unknown" in lost
    assert good == '{"n": 1}'
    assert all(text.startswith("Error: ") for text in (failed, refused, wrong, silent, lost))


async def test_the_raw_output_is_the_whole_result_and_blocks_have_text_before_images(wire: Wire) -> None:
    async with Toolbox({"wire": wire.server(tools=[tool("picture"), tool("structured")])}) as toolbox:
        picture, structured = toolbox.to("llamaindex")
        output = await picture.acall()
        raw = (await structured.acall()).raw_output

    assert [type(block) for block in output.blocks] == [TextBlock, ImageBlock]
    assert "image/png" in output.content
    assert isinstance(raw, ToolResult)
    assert raw.structured == {"rows": [1, 2, 3]}


NAMES = [
    "config",
    "run_manager",
    "ctx",
    "self",
    "callbacks",
    "args",
    "kwargs",
    "input",
    "x-y",
    "a.b",
    "$c",
    "_d",
]


@pytest.mark.parametrize("name", NAMES)
async def test_every_argument_name_reaches_the_server(wire: Wire, name: str) -> None:
    server = wire.server(tools=[tool("echo", **{name: {"type": "string"}})])
    async with Toolbox({"wire": server}) as toolbox:
        [echo] = toolbox.to("llamaindex")
        for output in (
            echo.call(**{name: "value"}),
            await echo.acall(**{name: "value"}),
            echo(**{name: "value"}),
        ):
            assert json.loads(output.content) == {name: "value"}
            assert output.raw_input == {name: "value"}


async def test_the_schema_is_the_tools_own_and_a_fresh_copy_each_time(wire: Wire) -> None:
    nested = {"type": "object", "properties": {"deep": {"type": "integer", "minimum": 3}}}
    async with Toolbox({"wire": wire.server(tools=[tool("echo", nested=nested)])}) as toolbox:
        [echo] = toolbox.to("llamaindex")
        schema = toolbox["wire_echo"].model_schema
        echo.metadata.get_parameters_dict()["properties"].clear()

        assert echo.metadata.get_parameters_dict() == schema
        assert echo.metadata.fn_schema.model_json_schema() == schema
        assert echo.metadata.to_openai_tool()["function"]["parameters"] == schema


async def test_a_long_description_is_no_reason_to_fail(wire: Wire) -> None:
    """LlamaIndex refuses more than 1,024 characters unless it is told not to; a tenth of real tools have more."""
    server = wire.server(tools=[{**tool("echo"), "description": "word " * 1000}])
    async with Toolbox({"wire": server}) as toolbox:
        [echo] = toolbox.to("llamaindex")
        assert len(echo.metadata.to_openai_tool()["function"]["description"]) == len("word " * 1000) - 1


# LlamaIndex's own ReAct agent asks its context a question that its own workflows deprecate.
@pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")
async def test_other_agents_and_direct_calls_accept_the_tool(wire: Wire) -> None:
    llm = MockFunctionCallingLLM(
        response_generator=lambda messages, **_: ChatMessage(
            role=MessageRole.ASSISTANT,
            content='Thought: I need it.\nAction: wire_echo\nAction Input: {"word": "a"}'
            if len(messages) < 4
            else "Thought: I can answer.\nAnswer: done",
        )
    )
    async with Toolbox({"wire": wire.server(tools=[tool("echo", word={"type": "string"})])}) as toolbox:
        tools = toolbox.to("llamaindex")
        assert isinstance(tools[0], FunctionTool)
        assert call_tool(tools[0], {"word": "single"}).content == '{"word": "single"}'
        assert tools[0].call("by position").content == '{"word": "by position"}'
        assert str(await ReActAgent(tools=tools, llm=llm, streaming=False).run(user_msg="go")) == "done"

    assert wire.count("tools/call") == 3


async def test_too_many_positional_arguments_are_an_error(wire: Wire) -> None:
    async with Toolbox({"wire": wire.server(tools=[tool("echo", word={"type": "string"})])}) as toolbox:
        [echo] = toolbox.to("llamaindex")
        with pytest.raises(TypeError, match="takes 1 arguments, 2 were given"):
            echo.call("a", "b")


async def test_on_tool_error_raise_raises(wire: Wire) -> None:
    server = wire.server(tools=[tool("fail")])
    async with Toolbox({"wire": server}, on_tool_error="raise") as toolbox:
        [fail] = toolbox.to("llamaindex")
        with pytest.raises(ToolExecutionError, match="it did not work"):
            await fail.acall()


async def test_the_tool_spec_offers_the_same_tools(wire: Wire) -> None:
    async with Toolbox({"wire": wire.server()}) as toolbox:
        spec = McpToolSpec(toolbox)
        [native] = spec.to_tool_list()
        [awaited] = await spec.to_tool_list_async()

        assert isinstance(native, McpTool)
        assert native.metadata.name == awaited.metadata.name == "wire_echo"
        assert native.mcp_tool.id == "wire:echo"
