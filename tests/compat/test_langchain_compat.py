"""What programs written for langchain-mcp-adapters rely on, with one import line changed.

The behaviours are those of its public tests; servers are real processes and server objects. Where the outcome
differs on purpose, the name of the test says so, and docs/migration-langchain.md has the reason.
"""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.documents.base import Blob
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.graph import END
from langgraph.types import Command
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, ElicitResult, TextContent

from mcp_adapters import (
    ConfigError,
    ResourceNotFoundError,
    ServerError,
    ToolboxClosedError,
    ToolNotFoundError,
    ToolResult,
)
from mcp_adapters_langchain.compat import (
    CallbackContext,
    Callbacks,
    MCPToolCallRequest,
    MultiServerMCPClient,
    get_mcp_resource,
    load_mcp_prompt,
    load_mcp_resources,
    load_mcp_server_info,
    load_mcp_tools,
)

from ..conftest import Wire, children, tool
from ..http_server import http_server
from ..test_elicitation import FORM
from ..test_langchain import ScriptedModel, calling, said_by_tools

Handler = Callable[[MCPToolCallRequest], Awaitable[Any]]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def math_server() -> MCPServer:
    server = MCPServer("math", instructions="Ask for sums.", version="1.2", log_level="CRITICAL")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def multiply(a: int, b: int) -> int:
        """Multiply two numbers."""
        return a * b

    @server.tool()
    async def work(steps: int, ctx: Context) -> str:
        """Report each step."""
        for step in range(steps):
            await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        return "worked"

    @server.resource("math://formulas", mime_type="text/plain")
    def formulas() -> str:
        return "E = mc^2"

    @server.prompt()
    def assist(skills: str) -> list[dict[str, Any]]:
        return [{"role": "assistant", "content": f"I know {skills}."}, {"role": "user", "content": "Go on."}]

    return server


def described(wire: Wire, key: str = "wire", **script: Any) -> dict[str, Any]:
    """A scripted server as langchain-mcp-adapters describes servers."""
    server = wire.server(key, **script)
    return {"transport": "stdio", "command": server.command, "args": list(server.args)}


def called(name: str, args: dict[str, Any] | None = None, id: str = "call_1") -> dict[str, Any]:
    return {"type": "tool_call", "name": name, "args": args or {}, "id": id}


