"""A toolbox over real child processes: one connection for each server, usable from everywhere."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

from mcp_adapters import (
    ConfigError,
    DiscoveryError,
    SyncCallInEventLoopError,
    Tool,
    Toolbox,
    ToolboxClosedError,
    ToolboxLoadError,
    ToolExecutionError,
    ToolFilter,
    ToolNotFoundError,
)
from mcp_adapters._portal import portal

from .conftest import Wire, tool

TEXT = {"type": "string"}


def test_a_hundred_calls_from_everywhere_use_one_process_and_one_handshake(wire: Wire) -> None:
    """Sync code, two event loops and four threads, interleaved; every answer goes to its caller."""
    answers: list[tuple[str, str]] = []

    def ask(asked: Tool, text: str) -> None:
        answers.append((text, json.loads(asked.call({"text": text}).text)["text"]))

    async def ask_in_loop(asked: Tool, loop: str) -> None:
        texts = [f"{loop}-{n}" for n in range(25)]
        results = await asyncio.gather(*(asked.acall({"text": text}) for text in texts))
        answers.extend(
            (text, json.loads(result.text)["text"]) for text, result in zip(texts, results, strict=True)
        )

    with Toolbox({"wire": wire.server(tools=[tool("echo", text=TEXT)])}) as toolbox:
        echo = toolbox["wire_echo"]
        with ThreadPoolExecutor(6) as threads:
            jobs = [threads.submit(asyncio.run, ask_in_loop(echo, f"loop{n}")) for n in range(2)]
            jobs += [
                threads.submit(lambda n=n: [ask(echo, f"thread{n}-{i}") for i in range(10)]) for n in range(4)
            ]
            for number in range(10):
                ask(echo, f"main-{number}")
            for job in jobs:
                job.result()

    assert len(answers) == 100
    assert all(sent == received for sent, received in answers)
    assert wire.starts() == 1
    assert wire.count("initialize") == 1
    assert wire.count("tools/list") == 1
    assert wire.count("tools/call") == 100


def test_tools_outlive_the_event_loop_that_listed_them(wire: Wire) -> None:
    toolbox = Toolbox({"wire": wire.server(tools=[tool("echo", text=TEXT)])})
    asyncio.run(toolbox.aopen())
    try:
        [echo] = toolbox.tools
        assert asyncio.run(echo.acall({"text": "second loop"})).text == '{"text": "second loop"}'
        assert echo.call({"text": "no loop"}).text == '{"text": "no loop"}'
    finally:
        toolbox.close()

    assert wire.starts() == 1


async def test_a_synchronous_call_works_while_a_loop_runs_as_in_a_notebook_cell(wire: Wire) -> None:
    with Toolbox({"wire": wire.server()}) as toolbox:
        assert toolbox["wire_echo"].call().text == "{}"


async def test_a_synchronous_call_on_the_background_loop_is_refused_instead_of_hanging(wire: Wire) -> None:
    async with Toolbox({"wire": wire.server()}) as toolbox:
        echo = toolbox["wire_echo"]

        async def call_there() -> Any:
            return echo.call()

        with pytest.raises(SyncCallInEventLoopError):
            await portal().arun(call_there)


def test_a_server_object_of_this_program_is_a_server_too() -> None:
    server = MCPServer("calculator")

    @server.tool(description="Add two numbers.")
    def add(a: int, b: int) -> int:
        return a + b

    with Toolbox({"calc": server}) as toolbox:
        result = toolbox.call("calc_add", {"a": 2, "b": 3})

    assert (result.text, result.structured) == ("5", 5)


def test_a_handler_that_calls_its_own_toolbox_synchronously_is_refused() -> None:
    server = MCPServer("loops")
    seen: list[type[BaseException]] = []

    @server.tool(description="Calls itself.")
    async def again() -> str:
        try:
            toolbox.call("loops_again")
        except SyncCallInEventLoopError as error:
            seen.append(type(error))
        return "done"

    with Toolbox({"loops": server}) as toolbox:
        assert toolbox.call("loops_again").text == "done"

    assert seen == [SyncCallInEventLoopError]


def test_two_servers_with_the_same_tool_are_both_reachable(wire: Wire) -> None:
    servers = {"first": wire.server("first"), "second": wire.server("second")}
    with Toolbox(servers) as toolbox:
        assert [t.name for t in toolbox] == ["first_echo", "second_echo"]
        toolbox.call("first_echo")
        toolbox.call("second_echo")
        toolbox.call("second_echo")

    assert wire.count("tools/call", "first") == 1
    assert wire.count("tools/call", "second") == 2


def test_every_page_of_a_listing_is_read(wire: Wire) -> None:
    tools = [tool(f"t{n}") for n in range(25)]
    with Toolbox({"wire": wire.server(tools=tools, page=10)}) as toolbox:
        assert [t.remote_name for t in toolbox] == [f"t{n}" for n in range(25)]

    assert wire.count("tools/list") == 3


@pytest.mark.parametrize(
    ("cursors", "reason", "requests"),
    [("repeat", "repeats a page cursor", 2), ("endless", "more than 1000 pages", 1_000)],
)
def test_a_listing_without_end_is_an_error(wire: Wire, cursors: str, reason: str, requests: int) -> None:
    with (
        pytest.raises(DiscoveryError, match=reason) as caught,
        Toolbox({"wire": wire.server(cursors=cursors)}),
    ):
        pass

    assert caught.value.server == "wire"
    assert wire.count("tools/list") == requests


BAD = [
    {"name": "no_schema", "description": "x"},
    {"name": "not_a_schema", "description": "x", "inputSchema": {"type": "objekt"}},
    {"name": "an_array", "description": "x", "inputSchema": {"type": "array"}},
    {"description": "x", "inputSchema": {"type": "object"}},
]


def test_bad_tools_keep_a_toolbox_from_opening_and_every_one_is_named(wire: Wire) -> None:
    with (
        pytest.raises(ToolboxLoadError) as caught,
        Toolbox({"wire": wire.server(tools=[tool("echo"), *BAD])}),
    ):
        pass

    assert {(bad.server, bad.name) for bad in caught.value.tools} == {
        ("wire", "no_schema"),
        ("wire", "not_a_schema"),
        ("wire", "an_array"),
        ("wire", "#4"),
    }
    message = str(caught.value)
    for bad in caught.value.tools:
        assert f"server 'wire', tool {bad.name!r}, at {bad.pointer}: {bad.reason}" in message
        assert bad.remedy in message


def test_with_skip_the_good_tools_work_and_skipped_tells_of_the_others(wire: Wire) -> None:
    server = wire.server(tools=[*BAD, tool("echo")])
    with Toolbox({"wire": server}, on_bad_tool="skip") as toolbox:
        assert [t.name for t in toolbox] == ["wire_echo"]
        assert toolbox.call("wire_echo").text == "{}"
        assert {skipped.name for skipped in toolbox.skipped} == {
            "no_schema",
            "not_a_schema",
            "an_array",
            "#0",
        } - {"#0"} | {"#3"}


def test_a_schema_that_can_only_be_meant_one_way_is_repaired_with_a_warning(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    bare = {
        "name": "bare",
        "description": "x",
        "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"},
    }
    with Toolbox({"wire": wire.server(tools=[bare])}) as toolbox:
        assert toolbox["wire_bare"].model_schema == {"type": "object", "properties": {}}
        assert toolbox.call("wire_bare").text == "ok"

    assert "'bare'" in caplog.text
    assert "repaired" in caplog.text


FILTERS = {
    "allow": (ToolFilter.allow("a"), ["wire_a"]),
    "deny": (ToolFilter.deny("a"), ["wire_b", "wire_c"]),
    "where": (ToolFilter.where(lambda name, hints: bool(hints.read_only)), ["wire_c"]),
    "by server": ({"wire": ToolFilter.allow("b", "c")}, ["wire_b", "wire_c"]),
}


@pytest.mark.parametrize("case", FILTERS)
def test_filters_decide_which_tools_are_offered(wire: Wire, case: str) -> None:
    tools = [tool("a"), tool("b"), {**tool("c"), "annotations": {"readOnlyHint": True}}]
    filters, offered = FILTERS[case]
    with Toolbox({"wire": wire.server(tools=tools)}, tools=filters) as toolbox:
        assert [t.name for t in toolbox] == offered
        assert len(toolbox.skipped) == 3 - len(offered)


def test_a_hidden_bad_tool_harms_nobody(wire: Wire) -> None:
    server = wire.server(tools=[tool("echo"), *BAD[:3]])
    with Toolbox({"wire": server}, tools=ToolFilter.allow("echo")) as toolbox:
        assert len(toolbox) == 1


def test_required_tools_that_are_missing_keep_a_toolbox_from_opening(wire: Wire) -> None:
    with (
        pytest.raises(ToolboxLoadError, match=r"'wire:ecko'.*'wire:echo'") as caught,
        Toolbox({"wire": wire.server()}, require=["wire:ecko", "wire:echo", "other"]),
    ):
        pass

    assert [missing.name for missing in caught.value.tools] == ["wire:ecko", "other"]


def test_an_unknown_name_is_an_error_with_the_closest_names(wire: Wire) -> None:
    with Toolbox({"wire": wire.server()}) as toolbox, pytest.raises(ToolNotFoundError) as caught:
        toolbox.call("wire_ecko")

    assert caught.value.closest == ("wire_echo",)


def test_a_closed_toolbox_says_so(wire: Wire) -> None:
    toolbox = Toolbox({"wire": wire.server()})
    with pytest.raises(ToolboxClosedError):
        toolbox.tools  # noqa: B018
    with toolbox:
        [echo] = toolbox.tools
    toolbox.close()

    with pytest.raises(ToolboxClosedError):
        echo.call()
    with pytest.raises(ToolboxClosedError):
        asyncio.run(echo.acall())
    with pytest.raises(ToolboxClosedError):
        toolbox["wire_echo"]


def test_a_closed_toolbox_can_be_opened_again(wire: Wire) -> None:
    toolbox = Toolbox({"wire": wire.server()})
    for _ in range(2):
        with toolbox:
            assert toolbox.call("wire_echo").text == "{}"

    assert wire.starts() == 2


def test_an_error_in_the_block_still_stops_the_servers(wire: Wire) -> None:
    """The error passes through unchanged; that no process is left is checked for every test."""
    with pytest.raises(KeyError, match="caller"), Toolbox({"wire": wire.server()}):
        raise KeyError("caller")


def test_context_variables_travel_with_a_call() -> None:
    from contextvars import ContextVar

    user: ContextVar[str] = ContextVar("user", default="nobody")
    server = MCPServer("who")

    @server.tool(description="Who asks.")
    def who() -> str:
        return user.get()

    with Toolbox({"who": server}) as toolbox:
        user.set("alice")
        assert toolbox.call("who_who").text == "alice"


def test_results_carry_text_images_structure_and_errors(wire: Wire) -> None:
    names = ["picture", "structured", "fail"]
    with Toolbox({"wire": wire.server(tools=[tool(name) for name in names])}) as toolbox:
        picture, structured, failed = (toolbox.call(f"wire_{name}") for name in names)

    assert [part.kind for part in picture.parts] == ["text", "image"]
    assert structured.structured == {"rows": [1, 2, 3]}
    assert (failed.is_error, failed.text) == (True, "it did not work")


def test_on_tool_error_raise_turns_a_failed_tool_into_an_exception(wire: Wire) -> None:
    server = wire.server(tools=[tool("fail")])
    with (
        Toolbox({"wire": server}, on_tool_error="raise") as toolbox,
        pytest.raises(ToolExecutionError) as caught,
    ):
        toolbox.call("wire_fail")

    assert (caught.value.server, caught.value.tool) == ("wire", "fail")
    assert caught.value.result.text == "it did not work"


def test_tools_keep_their_names_when_another_server_fails_to_offer_its_own(wire: Wire) -> None:
    """A broken server is left out by choice, and the status says why."""
    broken = wire.server("broken", at_start="exit")
    with Toolbox({"good": wire.server("good"), "broken": broken}, on_server_failure="skip") as toolbox:
        assert [t.name for t in toolbox] == ["good_echo"]
        status = toolbox.status

    assert (status["good"].state, status["good"].tools) == ("ready", 1)
    assert status["good"].protocol_version == "2025-11-25"
    assert status["good"].instructions == "say what you are told"
    assert status["broken"].state == "failed"
    assert "was told to give up" in str(status["broken"].last_error)


def test_closing_from_another_thread_is_fine(wire: Wire) -> None:
    toolbox = Toolbox({"wire": wire.server()}).open()
    thread = threading.Thread(target=toolbox.close)
    thread.start()
    thread.join()

    with pytest.raises(ToolboxClosedError):
        toolbox.call("wire_echo")


def test_inputs_of_a_configuration_are_asked_for_once(wire: Wire) -> None:
    server = wire.server()
    entry = {"command": server.command, "args": server.args, "env": {"TOKEN": "${input:token}"}}
    config = {
        "inputs": [{"id": "token", "type": "promptString", "password": True}],
        "servers": {"wire": entry},
    }
    asked: list[str] = []

    def ask(name: str, definition: Mapping[str, object]) -> str:
        asked.append(name)
        return "s3cret"

    with Toolbox(config, inputs=ask) as toolbox:
        assert toolbox.call("wire_echo", {"text": "x"}).text

    assert asked == ["token"]
    assert "s3cret" not in repr(toolbox)
    with pytest.raises(ConfigError, match="token"):
        Toolbox(config)
