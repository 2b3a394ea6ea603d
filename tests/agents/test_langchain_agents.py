"""LangChain's own agents, with their own classes, over a toolbox and over the drop-in.

Real child processes; the model is scripted.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeAlias

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelRequest,
    ToolCallLimitMiddleware,
    ToolCallRequest,
    ToolRetryMiddleware,
)
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command

from mcp_adapters import ConnectionLostError, Handlers, NamePolicy, Toolbox, ToolsChange
from mcp_adapters_langchain.compat import MCPAdapter, MultiServerMCPClient

from ..conftest import Wire, tool
from ..test_langchain import ScriptedModel, calling, said_by_tools

Question: TypeAlias = dict[str, Any]
Listing: TypeAlias = Callable[[], Awaitable[list[BaseTool]]]
GO: Question = {"messages": [("user", "go")]}
WAYS = ("toolbox", "client", "adapter")
PLAIN = NamePolicy(prefix="never")


@asynccontextmanager
async def listing(way: str, wire: Wire, **script: Any) -> AsyncIterator[Listing]:
    """A function that lists a server's tools as they are now, with their own names."""
    servers = {"wire": wire.server(**script)}
    async with AsyncExitStack() as stack:
        if way == "toolbox":
            toolbox = await stack.enter_async_context(Toolbox(servers, names=PLAIN))

            async def listed() -> list[BaseTool]:
                await toolbox.arefresh()
                return toolbox.to("langchain")

            yield listed
        elif way == "client":
            client = MultiServerMCPClient(servers)
            stack.push_async_callback(client.aclose)
            yield client.get_tools
        else:
            adapter = MCPAdapter(servers)
            stack.push_async_callback(adapter.aclose)
            yield lambda: adapter.list_tools(cache_mode="refresh")


def plain(message: ToolMessage) -> tuple[str | None, str, str]:
    """A tool's message, whether its text is a string or in blocks."""
    content = message.content
    return message.name, message.status, content if isinstance(content, str) else str(content[0]["text"])


def plains(state: dict[str, Any]) -> list[tuple[str | None, str, str]]:
    return [plain(message) for message in said_by_tools(state["messages"])]


# -- LangGraph's own nodes ------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
async def test_a_graph_of_ones_own_runs_calls_in_a_tool_node(wire: Wire, way: str) -> None:
    """Several calls of one message at once, a failure among them; the loop ends when the model is done."""
    script = [calling(("echo", {"n": 1}), ("fail", {}), ("echo", {"n": 2})), AIMessage("done")]
    async with listing(way, wire, tools=[tool("echo"), tool("fail")]) as listed:
        tools = await listed()
        model = ScriptedModel(script=script).bind_tools(tools)

        async def ask(state: MessagesState) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState).add_node("model", ask).add_node("tools", ToolNode(tools))
        graph.add_edge(START, "model").add_conditional_edges("model", tools_condition, ["tools", END])
        state = await graph.add_edge("tools", "model").compile().ainvoke(GO)

    assert plains(state) == [
        ("echo", "success", '{"n": 1}'),
        ("fail", "error", "it did not work"),
        ("echo", "success", '{"n": 2}'),
    ]
    assert state["messages"][-1].content == "done"


@pytest.mark.parametrize("way", WAYS)
async def test_a_tool_node_works_in_a_thread_without_a_loop(wire: Wire, way: str) -> None:
    async with listing(way, wire) as listed:
        node = ToolNode(await listed())
        graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").compile()
        messages = [HumanMessage("go"), calling(("echo", {"n": 1}))]
        state = graph.invoke({"messages": messages})

    assert plains(state) == [("echo", "success", '{"n": 1}')]


@pytest.mark.parametrize("way", WAYS)
async def test_bound_tools_are_called_by_hand_with_what_the_model_says(wire: Wire, way: str) -> None:
    model = ScriptedModel(script=[calling(("echo", {"n": 1}))])
    async with listing(way, wire, tools=[tool("echo", n={"type": "integer"})]) as listed:
        [echo] = await listed()
        said = await model.bind_tools([echo]).ainvoke("go")
        message = await echo.ainvoke(said.tool_calls[0])

    assert plain(message) == ("echo", "success", '{"n": 1}')
    assert message.tool_call_id == "call-echo-0"
    assert model._bound == [
        {
            "type": "function",
            "function": {
                "name": "echo",
                "description": "Does what echo does.",
                "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
            },
        }
    ]