def text(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": one} for one in texts]


# -- servers --------------------------------------------------------------------------------------


async def test_tools_of_all_servers_or_of_one_come_in_the_order_of_the_dict(wire: Wire) -> None:
    servers = {"math": math_server(), "wire": described(wire, tools=[tool("echo"), tool("fail")])}
    async with MultiServerMCPClient(servers) as client:
        every = await client.get_tools()
        some = await client.get_tools(server_name="wire")
        added = await next(one for one in every if one.name == "add").ainvoke({"a": 2, "b": 3})

    assert [one.name for one in every] == ["add", "multiply", "work", "echo", "fail"]
    assert [one.name for one in some] == ["echo", "fail"]
    assert all(isinstance(one, BaseTool) for one in every)
    assert added == text("5")


async def test_only_the_server_that_is_asked_for_is_started(wire: Wire) -> None:
    servers = {"good": described(wire, "good"), "bad": described(wire, "bad", at_start="exit")}
    async with aclosing(MultiServerMCPClient(servers)) as client:
        names = [one.name for one in await client.get_tools(server_name="good")]
        with pytest.raises(ServerError) as caught:
            await client.get_tools()
        again = [one.name for one in await client.get_tools(server_name="good")]

    assert names == again == ["echo"]
    assert caught.value.server == "bad"
    assert wire.starts("good") == 1


async def test_an_unknown_server_is_an_error_that_names_the_known_ones(wire: Wire) -> None:
    client = MultiServerMCPClient({"math": math_server()})
    for asked in (
        client.get_tools(server_name="physics"),
        client.get_prompt("physics", "assist"),
        client.get_resources("physics"),
        client.get_server_info(server_name="physics"),
        client.session("physics").__aenter__(),
    ):
        with pytest.raises(ConfigError, match=r"'physics'.*'math'"):
            await asked


async def test_a_client_without_servers_has_nothing_and_takes_servers_later(wire: Wire) -> None:
    async with MultiServerMCPClient() as client:
        before = await client.get_tools()
        info = await client.get_server_info()
        client.connections["one"] = described(wire, "one")
        with_one = [one.name for one in await client.get_tools()]
        client.connections["one"] = described(wire, "one", tools=[tool("fail")])
        client.connections["one"]["env"] = {"CHANGED": "1"}
        changed = [one.name for one in await client.get_tools()]
        del client.connections["one"]
        after = await client.get_tools()

    assert (before, info, with_one, changed, after) == ([], {}, ["echo"], ["fail"], [])
    assert wire.starts("one") == 2


async def test_one_process_serves_all_calls_and_listings(wire: Wire) -> None:
    """There, each call starts a process of its own."""
    async with aclosing(MultiServerMCPClient({"wire": described(wire)})) as client:
        await asyncio.gather(client.get_tools(), client.get_tools())
        [echo] = await client.get_tools()
        for n in range(3):
            await echo.ainvoke({"n": n})

    assert (wire.starts(), wire.count("tools/call")) == (1, 3)


async def test_get_tools_lists_anew(wire: Wire) -> None:
    async with aclosing(MultiServerMCPClient({"wire": described(wire)})) as client:
        before = [one.name for one in await client.get_tools()]
        wire.rewrite(tools=[tool("echo"), tool("fail")])
        after = [one.name for one in await client.get_tools()]

    assert (before, after) == (["echo"], ["echo", "fail"])


async def test_a_server_that_died_is_started_again_by_the_next_call(wire: Wire) -> None:
    tools = [tool("die"), tool("echo")]
    async with aclosing(MultiServerMCPClient({"wire": described(wire, tools=tools)})) as client:
        die, echo = await client.get_tools()
        lost = await die.ainvoke(called("die"))
        answer = await echo.ainvoke({"n": 1})

    assert (lost.status, answer) == ("error", text('{"n": 1}'))
    assert wire.starts() == 2


async def test_servers_stop_when_neither_the_client_nor_a_tool_is_held(wire: Wire) -> None:
    others = children()
    client = MultiServerMCPClient({"wire": described(wire)})
    [echo] = await client.get_tools()
    running = children() - others
    del client
    gc.collect()
    answer = await echo.ainvoke({"n": 1})
    del echo
    gc.collect()
    async with asyncio.timeout(60):
        while children() & running:
            await asyncio.sleep(0.02)

    assert answer == text('{"n": 1}')
    assert wire.starts() == 1


async def test_async_with_stops_the_servers_and_its_tools_say_so(wire: Wire) -> None:
    async with MultiServerMCPClient({"wire": described(wire)}) as client:
        started = wire.starts()
        [echo] = await client.get_tools()

    assert started == 1
    assert client.toolbox is None
    with pytest.raises(ToolboxClosedError):
        await echo.ainvoke({"n": 1})


def test_a_client_works_from_one_event_loop_after_another(wire: Wire) -> None:
    client = MultiServerMCPClient({"wire": described(wire)})
    [echo] = asyncio.run(client.get_tools())
    answers = [asyncio.run(echo.ainvoke({"n": 1})), echo.invoke({"n": 1})]
    asyncio.run(client.aclose())

    assert answers == [text('{"n": 1}')] * 2
    assert wire.starts() == 1


@pytest.mark.parametrize("transport", ["http", "streamable_http", "streamable-http"])
async def test_every_spelling_of_http_connects_with_the_headers(transport: str) -> None:
    with http_server([tool("echo")]) as seen:
        servers = {"web": {"transport": transport, "url": seen.url, "headers": {"x-team": "blue"}}}
        async with aclosing(MultiServerMCPClient(servers)) as client:
            [echo] = await client.get_tools()
            answer = await echo.ainvoke({"n": 1})

    assert json.loads(answer[0]["text"]) == {"n": 1}
    assert set(seen.headers("tools/call", "x-team")) == {"blue"}


@pytest.mark.parametrize(
    ("value", "meant"), [("${TOKEN}", "t1"), ("Bearer ${TOKEN}", "Bearer t1"), ("p@ss$TOKEN", "p@ss$TOKEN")]
)
async def test_variables_in_braces_are_replaced_in_env(
    monkeypatch: pytest.MonkeyPatch, value: str, meant: str
) -> None:
    monkeypatch.setenv("TOKEN", "t1")
    # In hexadecimal, since values of the configuration are masked in errors.
    source = "import os, sys; sys.exit(os.environ['SEEN'].encode().hex())"
    connection = {"transport": "stdio", "command": "python3", "args": ["-c", source], "env": {"SEEN": value}}
    with pytest.raises(ServerError) as caught:
        await MultiServerMCPClient({"s": connection}, connect_timeout=60).get_tools()

    assert meant.encode().hex() in str(caught.value)


async def test_a_variable_that_is_not_set_is_an_error() -> None:
    """There, the server gets the text `${...}` itself."""
    connection = {"transport": "stdio", "command": "x", "args": [], "env": {"TOKEN": "${NOT_SET_ANYWHERE}"}}
    with pytest.raises(ConfigError, match=r"env\.TOKEN.*NOT_SET_ANYWHERE"):
        await MultiServerMCPClient({"s": connection}).get_tools()


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        ({"transport": "websocket", "url": "ws://localhost"}, "'websocket'"),
        (
            {"transport": "http", "url": "http://localhost", "httpx_client_factory": print},
            "'httpx_client_factory'",
        ),
        (
            {"transport": "http", "url": "http://localhost", "terminate_on_close": False},
            "'terminate_on_close'",
        ),
        ({"transport": "stdio", "command": "x", "args": [], "session_kwargs": {"a": 1}}, "'session_kwargs'"),
        ({"transport": "stdio", "command": "x", "args": [], "encoding": "latin-1"}, "'encoding'"),
        ({"transport": "stdio", "args": []}, "'command'"),
        ({"transport": "sse"}, "'url'"),
    ],
)
async def test_what_would_have_no_effect_is_refused_with_the_servers_name(
    connection: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        await MultiServerMCPClient({"mine": connection}).get_tools()

    assert "'mine'" in str(caught.value)
    assert words in str(caught.value)


async def test_values_that_change_nothing_are_taken(wire: Wire) -> None:
    extra = {"encoding": "utf-8", "encoding_error_handler": "strict", "session_kwargs": None, "env": None}
    async with aclosing(MultiServerMCPClient({"wire": {**described(wire), **extra}})) as client:
        assert [one.name for one in await client.get_tools()] == ["echo"]


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "names"),
    [(True, ["air_only", "air_search", "sea_search"]), (False, ["only", "air_search", "sea_search"])],
)
async def test_two_tools_of_one_name_are_both_offered_and_called(
    wire: Wire, prefix: bool, names: list[str]
) -> None:
    """There, without the prefix, both have one name, and agents see the last only."""
    answers = {key: {"search": {"result": {"content": text(f"by {key}")}}} for key in ("air", "sea")}
    servers = {
        "air": described(wire, "air", tools=[tool("only"), tool("search")], answers=answers["air"]),
        "sea": described(wire, "sea", tools=[tool("search")], answers=answers["sea"]),
    }
    model = ScriptedModel(script=[calling(("air_search", {}), ("sea_search", {})), AIMessage("done")])
    async with aclosing(MultiServerMCPClient(servers, tool_name_prefix=prefix)) as client:
        tools = await client.get_tools()
        state = await create_agent(model, tools).ainvoke({"messages": [("user", "go")]})

    assert [one.name for one in tools] == names
    assert [message.content for message in said_by_tools(state["messages"])] == [
        text("by air"),
        text("by sea"),
    ]


