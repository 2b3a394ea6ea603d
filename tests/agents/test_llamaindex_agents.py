"""LlamaIndex's own agents, with their own classes, over a toolbox and over the drop-in.

Real child processes; the model is scripted.
"""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import (
    AgentWorkflow,
    CodeActAgent,
    FunctionAgent,
    ReActAgent,
    ToolCallResult,
)
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.objects import ObjectIndex
from llama_index.core.tools import FunctionTool

from mcp_adapters import NamePolicy, Toolbox
from mcp_adapters_llamaindex.compat import BasicMCPClient, McpToolSpec

from ..conftest import Wire, tool
from ..test_llamaindex import run, scripted

WAYS = ("toolbox", "client")


@asynccontextmanager
async def offered(way: str, wire: Wire, key: str = "wire", **script: Any) -> AsyncIterator[list[Any]]:
    """A server's tools with their own names."""
    server = wire.server(key, **script)
    if way == "toolbox":
        async with Toolbox({key: server}, names=NamePolicy(prefix="never")) as toolbox:
            yield toolbox.to("llamaindex")
    else:
        async with BasicMCPClient(server.command, list(server.args)) as client:
            yield await McpToolSpec(client).to_tool_list_async()


def saying(*turns: str) -> MockFunctionCallingLLM:
    """A model that says one text after the other."""
    left = list(turns)

    def reply(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        heard.append("\n".join(str(message.content) for message in messages))
        return ChatMessage(role=MessageRole.ASSISTANT, content=left.pop(0))

    heard: list[str] = []
    llm = MockFunctionCallingLLM(response_generator=reply)
    object.__setattr__(llm, "heard", heard)
    return llm


@pytest.mark.parametrize("way", WAYS)
async def test_a_function_agent_goes_on_after_a_failed_tool(wire: Wire, way: str) -> None:
    async with offered(way, wire, tools=[tool("fail"), tool("echo", n={"type": "integer"})]) as tools:
        answer, results = await run(scripted([("fail", {})], [("echo", {"n": 1})]), tools)

    assert answer == "done"
    assert [(one.tool_name, one.tool_output.is_error) for one in results] == [("fail", True), ("echo", False)]


@pytest.mark.parametrize("way", WAYS)
async def test_a_workflow_hands_over_between_agents_with_their_own_servers(wire: Wire, way: str) -> None:
    def reply(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        made = sum(isinstance(b, ToolCallBlock) for message in messages for b in message.blocks)
        calls = [
            ("look", {"n": 1}),
            ("handoff", {"to_agent": "writer", "reason": "it is found"}),
            ("write", {"n": 2}),
        ]
        if made == len(calls):
            return ChatMessage(role=MessageRole.ASSISTANT, content="written")
        name, arguments = calls[made]
        block = ToolCallBlock(tool_call_id=f"call-{made}", tool_name=name, tool_kwargs=arguments)
        return ChatMessage(role=MessageRole.ASSISTANT, blocks=[block])

    llm = MockFunctionCallingLLM(response_generator=reply)
    one, two = [tool("look", n={"type": "integer"})], [tool("write", n={"type": "integer"})]
    async with (
        offered(way, wire, "one", tools=one) as looking,
        offered(way, wire, "two", tools=two) as writing,
    ):
        options: dict[str, Any] = {"llm": llm, "streaming": False}
        finder = FunctionAgent(
            name="finder", description="Finds.", tools=looking, can_handoff_to=["writer"], **options
        )
        writer = FunctionAgent(name="writer", description="Writes.", tools=writing, **options)
        handler = AgentWorkflow(agents=[finder, writer], root_agent="finder").run(user_msg="go")
        results = [event async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
        answer = str(await handler)

    assert answer == "written"
    assert [(one.tool_name, one.tool_output.is_error) for one in results] == [
        ("look", False),
        ("handoff", False),
        ("write", False),
    ]
    assert (wire.count("tools/call", "one"), wire.count("tools/call", "two")) == (1, 1)


# LlamaIndex's own ReAct agent asks its context a question that its own workflows deprecate.
@pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")
@pytest.mark.parametrize("way", WAYS)
async def test_a_react_agent_reads_the_tool_and_its_answer(wire: Wire, way: str) -> None:
    llm = saying(
        'Thought: I look.\nAction: echo\nAction Input: {"word": "blue"}',
        "Thought: I know.\nAnswer: it is blue",
    )
    async with offered(way, wire, tools=[tool("echo", word={"type": "string"})]) as tools:
        answer = await ReActAgent(tools=tools, llm=llm, streaming=False).run(user_msg="which colour?")

    assert str(answer) == "it is blue"
    asked, again = llm.heard  # type: ignore[attr-defined]
    assert '"word"' in asked
    assert 'Observation: {"word": "blue"}' in again


@pytest.mark.parametrize("way", WAYS)
async def test_a_code_act_agent_is_told_the_signature_and_its_code_calls_the_tool(
    wire: Wire, way: str
) -> None:
    """The code runs in a thread, as an executor of code does."""
    tools = [tool("echo", word={"type": "string"}, **{"x-y": {"type": "integer"}})]
    tools[0]["inputSchema"]["required"], tools[0]["description"] = ["word"], "Say it again."
    code = "print(echo(word='blue'))\nprint(echo(**{'word': 'red', 'x-y': 1}).is_error)"
    llm = saying(f"<execute>{code}</execute>", "It is blue.")
    async with offered(way, wire, tools=tools) as natives:
        known: dict[str, Any] = {one.metadata.name: one.real_fn for one in natives}

        def execute(code: str) -> str:
            """Run code."""
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(code, known)
            return out.getvalue()

        agent = CodeActAgent(code_execute_fn=execute, tools=list(natives), llm=llm, streaming=False)
        answer = await agent.run(user_msg="which colour?")

    assert str(answer) == "It is blue."
    asked, again = llm.heard  # type: ignore[attr-defined]
    assert "def echo(*, word: str, **others)" in asked
    assert '"""\nSay it again.\n' in asked
    assert '{"word": "blue"}\nFalse' in again
    assert wire.count("tools/call") == 2


class Words(BaseEmbedding):
    """Says how often each letter is in a text: near is what is written alike."""

    def _get_text_embedding(self, text: str) -> list[float]:
        counted = Counter(text.lower())
        return [float(counted[letter]) for letter in "abcdefghijklmnopqrstuvwxyz"]

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


@pytest.mark.parametrize("way", WAYS)
async def test_an_object_index_finds_the_tools_that_an_agent_then_has(wire: Wire, way: str) -> None:
    names = ("weather_forecast", "send_postcard", "echo")
    async with offered(way, wire, tools=[tool(name, n={"type": "integer"}) for name in names]) as tools:
        index = ObjectIndex.from_objects(tools, index_cls=VectorStoreIndex, embed_model=Words())
        retriever: Any = index.as_retriever(similarity_top_k=1)
        [found] = retriever.retrieve("Tool name: echo")
        llm = scripted([("echo", {"n": 3})])
        agent = FunctionAgent(tool_retriever=retriever, llm=llm, streaming=False)
        handler = agent.run(user_msg="Tool name: echo")
        results = [event async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
        await handler

    assert found.metadata.name == "echo"
    assert [one.tool_output.content for one in results] == ['{"n": 3}']


@pytest.mark.parametrize("way", WAYS)
async def test_tools_stand_beside_functions_of_the_program(wire: Wire, way: str) -> None:
    async def shout(text: str) -> str:
        """Say it loudly."""
        return text.upper()

    llm = scripted([("echo", {"n": 1}), ("shout", {"text": "x"})])
    async with offered(way, wire, tools=[tool("echo", n={"type": "integer"})]) as tools:
        _, results = await run(llm, [*tools, FunctionTool.from_defaults(async_fn=shout)])

    assert {one.tool_output.content for one in results} == {'{"n": 1}', "X"}
