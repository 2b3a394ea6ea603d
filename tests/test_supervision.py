"""How servers are looked after: states, news, management at run time, connected clients."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer

from mcp_adapters import (
    ConfigError,
    ConnectionLostError,
    Handlers,
    LogMessage,
    Progress,
    ServerStartError,
    StateChange,
    StdioServer,
    SyncCallInEventLoopError,
    Toolbox,
    ToolboxClosedError,
    ToolboxLoadError,
    ToolFilter,
    ToolNotFoundError,
    ToolsChange,
    ToolTimeoutError,
    _connection,
    _life,
    _supervision,
)
from mcp_adapters._questions import Questions

from .conftest import Wire, tool


class Heard:
    """Collects what handlers are told, and waits for it without guessing times."""

    def __init__(self) -> None:
        self.news: list[Any] = []
        self.threads: set[str] = set()
        self._changed = threading.Condition()

    def __call__(self, news: Any) -> None:
        with self._changed:
            self.news.append(news)
            self.threads.add(threading.current_thread().name)
            self._changed.notify_all()

    def wait(self, until: Callable[[list[Any]], bool]) -> list[Any]:
        with self._changed:
            assert self._changed.wait_for(lambda: until(self.news), timeout=30), self.news
            return list(self.news)

    async def await_(self, until: Callable[[list[Any]], bool]) -> list[Any]:
        return await asyncio.to_thread(self.wait, until)


def states(news: list[StateChange]) -> list[str]:
    return [change.new for change in news]


def test_the_states_of_a_server_that_dies_and_comes_back_are_told_in_order(wire: Wire) -> None:
    heard = Heard()
    server = wire.server(tools=[tool("die"), tool("echo")])
    with Toolbox({"wire": server}, handlers=Handlers(state_changed=heard)) as toolbox:
        with pytest.raises(ConnectionLostError):
            toolbox.call("wire_die")
        toolbox.call("wire_echo")
    news = heard.wait(lambda news: "closed" in states(news))

    assert states(news) == ["connecting", "ready", "lost", "reconnecting", "ready", "closed"]
    assert {change.server for change in news} == {"wire"}


def test_a_lost_connection_comes_back_by_itself_when_that_is_wanted(wire: Wire) -> None:
    heard = Heard()
    server = wire.server(tools=[tool("die"), tool("echo")])
    with Toolbox({"wire": server}, reconnect="background", handlers=Handlers(state_changed=heard)) as toolbox:
        with pytest.raises(ConnectionLostError):
            toolbox.call("wire_die")
        heard.wait(lambda news: states(news).count("ready") == 2)
        assert toolbox.status["wire"].state == "ready"

    assert wire.starts() == 2


def test_a_tool_that_the_user_calls_safe_is_sent_once_more_and_others_are_not(wire: Wire) -> None:
    server = wire.server(tools=[tool("die"), tool("die_once"), tool("echo")])
    with Toolbox({"wire": server}, retry_safe=ToolFilter.allow("die_once")) as toolbox:
        assert toolbox.call("wire_die_once").text == "ok"
        with pytest.raises(ConnectionLostError):
            toolbox.call("wire_die")

    called = [event["params"]["name"] for event in wire.events() if event.get("method") == "tools/call"]
    assert called == ["die_once", "die_once", "die"]


def test_closing_while_an_attempt_is_put_off_starts_nothing_any_more(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_life, "FIRST_PAUSE_S", 2.0)
    heard, errors = Heard(), []
    toolbox = Toolbox(
        {"wire": wire.server(tools=[tool("die"), tool("echo")])}, handlers=Handlers(state_changed=heard)
    )

    def call() -> None:
        with pytest.raises(ToolboxClosedError) as caught:
            echo.call()
        errors.append(caught.value)

    with toolbox:
        echo = toolbox["wire_echo"]
        with pytest.raises(ConnectionLostError):
            toolbox.call("wire_die")
        wire.rewrite(at_start="exit")
        with pytest.raises(ServerStartError):
            echo.call()
        wire.rewrite(at_start=None)
        started = wire.starts()
        waiting = threading.Thread(target=call)
        waiting.start()
        heard.wait(lambda news: states(news).count("reconnecting") == 2)
    waiting.join()

    assert len(errors) == 1
    assert wire.starts() == started


async def test_a_server_that_stays_away_for_ever_is_put_off_by_no_more_than_the_longest_pause() -> None:
    heard = Heard()
    observer = SimpleNamespace(state_changed=lambda *_: heard("state"), task_changed=heard)
    connection = _connection.Connection(
        "away",
        StdioServer(command="x"),
        supervision=_supervision.Supervision(),
        observer=observer,
        questions=Questions("away", Handlers()),
        loop=None,
    )
    for _ in range(5_000):
        connection._put_off()

    assert connection._next_attempt - asyncio.get_running_loop().time() <= _life.LONGEST_PAUSE_S


async def test_handlers_run_on_the_loop_that_opened_the_toolbox(wire: Wire) -> None:
    loops: list[Any] = []
    closed = asyncio.Event()

    async def changed(change: StateChange) -> None:
        loops.append(asyncio.get_running_loop())
        if change.new == "closed":
            closed.set()

    async with Toolbox({"wire": wire.server()}, handlers=Handlers(state_changed=changed)):
        pass
    await closed.wait()

    assert set(loops) == {asyncio.get_running_loop()}


def test_handlers_run_in_a_worker_thread_when_the_toolbox_was_opened_synchronously(wire: Wire) -> None:
    heard = Heard()
    with Toolbox({"wire": wire.server()}, handlers=Handlers(state_changed=heard)):
        heard.wait(lambda news: len(news) == 2)

    assert all(name.startswith("mcp-adapters-handlers") for name in heard.threads)


def test_a_handler_that_fails_harms_nobody(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: StateChange) -> None:
        raise RuntimeError("no")

    with Toolbox({"wire": wire.server()}, handlers=Handlers(state_changed=broken)) as toolbox:
        assert toolbox.call("wire_echo").text == "{}"


def chatty() -> MCPServer:
    server = MCPServer("chatty")

    @server.tool(description="Counts aloud.")
    async def count(ctx: Context, to: int) -> str:
        for number in range(to):
            await ctx.report_progress(number + 1, to, f"at {number + 1}")
        return "done"

    return server


async def test_progress_is_told_to_the_caller_and_to_the_handler() -> None:
    heard, mine = Heard(), Heard()
    async with Toolbox({"chatty": chatty()}, handlers=Handlers(progress=heard)) as toolbox:
        await toolbox.acall("chatty_count", {"to": 3}, on_progress=mine)
        await mine.await_(lambda news: len(news) == 3)
        await heard.await_(lambda news: len(news) == 3)

    assert heard.news == mine.news
    assert mine.news[0] == Progress(server="chatty", tool="count", progress=1, total=3, message="at 1")


def test_progress_of_a_synchronous_call_is_told_in_a_worker_thread() -> None:
    mine = Heard()
    with Toolbox({"chatty": chatty()}) as toolbox:
        toolbox.call("chatty_count", {"to": 2}, on_progress=mine)
        mine.wait(lambda news: len(news) == 2)

    assert all(name.startswith("mcp-adapters-handlers") for name in mine.threads)


def test_what_a_server_logs_is_in_logging_and_told_to_the_handler(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard()
    server = wire.server(tools=[tool("log")])
    with (
        caplog.at_level(logging.DEBUG, logger="mcp_adapters.server.wire"),
        Toolbox({"wire": server}, handlers=Handlers(log=heard)) as toolbox,
    ):
        toolbox.call("wire_log")
        heard.wait(lambda news: len(news) == 1)

    assert heard.news == [LogMessage(server="wire", level="warning", logger="wire", data={"n": 1})]
    assert ("mcp_adapters.server.wire", logging.WARNING, "{'n': 1}") in caplog.record_tuples


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_servers_of_both_eras_log_from_the_level_that_the_user_asks_for(mode: Any) -> None:
    heard = Heard()
    script = """