# -- sessions -------------------------------------------------------------------------------------


async def test_a_session_is_a_connection_of_its_own_that_ends_with_the_block(wire: Wire) -> None:
    async with aclosing(MultiServerMCPClient({"wire": described(wire)})) as client:
        await client.get_tools()
        before = children()
        async with client.session("wire") as session:
            [echo] = await load_mcp_tools(session)
            answers = [await echo.ainvoke({"n": n}) for n in range(2)]
            inside = children()
        after = children()

    assert answers == [text('{"n": 0}'), text('{"n": 1}')]
    assert (len(inside), after) == (len(before) + 1, before)
    assert wire.starts() == 2
    with pytest.raises(ToolboxClosedError):
        await echo.ainvoke({"n": 2})


async def test_a_session_that_is_not_initialized_connects_when_it_is_told_to(wire: Wire) -> None:
    client = MultiServerMCPClient({"wire": described(wire)})
    async with client.session("wire", auto_initialize=False) as session:
        before = len(wire.events()) if wire._ledger("wire").exists() else 0
        status = await session.initialize()
        result = await session.call_tool("echo", {"n": 1})
        with pytest.raises(ToolNotFoundError):
            await session.call_tool("nothing")
        listed = [one.remote_name for one in await session.list_tools()]

    assert before == 0
    assert status.server_info == {"name": "wire", "version": "1"}
    assert result == CallToolResult(content=[TextContent(type="text", text='{"n": 1}')])
    assert listed == ["echo"]


