"""The servers of the test kit: by a script, from a queue, from the recorded session of a real server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from mcp_adapters import (
    ConfigError,
    ConnectionLostError,
    ElicitationAnswer,
    Handlers,
    HttpServer,
    PromptNotFoundError,
    ResourceNotFoundError,
    StdioServer,
    Toolbox,
    ToolboxLoadError,
    ToolExecutionError,
    ToolTimeoutError,
)
from mcp_adapters.testing import (
    CannedTransport,
    Die,
    Recording,
    Refuse,
    ScriptedServer,
    Silence,
    UnexpectedRequestError,
    failure,
    image,
    said,
)

from ..conftest import Wire, children, tool
from ..test_elicitation import FORM
from ..test_langchain import ScriptedModel, calling
from ..web import Web, tools_app

PROTOCOLS = ("2026-07-28", "2025-11-25")


# -- by a script ----------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_script_answers_in_both_eras(protocol: Any) -> None:
    server = ScriptedServer("weather", protocol=protocol, instructions="Ask.")
    server.tool("forecast", "sunny", description="Tell.", annotations={"readOnlyHint": True})
    server.tool("echo")
    with server, Toolbox({"w": server}) as toolbox:
        status = toolbox.status["w"]
        assert (status.protocol_version, status.instructions) == (protocol, "Ask.")
        assert (status.server_info or {})["name"] == "weather"
        assert toolbox["w_forecast"].annotations.read_only
        assert toolbox.call("w_forecast").text == "sunny"
        assert toolbox.call("w_echo", {"a": [None, "ü"]}).text == '{"a": [null, "ü"]}'

    assert server.calls == [("forecast", {}), ("echo", {"a": [None, "ü"]})]


async def plainly(arguments: dict[str, Any]) -> str:
    await asyncio.sleep(0)
    return f"hello {arguments['who']}"


def refusing(arguments: dict[str, Any]) -> str:
    raise Refuse(f"not {arguments['who']}")


@pytest.mark.parametrize(
    ("answer", "text", "failed"),
    [
        ("plain", "plain", False),
        (said("one", "two"), "one\ntwo", False),
        (said("rows", structured={"rows": [1]}), 'rows\n{"rows": [1]}', False),
        (failure("no"), "Error: no", True),
        (image(b"\x89PNG", text="a picture"), "a picture\n[image image/png, 4 bytes]", False),
        (lambda arguments: f"hello {arguments['who']}", "hello ann", False),
        (plainly, "hello ann", False),
        ({"structuredContent": {"n": 1}}, '{"n": 1}', False),
        ({}, "Tool executed successfully", False),
    ],
)
def test_every_form_of_answer(answer: Any, text: str, failed: bool) -> None:
    server = ScriptedServer()
    server.tool("t", answer)
    with Toolbox({"s": server}) as toolbox:
        result = toolbox.call("s_t", {"who": "ann"})

    assert (text in result.text or result.text in text, result.is_error) == (True, failed)


@pytest.mark.parametrize("answer", [Refuse("not ann"), refusing])
def test_a_refusal_is_one_of_the_protocol(answer: Any) -> None:
    server = ScriptedServer()
    server.tool("t", answer)
    with Toolbox({"s": server}) as toolbox, pytest.raises(ToolExecutionError, match="not ann"):
        toolbox.call("s_t", {"who": "ann"})


def test_a_result_of_another_server_is_an_answer() -> None:
    first, second = ScriptedServer(), ScriptedServer()
    first.tool("t", image(b"\x89PNG", text="a picture"))
    with Toolbox({"s": first}) as toolbox:
        result = toolbox.call("s_t")
    second.tool("t", result)
    with Toolbox({"s": second}) as toolbox:
        assert toolbox.call("s_t").parts == result.parts


def test_several_answers_are_given_once_each_and_one_more_call_fails_the_test() -> None:
    server = ScriptedServer()
    server.tool("next", "one", "two")
    with pytest.raises(UnexpectedRequestError, match="all answers of the tool 'next' were given"):
        with server, Toolbox({"s": server}) as toolbox:
            assert [toolbox.call("s_next").text for _ in range(2)] == ["one", "two"]
            with contextlib.suppress(ToolExecutionError):
                toolbox.call("s_next")

    server.check()  # it was told


def test_a_test_that_fails_by_itself_says_its_own_reason() -> None:
    server = ScriptedServer()
    server.tool("next", "one", "two")
    with pytest.raises(ValueError, match="mine"):
        with server, Toolbox({"s": server}) as toolbox:
            for _ in range(3):
                with contextlib.suppress(ToolExecutionError):
                    toolbox.call("s_next")
            raise ValueError("mine")


def test_a_server_dies_and_is_silent_as_told() -> None:
    server = ScriptedServer()
    server.tool("die", Die())
    server.tool("hang", Silence())
    server.tool("well", "yes")
    with Toolbox({"s": server}) as toolbox:
        with pytest.raises(ConnectionLostError) as lost:
            toolbox.call("s_die")
        assert toolbox.call("s_well").text == "yes"
        with pytest.raises(ToolTimeoutError):
            toolbox.call("s_hang", timeout=0.1)
        assert toolbox.call("s_well").text == "yes"

    assert lost.value.outcome == "unknown"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_resources_and_prompts(protocol: Any) -> None:
    server = ScriptedServer(protocol=protocol)
    server.resource("memo://1", "buy milk", name="memo")
    server.prompt("ask", ("user", "What of {thing}?"), ("assistant", "All."), arguments=["thing"])
    with Toolbox({"s": server}) as toolbox:
        assert [one.name for one in toolbox.list_resources()] == ["memo"]
        assert toolbox.read_resource("memo://1").text == "buy milk"
        assert [one.name for one in toolbox.list_prompts()] == ["ask"]
        messages = toolbox.get_prompt("ask", {"thing": "milk"}).messages
        assert [(one.role, one.parts[0].text) for one in messages] == [  # type: ignore[union-attr]
            ("user", "What of milk?"),
            ("assistant", "All."),
        ]
        with pytest.raises(ResourceNotFoundError):
            toolbox.read_resource("memo://2")
        with pytest.raises(PromptNotFoundError):
            toolbox.get_prompt("nothing")


async def test_an_agent_is_tested_with_a_script_alone() -> None:
    server = ScriptedServer()
    server.tool("forecast", "rain", "sun")
    asks = [calling(("w_forecast", {})) for _ in range(2)]
    model = ScriptedModel(script=[*asks, AIMessage("Sun, in the end.")])
    with server:
        async with Toolbox({"w": server}) as toolbox:
            await create_agent(model, toolbox.to("langchain")).ainvoke({"messages": [("user", "weather?")]})

    assert server.calls == [("forecast", {})] * 2


# -- from a queue ---------------------------------------------------------------------------------

LISTING = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}


def test_a_queue_is_answered_in_order_and_what_was_sent_can_be_looked_at() -> None:
    canned = CannedTransport()
    canned.expect("tools/list", LISTING)
    told = {"method": "notifications/message", "params": {"level": "info", "data": "adding"}}
    canned.expect(
        "tools/call", said("3"), params={"name": "add", "arguments": {"a": 1, "b": 2}}, before=(told,)
    )
    canned.expect("tools/call", error={"code": -32000, "message": "tired"})
    heard: list[Any] = []
    with canned, Toolbox({"c": canned}, handlers=Handlers(log=heard.append)) as toolbox:
        assert toolbox.call("c_add", {"a": 1, "b": 2}).text == "3"
        with pytest.raises(ToolExecutionError, match="tired"):
            toolbox.call("c_add")
        assert canned.left == ()

    methods = [one.method for one in canned.sent]
    assert methods[-3:] == ["tools/list", "tools/call", "tools/call"]
    assert [one.data for one in heard] == ["adding"]


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        ((), "the next one expected is nothing"),
        (("resources/list", None), "the next one expected is resources/list"),
        (("tools/call", {"name": "add", "arguments": {"a": 2}}), "it was expected with"),
    ],
)
def test_a_request_that_is_not_the_next_one_fails_the_test(expected: Any, told: str) -> None:
    canned = CannedTransport()
    canned.expect("tools/list", LISTING)
    if expected:
        canned.expect(expected[0], {}, params=expected[1])
    with pytest.raises(UnexpectedRequestError, match=told):
        with canned, Toolbox({"c": canned}) as toolbox:
            with contextlib.suppress(ToolExecutionError):
                toolbox.call("c_add", {"a": 1})


def test_an_answer_that_nobody_asked_for_fails_the_test() -> None:
    canned = CannedTransport()
    canned.expect("tools/list", LISTING)
    canned.expect("tools/call", said("3"))
    with pytest.raises(UnexpectedRequestError, match="never asked for: tools/call"):
        with canned, Toolbox({"c": canned}):
            pass


def test_what_no_sdk_would_send_can_be_sent() -> None:
    canned = CannedTransport()
    canned.expect("tools/list", {"tools": [{"inputSchema": {}}]})
    with pytest.raises(ToolboxLoadError, match="no name"), Toolbox({"c": canned}):
        pass


# -- recorded -------------------------------------------------------------------------------------

NOTES = [sys.executable, "-m", "mcp_adapters.demo.notes_server"]
SECRET = "s3cret-of-the-server"


def notes(folder: Path) -> StdioServer:
    return StdioServer(
        command=NOTES[0], args=[*NOTES[1:], str(folder / "notes.db")], env={"NOTES_KEY": SECRET}
    )


def use(toolbox: Toolbox) -> list[str]:
    return [
        toolbox.call("n_add_note", {"text": f"the key is {SECRET}", "tag": "x"}).text,
        toolbox.call("n_stats").text,
        toolbox.call("n_add_note", {"text": "second"}).text,
        toolbox.call("n_stats").text,
        toolbox.call("n_get_note", {"note_id": 99}).text,
    ]


def test_a_recorded_session_plays_without_the_server_and_without_its_secrets(tmp_path: Path) -> None:
    file = tmp_path / "recordings" / "notes.json"
    with Toolbox({"n": Recording(file, notes(tmp_path), mode="record")}) as toolbox:
        live, tools = use(toolbox), list(toolbox)
    running = children()
    with Recording(file, notes(tmp_path)) as recording, Toolbox({"n": recording}) as toolbox:
        played = use(toolbox)
        assert children() <= running
        assert [tool.spec for tool in toolbox] == [tool.spec for tool in tools]

    assert [text.replace(SECRET, "***") for text in live] == played
    assert SECRET not in file.read_text()
    recorded = json.loads(file.read_text())["exchanges"]
    assert [one["method"] for one in recorded].count("tools/call") == 5


def test_further_secrets_are_replaced_too(tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    recording = Recording(file, notes(tmp_path), mode="record", secrets=["hunter2"])
    with Toolbox({"n": recording}) as toolbox:
        toolbox.call("n_add_note", {"text": "it is hunter2"})

    assert "hunter2" not in file.read_text()
    with Recording(file, secrets=["hunter2"]) as played, Toolbox({"n": played}) as toolbox:
        assert "it is ***" in toolbox.call("n_add_note", {"text": "it is hunter2"}).text


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("n_add_note", {"text": "other"}, "recorded for tools/call"),
        ("n_stats", {}, "has no such one left"),
    ],
)
def test_a_request_that_was_not_recorded_fails_the_test(
    tmp_path: Path, name: str, arguments: dict[str, Any], told: str
) -> None:
    file = tmp_path / "notes.json"
    with Toolbox({"n": Recording(file, notes(tmp_path), mode="record")}) as toolbox:
        toolbox.call("n_stats")
    with pytest.raises(UnexpectedRequestError, match=told):
        with Recording(file) as recording, Toolbox({"n": recording}) as toolbox:
            toolbox.call("n_stats")
            with contextlib.suppress(ToolExecutionError):
                toolbox.call(name, arguments)


def test_a_session_over_http_is_recorded_and_played(tmp_path: Path) -> None:
    file = tmp_path / "web.json"
    with Web(tools_app()) as web:
        server = HttpServer(url=web.mcp, headers={"X-Key": SECRET})
        with Toolbox({"w": Recording(file, server, mode="record")}) as toolbox:
            live = [toolbox.call("w_echo", {"text": text}).text for text in "ab"]
            toolbox.call("w_header", {"name": "x-key"})
    with Recording(file) as recording, Toolbox({"w": recording}) as toolbox:
        assert [toolbox.call("w_echo", {"text": text}).text for text in "ba"] == live[::-1]

    assert SECRET not in file.read_text()


def test_auto_records_once(tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    answers = []
    for _ in range(2):
        with Toolbox({"n": Recording(file, notes(tmp_path), mode="auto")}) as toolbox:
            answers.append(toolbox.call("n_add_note", {"text": "a"}).structured)

    assert answers[0] == answers[1]


def test_progress_and_the_end_of_a_connection_are_played_too(tmp_path: Path, wire: Wire) -> None:
    file = tmp_path / "session.json"
    server = wire.server(tools=[tool("log"), tool("die_once")])
    for mode in ("record", "replay"):
        heard: list[Any] = []
        recording = Recording(file, server, mode=mode)  # type: ignore[arg-type]
        with Toolbox({"w": recording}, handlers=Handlers(log=heard.append)) as toolbox:
            toolbox.call("w_log")
            with pytest.raises(ConnectionLostError):
                toolbox.call("w_die_once")
            assert toolbox.call("w_die_once").text == "ok"
        assert [one.data for one in heard] == [{"n": 1}], mode


def test_a_question_of_the_server_is_asked_again(tmp_path: Path, wire: Wire) -> None:
    file = tmp_path / "session.json"
    server = wire.server(tools=[tool("ask")], era="modern", question=FORM)
    answers = []
    for mode in ("record", "replay"):
        asked: list[Any] = []

        def answer(request: Any, asked: list[Any] = asked) -> ElicitationAnswer:
            asked.append(request.message)
            return ElicitationAnswer(action="decline")

        recording = Recording(file, server, mode=mode)  # type: ignore[arg-type]
        with recording, Toolbox({"w": recording}, handlers=Handlers(elicitation=answer)) as toolbox:
            answers.append(toolbox.call("w_ask").text)
        assert len(asked) == 1, mode

    assert answers[0] == answers[1]


@pytest.mark.parametrize("content", [None, "", "{}", "[]", '{"format": 2, "exchanges": []}', '{"format": 1}'])
def test_a_file_that_is_no_recording_is_an_error_with_the_way_out(
    tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "some.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError, match=r"some\.json"):
        Recording(file)


def test_recording_needs_a_server(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no server to record"):
        Recording(tmp_path / "some.json", mode="record")
