"""What programs written for `langchain.mcp` rely on, with one import line changed.

The behaviours are those of its public tests; servers are real processes and server objects. Where the outcome
differs on purpose, the name of the test says so, and docs/migration-langchain.md has the reason.
"""

from __future__ import annotations

import asyncio
import gc
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from mcp import Client
from pydantic import AnyUrl

from mcp_adapters import ConfigError, ServerError
from mcp_adapters_langchain.compat import MCPAdapter

from ..conftest import WIRE_SERVER, Wire, children, tool
from ..http_server import http_server
from ..test_elicitation import FORM
from ..test_langchain import ScriptedModel, calling, said_by_tools
from .test_langchain_compat import CONTENT, called, described, math_server, text


async def test_one_servers_tools_have_their_own_names() -> None:
    async with MCPAdapter(math_server()) as adapter:
        tools = {one.name: one for one in await adapter.list_tools()}
        answer = await tools["add"].ainvoke({"a": 1, "b": 2})

    assert list(tools) == ["add", "multiply", "work"]
    assert answer == text("3")


@pytest.mark.parametrize("container", ["mcpServers", None])
async def test_tools_of_several_servers_have_their_servers_name_in_front(wire: Wire, container: Any) -> None:
    servers = {"one": described(wire, "one"), "two": described(wire, "two", tools=[tool("fail")])}
    async with aclosing(MCPAdapter({container: servers} if container else servers)) as adapter:
        one, two = await adapter.list_tools()
        answers = [await one.ainvoke(called(one.name)), await two.ainvoke(called(two.name))]

    assert [(one.name, answers[0].status), (two.name, answers[1].status)] == [
        ("one_echo", "success"),
        ("two_fail", "error"),
    ]


async def test_tools_stay_usable_after_the_block_and_their_servers_stop_with_them(wire: Wire) -> None:
    others = children()
    async with MCPAdapter({"mcpServers": {"wire": described(wire)}}) as adapter:
        [echo] = await adapter.list_tools()
    running = children() - others
    answers = [await echo.ainvoke({"n": n}) for n in range(2)]
    del echo
    gc.collect()
    async with asyncio.timeout(60):
        while children() & running:
            await asyncio.sleep(0.02)

    assert answers == [text('{"n": 0}'), text('{"n": 1}')]
    assert wire.starts() == 1


async def test_tools_can_be_had_without_a_block_and_more_than_once(wire: Wire) -> None:
    async with aclosing(MCPAdapter({"wire": described(wire)})) as adapter:
        async with adapter:
            first, again = await adapter.list_tools(), await adapter.list_tools()
        without = await adapter.list_tools()
        names = [[one.name for one in tools] for tools in (first, again, without)]

    assert names == [["echo"]] * 3


@pytest.mark.parametrize(
    ("mode", "names"), [("use", ["echo"]), ("refresh", ["echo", "fail"]), ("bypass", ["echo", "fail"])]
)
async def test_what_is_known_is_used_or_listed_again(wire: Wire, mode: Any, names: list[str]) -> None:
    async with aclosing(MCPAdapter({"wire": described(wire)})) as adapter:
        await adapter.list_tools()
        wire.rewrite(tools=[tool("echo"), tool("fail")])
        tools = await adapter.list_tools(cache_mode=mode)

    assert [one.name for one in tools] == names


@pytest.mark.parametrize("form", [str, AnyUrl])
async def test_an_address_connects(form: Any) -> None:
    with http_server([tool("echo")]) as seen:
        async with aclosing(MCPAdapter(form(seen.url))) as adapter:
            [echo] = await adapter.list_tools()
            answer = await echo.ainvoke({"n": 1})

    assert answer == text('{"n": 1}')


async def test_a_path_of_a_python_server_is_started(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(
        "import runpy, sys\n"
        f"sys.argv[1:] = [{str(tmp_path / 'script.json')!r}]\n"
        f"runpy.run_path({str(WIRE_SERVER)!r}, run_name='__main__')\n"
    )
    (tmp_path / "script.json").write_text('{"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}')
    async with aclosing(MCPAdapter(script)) as adapter:
        tools = await adapter.list_tools()

    assert [one.name for one in tools] == ["echo"]


async def test_a_client_that_the_program_connected_is_used_and_left_alone() -> None:
    async with Client(math_server()) as client:
        async with MCPAdapter(client) as adapter:
            add, *_ = await adapter.list_tools()
            answer = await add.ainvoke({"a": 1, "b": 2})
        await adapter.aclose()
        again = await client.call_tool("add", {"a": 2, "b": 2})

    assert (answer, again.structured_content) == (text("3"), {"result": 4})


@pytest.mark.parametrize(
    "target",
    [
        "server.py",
        "./server.py",
        "npx some-server",
        "file:///tmp/server.py",
        "ws://localhost/mcp",
        "C:\\server.py",
        "",
        "http:server.py",
        Path("server.txt"),
    ],
)
def test_a_text_is_never_a_command(target: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "server.py").write_text("raise SystemExit('started')")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigError):
        MCPAdapter(target)