async def test_a_session_gives_all_that_its_server_offers() -> None:
    async with MultiServerMCPClient({"math": math_server()}).session("math") as session:
        resources = [one.uri for one in await session.list_resources()]
        contents = await session.read_resource("math://formulas")
        prompts = [one.name for one in await session.list_prompts()]
        prompt = await session.get_prompt("assist", {"skills": "sums"})
        tools = await load_mcp_tools(session, server_name="m", tool_name_prefix=True)
        messages = await load_mcp_prompt(session, "assist", arguments={"skills": 7})
        blobs = await load_mcp_resources(session)
        info = await load_mcp_server_info(session)

    assert (resources, contents.text, prompts) == (["math://formulas"], "E = mc^2", ["assist"])
    assert [message.role for message in prompt.messages] == ["assistant", "user"]
    assert [one.name for one in tools] == ["m_add", "m_multiply", "m_work"]
    assert messages == [AIMessage("I know 7."), HumanMessage("Go on.")]
    assert [(blob.data, blob.metadata["uri"]) for blob in blobs] == [("E = mc^2", "math://formulas")]
    assert (info.server_info or {})["name"] == "math"


async def test_a_session_of_the_sdk_is_used_and_left_alone() -> None:
    async with Client(math_server()) as client:
        add, *_ = await load_mcp_tools(client, server_name="m", tool_name_prefix=True)
        answers = [await add.ainvoke({"a": 1, "b": 2})]
        messages = await load_mcp_prompt(client, "assist", arguments={"skills": "sums"})
        blobs = await get_mcp_resource(client, "math://formulas")
        info = await load_mcp_server_info(client)
        del add
        gc.collect()
        again = await client.call_tool("add", {"a": 1, "b": 2})

    assert (answers, len(messages), [blob.data for blob in blobs]) == ([text("3")], 2, ["E = mc^2"])
    assert info.instructions == "Ask for sums."
    assert again.structured_content == {"result": 3}


async def test_tools_of_a_connection_keep_it_as_long_as_they_are_held(wire: Wire) -> None:
    others = children()
    [echo] = await load_mcp_tools(None, connection=described(wire))
    running = children() - others
    answers = [await echo.ainvoke({"n": n}) for n in range(2)]
    del echo
    gc.collect()
    async with asyncio.timeout(60):
        while children() & running:
            await asyncio.sleep(0.02)

    assert answers == [text('{"n": 0}'), text('{"n": 1}')]
    assert wire.starts() == 1


@pytest.mark.parametrize("load", [load_mcp_tools, load_mcp_server_info])
async def test_loading_from_nothing_is_an_error(load: Callable[[None], Awaitable[Any]]) -> None:
    with pytest.raises(ValueError, match="a session or a connection"):
        await load(None)


# -- prompts, resources, info ---------------------------------------------------------------------


async def test_a_prompt_comes_as_messages_by_their_roles() -> None:
    async with MultiServerMCPClient({"math": math_server()}) as client:
        messages = await client.get_prompt("math", "assist", arguments={"skills": "sums"})

    assert messages == [AIMessage("I know sums."), HumanMessage("Go on.")]


async def test_resources_come_as_blobs_of_all_servers_of_one_or_by_address() -> None:
    weather = MCPServer("weather", log_level="CRITICAL")

    @weather.resource("weather://today", mime_type="image/png")
    def today() -> bytes:
        return b"\x89PNG"

    async with MultiServerMCPClient({"math": math_server(), "weather": weather}) as client:
        every = await client.get_resources()
        some = await client.get_resources("math")
        positional = await client.get_resources(server_name="weather")
        by_address = await client.get_resources(uris="weather://today")
        both = await client.get_resources(uris=["weather://today", "math://formulas"])
        with pytest.raises(ResourceNotFoundError):
            await client.get_resources("math", uris="math://nothing")

    sums, sky = ("E = mc^2", "text/plain", "math://formulas"), (b"\x89PNG", "image/png", "weather://today")

    def facts(blobs: list[Blob]) -> list[tuple[Any, ...]]:
        return [(blob.data, blob.mimetype, blob.metadata["uri"]) for blob in blobs]

    assert facts(every) == [sums, sky]
    assert (facts(some), facts(positional), facts(by_address)) == ([sums], [sky], [sky])
    assert facts(both) == [sky, sums]


