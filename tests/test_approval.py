"""A person decides about calls in both frameworks, from one policy; what is not approved is not made."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult

from mcp_adapters import ApprovalPolicy, Toolbox
from mcp_adapters.testing import ScriptedServer
from mcp_adapters_langchain import interrupt_first, interrupt_on
from mcp_adapters_llamaindex import McpAnswerEvent, McpQuestionEvent

from .test_langchain import ScriptedModel, calling, said_by_tools
from .test_llamaindex import scripted

POLICY = ApprovalPolicy(trusted=["s"], overrides={"drop": "deny"})
CALLS = [("s_read", {}), ("s_write", {"n": 1})]


def offering() -> ScriptedServer:
    server = ScriptedServer()
    server.tool("read", "read it", annotations={"readOnlyHint": True})
    server.tool("write", schema={"type": "object", "properties": {"n": {"type": "integer"}}})
    server.tool("drop", "dropped")
    return server


# -- LangChain ------------------------------------------------------------------------------------


def test_the_mapping_for_the_middleware_names_what_is_asked_about() -> None:
    with Toolbox({"s": offering()}, policy=POLICY) as toolbox:
        mapping = interrupt_on(toolbox, POLICY, choices=["approve", "reject"])

    assert sorted(mapping) == ["s_read", "s_write"]  # the other one is not offered
    assert mapping["s_read"] is False
    assert mapping["s_write"]["allowed_decisions"] == ["approve", "reject"]
    assert mapping["s_write"]["description"].startswith("s:write: ")


@pytest.mark.parametrize(
    ("decision", "calls"),
    [
        ({"type": "approve"}, [("read", {}), ("write", {"n": 1})]),
        (
            {"type": "edit", "edited_action": {"name": "s_write", "args": {"n": 5}}},
            [("read", {}), ("write", {"n": 5})],
        ),
        ({"type": "reject", "message": "no"}, [("read", {})]),
    ],
)
def test_langchains_middleware_takes_it(decision: Any, calls: Any) -> None:
    server = offering()
    thread: Any = {"configurable": {"thread_id": "1"}}
    with Toolbox({"s": server}, policy=POLICY) as toolbox:
        agent = create_agent(
            ScriptedModel(script=[calling(CALLS[0]), calling(CALLS[1]), AIMessage("done")]),
            toolbox.to("langchain"),
            middleware=[HumanInTheLoopMiddleware(interrupt_on=interrupt_on(toolbox, POLICY))],
            checkpointer=InMemorySaver(),
        )
        state = agent.invoke({"messages": [("user", "go")]}, thread)
        assert server.calls == [("read", {})]
        assert state["__interrupt__"]
        state = agent.invoke(Command(resume={"decisions": [decision]}), thread)

    assert state["messages"][-1].content == "done"
    assert server.calls == calls


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    ("resume", "calls", "said"),
    [
        ({"decision": "approve"}, [("write", {"n": 1})], '{"n": 1}'),
        ("approve", [("write", {"n": 1})], '{"n": 1}'),
        ({"decision": "edit", "arguments": {"n": 5}}, [("write", {"n": 5})], '{"n": 5}'),
        ({"decision": "edit"}, [], "did not approve"),
        ({"decision": "reject", "message": "not today"}, [], "not today"),
        (True, [], "did not approve"),
        ([], [], "did not approve"),
    ],
)
def test_a_call_interrupts_its_graph_and_is_made_once(
    resume: Any, calls: Any, said: str, asynchronous: bool
) -> None:
    server = offering()
    thread: Any = {"configurable": {"thread_id": "1"}}
    with Toolbox({"s": server}, policy=POLICY, interceptors=[interrupt_first(POLICY)]) as toolbox:
        model = ScriptedModel(script=[calling(*CALLS), AIMessage("done")])
        agent: Any = create_agent(model, toolbox.to("langchain"), checkpointer=InMemorySaver())

        def run(given: Any) -> Any:
            return asyncio.run(agent.ainvoke(given, thread)) if asynchronous else agent.invoke(given, thread)

        [asked] = run({"messages": [("user", "go")]})["__interrupt__"]
        assert {key: asked.value[key] for key in ("type", "name", "arguments")} == {
            "type": "mcp_approval",
            "name": "s_write",
            "arguments": {"n": 1},
        }
        messages = said_by_tools(run(Command(resume=resume))["messages"])

    assert [call for call in server.calls if call[0] != "read"] == calls
    assert said in str(messages[-1].content)
    assert messages[-1].status == ("success" if calls else "error")


def test_outside_of_a_graph_a_call_that_needs_a_word_is_not_made() -> None:
    server = offering()
    with Toolbox({"s": server}, interceptors=[interrupt_first(POLICY)]) as toolbox:
        with pytest.raises(RuntimeError):
            toolbox.call("s_write", {"n": 1})
        assert toolbox.call("s_read").text == "read it"
        assert "the policy forbids" in toolbox.call("s_drop").text

    assert server.calls == [("read", {})]


# -- LlamaIndex -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "calls", "failed"),
    [("accept", [("write", {"n": 1})], False), ("decline", [], True), ("cancel", [], True)],
)
async def test_a_workflow_waits_for_the_word_and_the_call_is_made_once(
    action: Any, calls: Any, failed: bool
) -> None:
    server = offering()
    async with Toolbox({"s": server}, policy=POLICY) as toolbox:
        tools: Any = toolbox.to("llamaindex", approval=POLICY)
        agent = FunctionAgent(tools=tools, llm=scripted(CALLS), streaming=False)
        run = agent.run(user_msg="go")
        asked, results = [], []
        async for event in run.stream_events():
            if isinstance(event, McpQuestionEvent):
                asked.append(event.message)
                content: Any = {} if action == "accept" else None
                answer = McpAnswerEvent(question_id=event.question_id, action=action, content=content)
                run.ctx.send_event(answer)
            if isinstance(event, ToolCallResult):
                results.append((event.tool_name, event.tool_output.is_error))
        await run

    assert asked == ['Call s_write with {"n": 1}?']
    assert sorted(server.calls) == sorted([("read", {}), *calls])
    assert sorted(results) == [("s_read", False), ("s_write", failed)]


@pytest.mark.parametrize("sync", [False, True])
async def test_where_nobody_can_be_asked_the_call_is_not_made(sync: bool) -> None:
    server = offering()
    async with Toolbox({"s": server}) as toolbox:
        tools = {one.metadata.name: one for one in toolbox.to("llamaindex", approval=POLICY)}

        async def called(name: str, **arguments: Any) -> Any:
            return tools[name].call(**arguments) if sync else await tools[name].acall(**arguments)

        write, drop, read = await called("s_write", n=1), await called("s_drop"), await called("s_read")

    assert (write.is_error, drop.is_error, read.is_error) == (True, True, False)
    assert "only after a person's word" in write.content
    assert "the policy forbids" in drop.content
    assert server.calls == [("read", {})]