async def test_an_agent_uses_the_tools(wire: Wire) -> None:
    model = ScriptedModel(script=[calling(("echo", {"n": 1})), AIMessage("done")])
    async with aclosing(MCPAdapter({"wire": described(wire)})) as adapter:
        state = await create_agent(model, await adapter.list_tools()).ainvoke({"messages": [("user", "go")]})

    assert [message.content for message in said_by_tools(state["messages"])] == [text('{"n": 1}')]
    assert state["messages"][-1].content == "done"


@pytest.mark.parametrize("kind", CONTENT)
async def test_content_comes_as_the_same_blocks(wire: Wire, kind: str) -> None:
    content, blocks = CONTENT[kind]
    server = described(wire, tools=[tool("get")], answers={"get": {"result": {"content": content}}})
    async with aclosing(MCPAdapter({"wire": server})) as adapter:
        [get] = await adapter.list_tools()
        message = await get.ainvoke(called("get"))

    assert message.content == blocks


async def test_a_lost_server_is_told_to_the_model(wire: Wire) -> None:
    """There, it ends the run, unless several servers are behind one adapter."""
    async with aclosing(MCPAdapter({"wire": described(wire, tools=[tool("die")])})) as adapter:
        [die] = await adapter.list_tools()
        message = await die.ainvoke(called("die"))

    assert (message.status, "unknown" in message.content[0]["text"]) == ("error", True)


async def test_one_server_of_several_that_cannot_be_used_is_an_error(wire: Wire) -> None:
    """There, it is left out of a configuration without the program being told."""
    servers = {"good": described(wire, "good"), "bad": described(wire, "bad", at_start="exit")}
    async with aclosing(MCPAdapter({"mcpServers": servers})) as adapter:
        with pytest.raises(ServerError) as caught:
            await adapter.list_tools()
    async with aclosing(MCPAdapter(servers, on_server_failure="skip")) as adapter:
        names = [one.name for one in await adapter.list_tools()]
        failed = adapter.client.status["bad"].last_error

    assert (caught.value.server, names, type(failed)) == ("bad", ["good_echo"], type(caught.value))


async def test_metadata_has_the_tool_and_its_server_under_mcp(wire: Wire) -> None:
    annotated = {**tool("echo"), "annotations": {"title": "T", "readOnlyHint": True}, "_meta": {"a": 1}}
    async with aclosing(MCPAdapter({"wire": described(wire, tools=[annotated, tool("fail")])})) as adapter:
        echo, fail = await adapter.list_tools()

    server = {"name": "wire", "version": "1"}
    about = {"annotations": {"title": "T", "read_only_hint": True}, "_meta": {"a": 1}}
    assert (echo.metadata, fail.metadata) == (
        {"mcp": {"tool": about, "server": server}},
        {"mcp": {"tool": {}, "server": server}},
    )


async def test_an_object_argument_without_properties_stays_open(wire: Wire) -> None:
    async with aclosing(
        MCPAdapter({"wire": described(wire, tools=[tool("echo", payload={"type": "object"})])})
    ) as adapter:
        [echo] = await adapter.list_tools()
        answer = await echo.ainvoke({"payload": {"any": [1]}})

    assert answer == text('{"payload": {"any": [1]}}')


@pytest.mark.parametrize(
    ("resume", "status", "words"),
    [
        ({"action": "accept", "content": {"sure": True}}, "success", '"sure": true'),
        ({"action": "decline"}, "success", '"decline"'),
    ],
)
async def test_a_question_interrupts_the_graph_and_the_answer_resumes_the_call(
    wire: Wire, resume: Any, status: str, words: str
) -> None:
    """There, the value of the interrupt is a list of questions, and the tool is called anew with the answers."""
    model = ScriptedModel(script=[calling(("ask", {})), AIMessage("done")])
    server = described(wire, tools=[tool("ask")], question=FORM, era="modern", state="s1")
    config: Any = {"configurable": {"thread_id": "t"}}
    async with aclosing(MCPAdapter({"wire": server})) as adapter:
        agent = create_agent(model, await adapter.list_tools(), checkpointer=InMemorySaver())
        paused = await agent.ainvoke({"messages": [("user", "go")]}, config)
        state = await agent.ainvoke(Command(resume=resume), config)

    [pause] = paused["__interrupt__"]
    asked = {key: pause.value[key] for key in ("type", "server", "tool", "message")}
    assert asked == {"type": "mcp_elicitation", "server": "wire", "tool": "ask", "message": FORM["message"]}
    [message] = said_by_tools(state["messages"])
    assert (message.status, words in message.content[0]["text"]) == (status, True)
    assert wire.count("tools/call") == 2  # the call, and the same call with the answer


async def test_servers_of_both_eras_are_used_side_by_side(wire: Wire) -> None:
    servers = {"old": described(wire, "old"), "new": described(wire, "new", era="modern")}
    async with aclosing(MCPAdapter(servers)) as adapter:
        tools = await adapter.list_tools()
        answers = [await one.ainvoke({"n": 1}) for one in tools]
        versions = {key: status.protocol_version for key, status in adapter.client.status.items()}

    assert answers == [text('{"n": 1}')] * 2
    assert versions == {"old": "2025-11-25", "new": "2026-07-28"}