async def test_server_info_has_name_version_and_instructions(wire: Wire) -> None:
    async with aclosing(MultiServerMCPClient({"math": math_server(), "wire": described(wire)})) as client:
        one = await client.get_server_info(server_name="wire")
        every = await client.get_server_info()

    assert list(one) == ["wire"]
    assert {key: (dict(i.server_info or {})["version"], i.instructions) for key, i in every.items()} == {
        "math": ("1.2", "Ask for sums."),
        "wire": ("1", "say what you are told"),
    }


async def test_server_info_of_a_server_that_fails_names_it(wire: Wire) -> None:
    servers = {"good": described(wire, "good"), "bad": described(wire, "bad", at_start="exit")}
    async with aclosing(MultiServerMCPClient(servers)) as client:
        with pytest.raises(ServerError) as caught:
            await client.get_server_info()

    assert caught.value.server == "bad"


# -- results --------------------------------------------------------------------------------------

LINK = {"type": "resource_link", "uri": "file:///a.bin", "name": "a", "mimeType": "application/x-a"}
AUDIO = {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}
IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
IMAGE_BLOCK = {"type": "image", "base64": PIXEL, "mime_type": "image/png"}
NOTE = {"type": "resource", "resource": {"uri": "note://1", "text": "hello", "mimeType": "text/plain"}}
PICTURE = {"type": "resource", "resource": {"uri": "file:///p.png", "blob": PIXEL, "mimeType": "image/png"}}
PDF = {
    "type": "resource",
    "resource": {"uri": "file:///d.pdf", "blob": "JVBERg==", "mimeType": "application/pdf"},
}
PDF_BLOCK = {
    "type": "file",
    "base64": "JVBERg==",
    "mime_type": "application/pdf",
    "extras": {"filename": "d.pdf"},
}
CONTENT: dict[str, tuple[list[Any], list[dict[str, Any]]]] = {
    "one text": (text("hi"), text("hi")),
    "several texts": (text("a", "b"), text("a", "b")),
    "text and image": ([*text("see"), IMAGE], [*text("see"), IMAGE_BLOCK]),
    "image only": ([IMAGE], [IMAGE_BLOCK]),
    "embedded image": ([PICTURE], [IMAGE_BLOCK]),
    "embedded document": ([PDF], [PDF_BLOCK]),
}


@pytest.mark.parametrize("kind", CONTENT)
@pytest.mark.parametrize("failed", [False, True])
async def test_content_comes_as_the_same_blocks(wire: Wire, kind: str, failed: bool) -> None:
    content, blocks = CONTENT[kind]
    answers = {"get": {"result": {"content": content, "isError": failed}}}
    async with aclosing(
        MultiServerMCPClient({"wire": described(wire, tools=[tool("get")], answers=answers)})
    ) as client:
        [get] = await client.get_tools()
        message = await get.ainvoke(called("get"))

    assert (message.content, message.status) == (blocks, "error" if failed else "success")
    assert (message.name, message.tool_call_id) == ("get", "call_1")


DIFFERENT: dict[str, tuple[list[Any], str]] = {
    "nothing": ([], "Tool executed successfully"),
    "sound": ([AUDIO], "audio/wav"),
    "a link": ([LINK], "file:///a.bin"),
    "embedded text": ([NOTE], "hello"),
}


@pytest.mark.parametrize("kind", DIFFERENT)
async def test_what_no_provider_takes_is_a_line_and_whole_in_the_artifact(wire: Wire, kind: str) -> None:
    """There, sound raises, a link is a block that providers refuse, and nothing is an empty message."""
    content, words = DIFFERENT[kind]
    answers = {"get": {"result": {"content": content}}}
    async with aclosing(
        MultiServerMCPClient({"wire": described(wire, tools=[tool("get")], answers=answers)})
    ) as client:
        [get] = await client.get_tools()
        message = await get.ainvoke(called("get"))

    [block] = message.content
    assert (block["type"], words in block["text"]) == ("text", True)
    assert message.artifact["result"]["content"] == content


@pytest.mark.parametrize("value", [{"result": 5}, {"rows": [1, 2]}])
async def test_structured_content_is_in_the_artifact_as_the_server_sent_it(wire: Wire, value: Any) -> None:
    results = {"get": {"content": text("ok"), "structuredContent": value}, "bare": {"content": text("ok")}}
    answers = {name: {"result": result} for name, result in results.items()}
    server = described(wire, tools=[tool("get"), tool("bare")], answers=answers)
    async with aclosing(MultiServerMCPClient({"wire": server})) as client:
        get, bare = await client.get_tools()
        with_it, without = await get.ainvoke(called("get")), await bare.ainvoke(called("bare"))

    assert with_it.artifact["structured_content"] == value
    assert "structured_content" not in without.artifact