from mcp.server.mcpserver import Context, MCPServer
server = MCPServer("talks")
@server.tool(description="Logs.")
async def talk(ctx: Context) -> str:
    await ctx.info("quiet")
    await ctx.error("loud")
    return "done"
server.run("stdio")
"""
    server = StdioServer(command=[sys.executable, "-c", script], protocol=mode)
    with Toolbox({"talks": server}, log_level="error", handlers=Handlers(log=heard)) as toolbox:
        assert toolbox.call("talks_talk").text == "done"
        news = heard.wait(lambda news: any(message.level == "error" for message in news))

    told = [(message.level, message.data) for message in news]
    # The SDK's own server does not filter for clients of the handshake years.
    assert told == ([("info", "quiet")] if mode == "legacy" else []) + [("error", "loud")]


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_a_server_that_announces_other_tools_is_listed_again_under_kept_names(wire: Wire, era: str) -> None:
    heard = Heard()
    server = wire.server(era=era, list_changed=True, tools=[tool("announce"), tool("old"), tool("same")])
    with Toolbox({"wire": server}, handlers=Handlers(tools_changed=heard)) as toolbox:
        heard.wait(lambda news: len(news) == 1)
        kept = toolbox["wire_same"]
        changed = {**tool("announce"), "description": "Says something else."}
        wire.rewrite(tools=[changed, tool("new"), tool("same")])
        toolbox.call("wire_announce")
        news = heard.wait(lambda news: len(news) == 2)

        assert news[1] == ToolsChange(added=("wire_new",), removed=("wire_old",), changed=("wire_announce",))
        assert toolbox["wire_announce"].description == "Says something else."
        assert toolbox["wire_same"] is kept
        with pytest.raises(ToolNotFoundError, match="no longer"):
            toolbox["wire_old"]


def test_a_tool_in_the_hands_of_an_agent_says_when_it_is_gone(wire: Wire) -> None:
    with Toolbox({"wire": wire.server(tools=[tool("old"), tool("same")])}) as toolbox:
        old = toolbox["wire_old"]
        wire.rewrite(tools=[tool("same")])
        assert toolbox.refresh() == ToolsChange(removed=("wire_old",))
        with pytest.raises(ToolNotFoundError, match="no longer offers the tool 'old'"):
            old.call()


def test_servers_come_and_go_while_the_others_work(wire: Wire) -> None:
    with Toolbox({"one": wire.server("one")}) as toolbox:
        assert toolbox.add("two", wire.server("two")) == ToolsChange(added=("two_echo",))
        assert toolbox.call("two_echo").text == "{}"
        assert toolbox.disable("one") == ToolsChange(removed=("one_echo",))
        assert toolbox.status["one"].state == "disabled"
        assert toolbox.enable("one") == ToolsChange(added=("one_echo",))
        assert toolbox.restart("one") == ToolsChange()
        assert toolbox.call("one_echo").text == "{}"
        assert toolbox.remove("two") == ToolsChange(removed=("two_echo",))
        assert list(toolbox.status) == ["one"]

    assert wire.starts("one") == 3
    assert wire.starts("two") == 1


def test_a_server_is_replaced_by_another_one(wire: Wire) -> None:
    with Toolbox({"one": wire.server("one")}) as toolbox:
        change = toolbox.update("one", wire.server("better", tools=[tool("echo"), tool("more")]))
        assert change == ToolsChange(added=("one_more",))
        assert toolbox.call("one_echo").text == "{}"

    assert (wire.count("tools/call", "one"), wire.count("tools/call", "better")) == (0, 1)


def test_a_failed_update_leaves_the_old_server_at_work(wire: Wire) -> None:
    with Toolbox({"one": wire.server("one")}) as toolbox:
        with pytest.raises(ServerStartError):
            toolbox.update("one", StdioServer(command="no-such-program"))
        with pytest.raises(ServerStartError):
            toolbox.add("two", StdioServer(command="no-such-program"))
        assert list(toolbox.status) == ["one"]
        assert toolbox.call("one_echo").text == "{}"

    assert wire.starts("one") == 1


@pytest.mark.parametrize("on_server_failure", ["fail", "skip"])
def test_whatever_a_failed_change_was_everything_works_as_before(wire: Wire, on_server_failure: Any) -> None:
    broken = StdioServer(command="no-such-program")
    bad = wire.server("bad", tools=[{"name": "no_schema"}])
    servers = {"one": wire.server("one"), "off": StdioServer(command="no-such-program", disabled=True)}
    with Toolbox(servers, require=["one:echo"], on_server_failure=on_server_failure) as toolbox:
        for change in (
            lambda: toolbox.add("two", broken),
            lambda: toolbox.add("two", bad),
            lambda: toolbox.update("one", broken),
            lambda: toolbox.update("one", wire.server("other", tools=[tool("other")])),
            lambda: toolbox.remove("one"),
            lambda: toolbox.disable("one"),
        ):
            with pytest.raises((ServerStartError, ToolboxLoadError)):
                change()
            assert [one.name for one in toolbox] == ["one_echo"]
            assert list(toolbox.status) == ["one", "off"]
            assert toolbox.call("one_echo").text == "{}"

    assert wire.starts("one") == 1


@pytest.mark.parametrize("method", ["remove", "enable", "disable", "restart"])
def test_an_unknown_key_is_told_with_those_that_there_are(wire: Wire, method: str) -> None:
    with (
        Toolbox({"one": wire.server("one")}) as toolbox,
        pytest.raises(ConfigError, match="there are: 'one'"),
    ):
        getattr(toolbox, method)("two")


def test_a_key_that_is_taken_is_told(wire: Wire) -> None:
    with Toolbox({"one": wire.server("one")}) as toolbox, pytest.raises(ConfigError, match="already"):
        toolbox.add("one", wire.server("one"))


def test_the_cap_on_a_whole_call_holds_whatever_the_progress(wire: Wire) -> None:
    server = wire.server(tools=[tool("hang"), tool("echo")])
    with Toolbox({"wire": server}, call_timeout=60, total_timeout=3) as toolbox:
        with pytest.raises(ToolTimeoutError) as caught:
            toolbox.call("wire_hang")
        assert toolbox.call("wire_echo").text == "{}"

    assert (caught.value.limit, caught.value.timeout) == ("total", 3)


async def test_a_server_gets_no_more_calls_at_a_time_than_it_is_allowed() -> None:
    server = MCPServer("slow")
    now, most = 0, 0

    @server.tool(description="Notes how many are inside.")
    async def enter() -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        for _ in range(20):
            await asyncio.sleep(0)
        now -= 1
        return "left"

    async with Toolbox({"slow": server}, max_concurrent_calls=3) as toolbox:
        results = await asyncio.gather(*(toolbox.acall("slow_enter") for _ in range(20)))

    assert [result.text for result in results] == ["left"] * 20
    assert most == 3


# -- connected clients --------------------------------------------------------------------------------


async def test_a_connected_client_is_called_on_its_own_loop_from_everywhere_and_never_closed() -> None:
    loops: list[Any] = []
    server = MCPServer("mine")

    @server.tool(description="Notes the loop.")
    async def note() -> str:
        loops.append(asyncio.get_running_loop())
        return "noted"

    async with Client(server) as client:
        async with Toolbox({"mine": client}) as toolbox:
            noter = toolbox["mine_note"]
            assert (await noter.acall()).text == "noted"
            assert (await asyncio.to_thread(noter.call)).text == "noted"
            assert (await asyncio.to_thread(lambda: asyncio.run(noter.acall()))).text == "noted"
            with pytest.raises(SyncCallInEventLoopError):
                noter.call()
        assert (await client.call_tool("note")).is_error is not True

    assert set(loops) == {asyncio.get_running_loop()}


async def test_a_session_of_the_users_is_a_server_too() -> None:
    server = MCPServer("mine")
    server.add_tool(lambda: "hello", name="greet", description="Greets.")
    async with Client(server, mode="legacy") as client, Toolbox({"mine": client.session}) as toolbox:
        assert (await toolbox.acall("mine_greet")).text == "hello"
        assert toolbox.status["mine"].protocol_version == "2025-11-25"


def test_a_client_whose_loop_cannot_be_told_is_an_error() -> None:
    with pytest.raises(ConfigError, match="event loop"):
        Toolbox({"mine": Client(MCPServer("mine"))}).open()


async def test_a_transport_of_the_users_is_entered_once_and_a_function_makes_new_ones(wire: Wire) -> None:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command, *args = wire.server(tools=[tool("die"), tool("echo")]).argv()
    parameters = StdioServerParameters(command=command, args=args)
    async with Toolbox({"wire": lambda: stdio_client(parameters)}) as toolbox:
        with pytest.raises(ConnectionLostError):
            await toolbox.acall("wire_die")
        assert (await toolbox.acall("wire_echo")).text == "{}"
    async with Toolbox({"wire": stdio_client(parameters)}) as toolbox:
        with pytest.raises(ConnectionLostError):
            await toolbox.acall("wire_die")
        with pytest.raises(ServerStartError, match="give a function"):
            await toolbox.acall("wire_echo")


# -- progress in the frameworks -----------------------------------------------------------------------


async def test_langgraph_streams_progress_and_callbacks_hear_of_it() -> None:
    from langchain.agents import create_agent
    from langchain_core.messages import AIMessage

    from .test_langchain import ScriptedModel, calling

    model = ScriptedModel(script=[calling(("chatty_count", {"to": 2})), AIMessage("done")])
    async with Toolbox({"chatty": chatty()}) as toolbox:
        agent = create_agent(model, toolbox.to("langchain"))
        question = {"messages": [("user", "go")]}
        streamed = [entry async for entry in agent.astream(question, stream_mode="custom")]
        events = [
            e async for e in agent.astream_events(question, version="v2") if e["event"] == "on_custom_event"
        ]

    first = {"server": "chatty", "tool": "count", "progress": 1, "total": 2, "message": "at 1"}
    assert streamed[0] == {"mcp_progress": first}
    assert len(streamed) == 2
    assert [(event["name"], event["data"]["progress"]) for event in events] == [
        ("mcp_progress", 1),
        ("mcp_progress", 2),
    ]


async def test_llamaindex_agents_stream_progress_as_events() -> None:
    from llama_index.core.agent.workflow import FunctionAgent

    from mcp_adapters_llamaindex import McpProgressEvent

    from .test_llamaindex import scripted

    async with Toolbox({"chatty": chatty()}) as toolbox:
        tools = toolbox.to("llamaindex", stream_progress=True)
        llm = scripted([("chatty_count", {"to": 2})])
        handler = FunctionAgent(tools=tools, llm=llm, streaming=False).run(user_msg="go")
        events = [event async for event in handler.stream_events() if isinstance(event, McpProgressEvent)]
        await handler

    assert [(event.progress, event.message) for event in events] == [(1, "at 1"), (2, "at 2")]