# -- middleware -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("decision", "status", "sent"),
    [
        ({"type": "approve"}, "success", [{"n": 1}]),
        ({"type": "reject", "message": "not now"}, "error", []),
        ({"type": "edit", "edited_action": {"name": "echo", "args": {"n": 2}}}, "success", [{"n": 2}]),
    ],
    ids=["approve", "reject", "edit"],
)
async def test_a_person_decides_about_a_call(
    wire: Wire, way: str, decision: Any, status: str, sent: list[Any]
) -> None:
    model = ScriptedModel(script=[calling(("echo", {"n": 1})), AIMessage("done")])
    config: Any = {"configurable": {"thread_id": "t"}}
    async with listing(way, wire) as listed:
        agent = create_agent(
            model,
            await listed(),
            middleware=[HumanInTheLoopMiddleware(interrupt_on={"echo": True})],
            checkpointer=InMemorySaver(),
        )
        paused = await agent.ainvoke(GO, config)
        before = wire.count("tools/call")
        state = await agent.ainvoke(Command(resume={"decisions": [decision]}), config)
    calls = [event["params"]["arguments"] for event in wire.events() if event.get("method") == "tools/call"]

    assert paused["__interrupt__"][0].value["action_requests"][0]["name"] == "echo"
    assert [message.status for message in said_by_tools(state["messages"])] == [status]
    assert (before, calls) == (0, sent)


@pytest.mark.parametrize("way", WAYS)
async def test_a_middleware_decides_by_what_the_server_says_of_the_tool(wire: Wire, way: str) -> None:
    class ReadOnly(AgentMiddleware):
        async def awrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
            assert request.tool is not None
            known = str(request.tool.metadata)
            if (
                "'read_only': True" in known
                or "_only_hint': True" in known
                or "'readOnlyHint': True" in known
            ):
                return await handler(request)
            name, call_id = request.tool_call["name"], request.tool_call["id"]
            return ToolMessage("reads only", name=name, tool_call_id=call_id, status="error")

    tools = [{**tool("echo"), "annotations": {"readOnlyHint": True}}, tool("write")]
    model = ScriptedModel(script=[calling(("echo", {}), ("write", {})), AIMessage("done")])
    async with listing(way, wire, tools=tools) as listed:
        state = await create_agent(model, await listed(), middleware=[ReadOnly()]).ainvoke(GO)

    assert plains(state) == [("echo", "success", "{}"), ("write", "error", "reads only")]
    assert wire.count("tools/call") == 1


@pytest.mark.parametrize("way", WAYS)
async def test_a_limit_of_calls_holds(wire: Wire, way: str) -> None:
    calls = [calling(("echo", {"n": n})) for n in (1, 2)]
    limit = ToolCallLimitMiddleware(tool_name="echo", run_limit=1, exit_behavior="continue")
    model = ScriptedModel(script=[*calls, AIMessage("done")])
    async with listing(way, wire) as listed:
        state = await create_agent(model, await listed(), middleware=[limit]).ainvoke(GO)

    assert [status for _, status, _ in plains(state)] == ["success", "error"]
    assert wire.count("tools/call") == 1


async def test_a_middleware_that_retries_sees_the_failures_that_are_raised(wire: Wire) -> None:
    """With `on_tool_error="raise"`; the cause says whether it may be called again."""

    def lost_on_the_way(error: Exception) -> bool:
        return isinstance(error.__cause__, ConnectionLostError)

    retry = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False, retry_on=lost_on_the_way)
    model = ScriptedModel(script=[calling(("die_once", {})), AIMessage("done")])
    servers = {"wire": wire.server(tools=[tool("die_once")])}
    async with Toolbox(servers, names=PLAIN, on_tool_error="raise") as toolbox:
        agent = create_agent(model, toolbox.to("langchain"), middleware=[retry])
        state = await agent.ainvoke(GO)

    assert plains(state) == [("die_once", "success", "ok")]
    assert (wire.starts(), wire.count("tools/call")) == (2, 2)


# -- tools that come while the agent runs ---------------------------------------------------------