FAILURES = ["fail", "refuse", "die", "bare"]


@pytest.mark.parametrize("name", FAILURES)
async def test_failures_are_told_to_the_model_or_raised_as_the_client_says(wire: Wire, name: str) -> None:
    """There, only a tool's own failure is told; a refusal and a lost connection always end the run."""
    answers = {"bare": {"result": {"content": [], "isError": True}}}
    servers = {"wire": described(wire, tools=[tool(name)], answers=answers)}
    async with aclosing(MultiServerMCPClient(servers)) as client:
        [one] = await client.get_tools()
        message = await one.ainvoke(called(name))
    async with aclosing(MultiServerMCPClient(servers, handle_tool_errors=False)) as client:
        for loaded in (await client.get_tools(), await client.get_tools(server_name="wire")):
            with pytest.raises(ToolException) as caught:
                await loaded[0].ainvoke(called(name))

    [block] = message.content
    assert (message.status, bool(block["text"])) == ("error", True)
    assert str(caught.value) == block["text"]


@pytest.mark.parametrize(
    ("annotations", "meta", "metadata"),
    [
        (None, None, {}),
        (
            {"title": "T", "readOnlyHint": True},
            None,
            {
                "title": "T",
                "readOnlyHint": True,
                "destructiveHint": None,
                "idempotentHint": None,
                "openWorldHint": None,
            },
        ),
        (None, {"source": "unit"}, {"_meta": {"source": "unit"}}),
    ],
)
async def test_annotations_and_meta_are_at_the_top_of_the_metadata(
    wire: Wire, annotations: Any, meta: Any, metadata: dict[str, Any]
) -> None:
    extra = {key: value for key, value in (("annotations", annotations), ("_meta", meta)) if value}
    servers = {"wire": described(wire, tools=[{**tool("echo"), **extra}])}
    async with aclosing(MultiServerMCPClient(servers)) as client:
        [echo] = await client.get_tools()

    found = dict(echo.metadata or {})
    assert found.pop("mcp")["server"] == "wire"
    assert found == metadata


# -- interceptors ---------------------------------------------------------------------------------


async def through(
    *interceptors: Any, name: str = "add", sync: bool = False, server: MCPServer | None = None
) -> Any:
    """What a call of one of the math server's tools with 2 and 3 gives."""
    async with MultiServerMCPClient(
        {"math": server or math_server()}, tool_interceptors=list(interceptors)
    ) as client:
        one = next(one for one in await client.get_tools() if one.name == name)
        call = called(name, {"a": 2, "b": 3})
        return await asyncio.to_thread(one.invoke, call) if sync else await one.ainvoke(call)


@pytest.mark.parametrize("sync", [False, True])
async def test_an_interceptor_changes_arguments(sync: bool) -> None:
    async def doubling(request: MCPToolCallRequest, handler: Handler) -> Any:
        return await handler(request.override(args={name: 2 * n for name, n in request.args.items()}))

    assert (await through(doubling, sync=sync)).content == text("10")


@pytest.mark.parametrize("sync", [False, True])
async def test_an_interceptor_calls_another_tool_of_the_server(sync: bool) -> None:
    seen = []

    async def outer(request: MCPToolCallRequest, handler: Handler) -> Any:
        return await handler(request.override(name="multiply"))

    async def inner(request: MCPToolCallRequest, handler: Handler) -> Any:
        seen.append(request.name)
        return await handler(request)

    assert (await through(outer, inner, sync=sync)).content == text("6")
    assert seen == ["multiply"]


async def test_an_interceptor_that_asks_for_an_unknown_tool_gets_an_error_that_the_model_reads() -> None:
    async def lost(request: MCPToolCallRequest, handler: Handler) -> Any:
        return await handler(request.override(name="divide"))

    message = await through(lost)
    assert (message.status, "'divide'" in message.content[0]["text"]) == ("error", True)


async def test_an_interceptor_gets_the_sdks_result_and_may_give_another() -> None:
    async def shouting(request: MCPToolCallRequest, handler: Handler) -> Any:
        result = await handler(request)
        assert (result.is_error, result.structured_content) == (False, {"result": 5})
        return CallToolResult(
            content=[TextContent(type="text", text=f"{result.content[0].text}!")], structured_content={"n": 5}
        )

    message = await through(shouting)
    assert (message.content, message.artifact["structured_content"]) == (text("5!"), {"n": 5})


ANSWERS: dict[str, tuple[Any, str, Any]] = {
    "the SDK's": (CallToolResult(content=[TextContent(type="text", text="no")]), "success", text("no")),
    "a failure": (
        CallToolResult(content=[TextContent(type="text", text="no")], is_error=True),
        "error",
        text("no"),
    ),
    "a result": (ToolResult(text="no"), "success", text("no")),
    "a message": (ToolMessage("no", name="add", tool_call_id="call_1"), "success", "no"),
}


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("sync", [False, True])
async def test_an_interceptor_answers_by_itself(kind: str, sync: bool) -> None:
    answer, status, content = ANSWERS[kind]

    async def answering(request: MCPToolCallRequest, handler: Handler) -> Any:
        return answer

    message = await through(answering, sync=sync)
    assert (message.status, message.content, message.tool_call_id) == (status, content, "call_1")


async def test_an_interceptor_may_call_twice_and_keep_what_it_got(wire: Wire) -> None:
    cache: dict[str, Any] = {}

    async def caching(request: MCPToolCallRequest, handler: Handler) -> Any:
        key = json.dumps([request.name, request.args])
        if key not in cache:
            await handler(request)
            cache[key] = await handler(request)
        return cache[key]

    servers = {"wire": described(wire)}
    async with aclosing(MultiServerMCPClient(servers, tool_interceptors=[caching])) as client:
        [echo] = await client.get_tools()
        answers = [await echo.ainvoke({"n": n}) for n in (1, 1, 2)]

    assert answers == [text('{"n": 1}'), text('{"n": 1}'), text('{"n": 2}')]
    assert wire.count("tools/call") == 4


async def test_the_first_interceptor_is_the_outermost() -> None:
    order = []

    def named(name: str) -> Any:
        async def interceptor(request: MCPToolCallRequest, handler: Handler) -> Any:
            order.append(f"{name} in")
            result = await handler(request)
            order.append(f"{name} out")
            return result

        return interceptor

    await through(named("1"), named("2"))
    assert order == ["1 in", "2 in", "2 out", "1 out"]


async def test_an_interceptors_own_exception_ends_the_run() -> None:
    async def failing(request: MCPToolCallRequest, handler: Handler) -> Any:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await through(failing)


async def test_an_interceptor_that_returns_nothing_is_told_what_it_may_return() -> None:
    async def forgetting(request: MCPToolCallRequest, handler: Handler) -> Any:
        await handler(request)

    with pytest.raises(TypeError, match="'add' returned a NoneType"):
        await through(forgetting)


async def test_headers_of_an_interceptor_go_with_that_call_only() -> None:
    """Also to another tool. There, they are dropped without a word where a session is used."""

    async def signing(request: MCPToolCallRequest, handler: Handler) -> Any:
        name = "fail" if request.args["n"] == 2 else request.name
        return await handler(request.override(name=name, headers={"x-call": request.args["n"]}))

    with http_server([tool("echo"), tool("fail")]) as seen:
        servers = {"web": {"transport": "http", "url": seen.url, "headers": {"x-team": "blue"}}}
        async with aclosing(MultiServerMCPClient(servers, tool_interceptors=[signing])) as client:
            echo = (await client.get_tools())[0]
            for n in range(3):
                await echo.ainvoke({"n": n})
            async with client.session("web") as session:
                [echo, _] = await load_mcp_tools(session, tool_interceptors=[signing])
                await echo.ainvoke({"n": 3})

    assert seen.headers("tools/call", "x-call") == ["0", "1", "2", "3"]
    assert set(seen.headers("tools/call", "x-team")) == {"blue"}
    assert set(seen.headers("tools/list", "x-call")) == {None}


def test_a_request_keeps_what_is_no_part_of_the_call() -> None:
    request = MCPToolCallRequest("add", {"a": 1}, "math", None, "runtime")

    assert request.override(args={"a": 2}) == MCPToolCallRequest("add", {"a": 2}, "math", None, "runtime")
    with pytest.raises(TypeError, match="server_name"):
        request.override(server_name="other")