class CurrentTools(AgentMiddleware):
    """Offers the tools as they are at each step, and carries out whatever was offered."""

    def __init__(self, listed: Listing) -> None:
        super().__init__()
        self._listed = listed
        self._offered: dict[str, BaseTool] = {}

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> Any:
        self._offered = {one.name: one for one in await self._listed()}
        return await handler(request.override(tools=[*request.tools, *self._offered.values()]))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        offered = self._offered.get(request.tool_call["name"])
        return await handler(request if offered is None else request.override(tool=offered))


def plugging(wire: Wire, *tools: str) -> BaseTool:
    """A tool of the program that gives the server other tools."""

    def plug_in() -> str:
        """Give the server other tools."""
        wire.rewrite(tools=[tool(name) for name in tools])
        return "plugged in"

    return StructuredTool.from_function(plug_in)


def offers(model: ScriptedModel) -> list[str]:
    """What the model was offered last."""
    return [bound["function"]["name"] for bound in model._bound]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("intercepted", [False, True])
async def test_a_tool_that_the_server_lists_anew_is_used_within_the_run(
    wire: Wire, way: str, intercepted: bool
) -> None:
    script = [calling(("plug_in", {})), calling(("fresh", {}), ("echo", {"n": 1})), AIMessage("done")]
    model = ScriptedModel(script=script)
    async with listing(way, wire) as listed:
        middleware: list[AgentMiddleware] = [CurrentTools(listed)]
        if intercepted:
            middleware.append(ToolCallLimitMiddleware(run_limit=9))
        agent = create_agent(model, [plugging(wire, "echo", "fresh")], middleware=middleware)
        state = await agent.ainvoke(GO)

    assert plains(state) == [
        ("plug_in", "success", "plugged in"),
        ("fresh", "success", "ok"),
        ("echo", "success", '{"n": 1}'),
    ]
    assert offers(model) == ["plug_in", "echo", "fresh"]
    assert wire.starts() == 1


@pytest.mark.parametrize("way", WAYS)
async def test_a_tool_that_is_gone_is_not_offered_any_more_and_a_call_of_it_is_told_so(
    wire: Wire, way: str
) -> None:
    script = [calling(("plug_in", {})), calling(("old", {})), AIMessage("done")]
    model = ScriptedModel(script=script)
    async with listing(way, wire, tools=[tool("echo"), tool("old")]) as listed:
        agent = create_agent(model, [plugging(wire, "echo")], middleware=[CurrentTools(listed)])
        state = await agent.ainvoke(GO)

    name, status, words = plains(state)[1]
    assert (name, status, "old is not a valid tool" in words) == ("old", "error", True)
    assert offers(model) == ["plug_in", "echo"]
    assert wire.count("tools/call") == 0


def test_tools_that_a_server_announces_are_offered_without_asking(wire: Wire) -> None:
    """The synchronous form: the toolbox listens, the middleware reads what is there."""
    heard = threading.Event()

    def changed(change: ToolsChange) -> None:
        if "fresh" in change.added:
            heard.set()

    class Announced(AgentMiddleware):
        def wrap_model_call(self, request: ModelRequest, handler: Any) -> Any:
            return handler(request.override(tools=[*request.tools, *toolbox.to("langchain")]))

        def wrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
            name = request.tool_call["name"]
            if name not in toolbox:
                return handler(request)
            [native] = toolbox.to("langchain", tools=[toolbox[name]])
            return handler(request.override(tool=native))

    def wait() -> str:
        """Wait until the toolbox knows the new tool."""
        return str(heard.wait(60))

    script = [
        calling(("plug_in", {})),
        calling(("announce", {})),
        calling(("wait", {})),
        calling(("fresh", {})),
        AIMessage("done"),
    ]
    servers = {"wire": wire.server(tools=[tool("announce")], list_changed=True)}
    with Toolbox(servers, names=PLAIN, handlers=Handlers(tools_changed=changed)) as toolbox:
        own = [plugging(wire, "announce", "fresh"), StructuredTool.from_function(wait)]
        agent = create_agent(ScriptedModel(script=script), own, middleware=[Announced()])
        state = agent.invoke(GO)

    assert [(name, words) for name, _, words in plains(state)] == [
        ("plug_in", "plugged in"),
        ("announce", "ok"),
        ("wait", "True"),
        ("fresh", "ok"),
    ]