async def test_an_interceptor_sees_langgraphs_runtime_and_may_command_the_graph(wire: Wire) -> None:
    class State(AgentState):
        counter: int

    seen: list[Any] = []

    async def commanding(request: MCPToolCallRequest, handler: Handler) -> Any:
        runtime: Any = request.runtime
        seen.append((request.server_name, runtime.state["counter"], runtime.tool_call_id, request.args))
        message = ToolMessage("counted", tool_call_id=runtime.tool_call_id)
        return Command(update={"counter": 42, "messages": [message]}, goto=END)

    model = ScriptedModel(script=[calling(("echo", {"n": 1})), AIMessage("done")])
    servers = {"wire": described(wire)}
    async with aclosing(MultiServerMCPClient(servers, tool_interceptors=[commanding])) as client:
        agent = create_agent(model, await client.get_tools(), state_schema=State)
        state = await agent.ainvoke({"messages": [("user", "go")], "counter": 7})

    assert seen == [("wire", 7, "call-echo-0", {"n": 1})]
    assert (state["counter"], [m.content for m in said_by_tools(state["messages"])]) == (42, ["counted"])
    assert wire.count("tools/call") == 0


@pytest.mark.parametrize("intercepted", [False, True])
async def test_an_argument_that_is_called_runtime_reaches_the_server(wire: Wire, intercepted: bool) -> None:
    seen: list[Any] = []

    async def looking(request: MCPToolCallRequest, handler: Handler) -> Any:
        seen.append(request.runtime)
        return await handler(request)

    model = ScriptedModel(script=[calling(("echo", {"runtime": "mine"})), AIMessage("done")])
    servers = {"wire": described(wire, tools=[tool("echo", runtime={"type": "string"})])}
    interceptors = [looking] if intercepted else []
    async with aclosing(MultiServerMCPClient(servers, tool_interceptors=interceptors)) as client:
        agent = create_agent(model, await client.get_tools())
        state = await agent.ainvoke({"messages": [("user", "go")]})

    assert said_by_tools(state["messages"])[0].content == text('{"runtime": "mine"}')
    assert seen == [None] * intercepted


# -- callbacks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sync", [False, True])
async def test_progress_is_told_with_server_and_tool(sync: bool) -> None:
    heard: list[Any] = []
    both = threading.Event()

    async def on_progress(progress: float, total: Any, message: Any, context: CallbackContext) -> None:
        heard.append((progress, total, message, context))
        if len(heard) == 2:
            both.set()

    callbacks = Callbacks(on_progress=on_progress)
    async with MultiServerMCPClient({"math": math_server()}, callbacks=callbacks) as client:
        work = next(one for one in await client.get_tools() if one.name == "work")
        call = {"steps": 2}
        await (asyncio.to_thread(work.invoke, call) if sync else work.ainvoke(call))
        assert await asyncio.to_thread(both.wait, 30)  # synchronous calls are told by a worker of their own

    context = CallbackContext(server_name="math", tool_name="work")
    assert heard == [(1, 2, "step 1", context), (2, 2, "step 2", context)]


async def test_log_messages_are_told_with_their_server(wire: Wire) -> None:
    heard: list[Any] = []
    came = asyncio.Event()

    async def on_log(params: Any, context: CallbackContext) -> None:
        heard.append((params.level, params.logger, params.data, context))
        came.set()

    servers = {"wire": described(wire, tools=[tool("log")])}
    callbacks = Callbacks(on_logging_message=on_log)
    async with aclosing(MultiServerMCPClient(servers, callbacks=callbacks)) as client:
        [log] = await client.get_tools()
        await log.ainvoke({})
        await asyncio.wait_for(came.wait(), 60)

    assert heard == [("warning", "wire", {"n": 1}, CallbackContext("wire"))]


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_a_question_is_answered_by_the_callback(wire: Wire, era: str, action: Any) -> None:
    heard: list[Any] = []
    content = {"sure": True} if action == "accept" else None

    async def on_elicitation(mcp_context: Any, params: Any, context: CallbackContext) -> ElicitResult:
        heard.append((params.message, params.mode, params.requested_schema, context))
        return ElicitResult(action=action, content=content)

    servers = {"wire": described(wire, tools=[tool("ask")], question=FORM, era=era)}
    callbacks = Callbacks(on_elicitation=on_elicitation)
    async with aclosing(MultiServerMCPClient(servers, callbacks=callbacks)) as client:
        [ask] = await client.get_tools()
        message = await ask.ainvoke(called("ask"))

    assert heard == [(FORM["message"], "form", FORM["requestedSchema"], CallbackContext("wire", "ask"))]
    answer = json.loads(message.content[0]["text"])["answer"]
    assert answer == {"action": action, **({"content": content} if content else {})}
