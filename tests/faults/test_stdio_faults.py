"""A child process may misbehave in any way: the call fails with a name, runs once, and the next works."""

from __future__ import annotations

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mcp_adapters import (
    ConnectError,
    ConnectionLostError,
    DiscoveryError,
    HandshakeError,
    McpAdaptersError,
    ServerStartError,
    Toolbox,
    ToolExecutionError,
    ToolTimeoutError,
)

from .conftest import Faults, until
from .harness import VERSION, Era, FaultServer, arguments, gone

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])

SURVIVED: list[tuple[str, dict[str, Any]]] = [
    ("late", {"until": 0.02}),
    ("twice", {}),
    ("garbage", {}),
    ("not_utf8", {}),
    ("half_line", {}),
    ("progress", {}),
    ("log", {}),
    ("tools_changed", {"tools": ["other"]}),
    ("child", {}),
]
LOST: list[tuple[str, dict[str, Any], str]] = [
    ("exit_before", {"code": 7}, "exit code 7"),
    ("exit_before", {"code": 0}, "exit code 0"),
    ("kill", {}, "exit code -9"),
    ("cut", {"code": 5}, "exit code 5"),
    ("close_output", {}, "ended"),
]
UNANSWERED: list[tuple[str, dict[str, Any]]] = [
    ("hang", {}),
    ("wrong_id", {}),
    ("late", {"until": "cancelled"}),
]


@both_eras
@pytest.mark.parametrize(
    ("fault", "options"), SURVIVED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_noise_around_an_answer_does_not_touch_it(
    servers: Faults, era: Era, fault: str, options: dict[str, Any]
) -> None:
    server = servers("stdio", era=era)
    with server.toolbox() as toolbox:
        result = server.call(toolbox, fault, **options)
        assert server.works(toolbox)
        assert toolbox.status["srv"].protocol_version == VERSION[era]

    assert [result.text, result.is_error] == [server.calls[0], False]
    assert (server.starts, len(server.calls)) == (1, 2)


@both_eras
def test_fifty_megabytes_in_one_line_arrive(servers: Faults, era: Era) -> None:
    server = servers("stdio", era=era)
    with server.toolbox() as toolbox:
        assert len(server.call(toolbox, "huge", megabytes=50).text) == 50_000_000
        assert server.works(toolbox)


@both_eras
@pytest.mark.parametrize(
    ("fault", "options", "words"), LOST, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_server_lost_in_a_call_leaves_its_outcome_unknown_and_comes_back(
    servers: Faults, impatient: None, era: Era, fault: str, options: dict[str, Any], words: str
) -> None:
    server = servers("stdio", era=era)
    with server.toolbox() as toolbox:
        with pytest.raises(ConnectionLostError) as caught:
            server.call(toolbox, fault, **options)
        assert server.works(toolbox)
        assert server.works(toolbox)

    error = caught.value
    assert (error.server, error.tool, error.phase) == ("srv", "do", "call")
    assert (error.outcome, error.retriable) == ("unknown", False)
    assert words in str(error)
    assert (server.starts, len(server.calls)) == (2, 3)


@both_eras
@pytest.mark.parametrize(
    ("fault", "options"), UNANSWERED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_without_answer_is_cancelled_at_the_server_and_its_process_goes_on(
    servers: Faults, era: Era, fault: str, options: dict[str, Any]
) -> None:
    server = servers("stdio", era=era)
    with server.toolbox() as toolbox:
        with pytest.raises(ToolTimeoutError) as caught:
            server.call(toolbox, fault, **options, timeout=0.3)
        assert server.works(toolbox)

    assert (caught.value.server, caught.value.tool, caught.value.timeout) == ("srv", "do", 0.3)
    [call, _] = server.events("message", method="tools/call")
    [cancelled] = server.events("message", method="notifications/cancelled")
    assert cancelled["params"]["requestId"] == call["id"]
    assert server.starts == 1


@both_eras
@pytest.mark.parametrize("code", [-32000, -32001, -32603, -32602, 0, 17])
def test_an_error_code_of_any_kind_is_the_answer_of_one_call(servers: Faults, era: Era, code: int) -> None:
    """Also the codes that the client's own library uses for timeouts and for the connection's end."""
    server = servers("stdio", era=era)
    with server.toolbox() as toolbox:
        with pytest.raises(ToolExecutionError, match="told to refuse") as caught:
            server.call(toolbox, "error", code=code)
        assert server.works(toolbox)

    assert (caught.value.server, caught.value.tool, caught.value.code) == ("srv", "do", code)
    assert server.starts == 1


@both_eras
def test_a_server_that_ends_after_its_answer_is_started_again_by_the_next_call(
    servers: Faults, era: Era
) -> None:
    server = servers("stdio", era=era)
    with server.toolbox() as toolbox:
        assert server.call(toolbox, "exit_after").text == server.calls[0]
        assert until(lambda: toolbox.status["srv"].state != "ready" or server.starts == 2)
        assert server.works(toolbox)

    assert (server.starts, len(server.calls)) == (2, 2)


@both_eras
def test_a_server_that_stops_reading_is_lost_at_the_next_call(
    servers: Faults, impatient: None, era: Era
) -> None:
    server = servers("stdio", era=era)
    with server.toolbox() as toolbox:
        server.call(toolbox, "close_input")
        with pytest.raises(ConnectionLostError) as caught:
            server.works(toolbox)
        assert server.works(toolbox)

    assert (caught.value.server, caught.value.tool) == ("srv", "do")
    assert (server.starts, len(server.calls)) == (2, 2)


@both_eras
def test_a_call_that_cannot_be_written_ends_in_time_and_the_toolbox_closes(
    servers: Faults, impatient: None, era: Era
) -> None:
    """The server has stopped reading, and its pipe is full."""
    server = servers("stdio", era=era)
    with server.toolbox() as toolbox:
        server.call(toolbox, "stop_reading")
        with pytest.raises(ToolTimeoutError):
            server.call(toolbox, text="x" * 1_000_000, timeout=0.3)

    assert all(map(gone, server.pids()))


@both_eras
def test_a_server_that_stops_reading_is_given_up_when_a_call_cannot_be_written(
    servers: Faults, impatient: None, era: Era
) -> None:
    server = servers("stdio", era=era)
    with server.toolbox(call_timeout=0.3) as toolbox:
        server.call(toolbox, "stop_reading")
        with pytest.raises((ToolTimeoutError, ConnectionLostError)):
            server.call(toolbox, text="x" * 1_000_000)
        assert server.works(toolbox)


def test_a_server_that_fills_its_standard_error_is_read_and_its_last_words_are_kept(servers: Faults) -> None:
    server = servers("stdio")
    with server.toolbox() as toolbox:
        server.call(toolbox, "complain", kilobytes=1000)
        assert until(lambda: toolbox.status["srv"].stderr.endswith(" 999"))
        assert len(toolbox.status["srv"].stderr) <= 8192


@both_eras
async def test_all_calls_in_flight_learn_at_once_that_the_server_was_killed(
    servers: Faults, era: Era
) -> None:
    server = servers("stdio", era=era)
    async with server.toolbox() as toolbox:
        calls = [asyncio.create_task(toolbox.acall("srv_do", arguments("hang"))) for _ in range(20)]
        assert await asyncio.to_thread(until, lambda: len(server.calls) == 20)
        os.kill(server.pids()[0], signal.SIGKILL)
        errors = await asyncio.gather(*calls, return_exceptions=True)
        assert await asyncio.to_thread(server.works, toolbox)

    assert {
        (type(error), getattr(error, "outcome", None), getattr(error, "tool", None)) for error in errors
    } == {(ConnectionLostError, "unknown", "do")}
    assert (server.starts, len(server.calls)) == (2, 21)


@both_eras
def test_many_callers_of_a_dead_server_start_it_once(servers: Faults, era: Era) -> None:
    server = servers("stdio", era=era)
    with server.toolbox() as toolbox, ThreadPoolExecutor(8) as threads:
        with pytest.raises(ConnectionLostError):
            server.call(toolbox, "kill")
        assert all(threads.map(lambda _: server.works(toolbox), range(24)))

    assert (server.starts, len(server.calls)) == (2, 25)


@both_eras
def test_a_server_that_cannot_come_back_is_told_to_each_caller_until_it_does(
    servers: Faults, era: Era
) -> None:
    server = servers("stdio", era=era, starts=[{}, {"at_start": "exit"}, {"at_start": None}])
    with server.toolbox() as toolbox:
        with pytest.raises(ConnectionLostError):
            server.call(toolbox, "kill")
        with pytest.raises(ServerStartError) as caught:
            server.works(toolbox)
        assert server.works(toolbox)

    assert (caught.value.server, caught.value.exit_code) == ("srv", 3)
    assert caught.value.stderr == "the fault server was told to give up"
    assert (server.starts, len(server.calls)) == (3, 2)


@both_eras
def test_a_server_that_comes_back_with_other_tools_answers_for_those_it_still_has(
    servers: Faults, era: Era
) -> None:
    """The tool that is gone is refused by the server; nothing else notices until a refresh."""
    server = servers("stdio", era=era, starts=[{"tools": ["old"]}, {"tools": ["new"]}])
    with server.toolbox() as toolbox:
        with pytest.raises(ConnectionLostError):
            server.call(toolbox, "exit_before")
        assert server.works(toolbox)
        toolbox.refresh()
        assert [tool.name for tool in toolbox.tools] == ["srv_do", "srv_new"]
        assert toolbox.call("srv_new").text == "ok"


# -- the start ----------------------------------------------------------------------------------------

BROKEN_STARTS: list[tuple[str, dict[str, Any], type[McpAdaptersError], str]] = [
    ("initialize", {"fault": "exit_before"}, ServerStartError, "exit code 7"),
    ("initialize", {"fault": "kill"}, ServerStartError, "exit code -9"),
    ("initialize", {"fault": "hang"}, HandshakeError, "within 0.6 s"),
    ("initialize", {"fault": "wrong_id"}, HandshakeError, "within 0.6 s"),
    ("initialize", {"fault": "error"}, HandshakeError, "told to refuse"),
    ("initialize", {"fault": "no_result"}, HandshakeError, "did not answer as an MCP server"),
    ("tools/list", {"fault": "hang"}, DiscoveryError, "within 0.5 s"),
    ("tools/list", {"fault": "error"}, DiscoveryError, "told to refuse"),
    ("tools/list", {"fault": "exit_before"}, ConnectionLostError, "exit code 7"),
]


@pytest.mark.parametrize(
    ("method", "fault", "kind", "words"), BROKEN_STARTS, ids=lambda value: str(value)[:24]
)
def test_a_start_that_fails_names_the_server_and_the_step(
    servers: Faults,
    impatient: None,
    method: str,
    fault: dict[str, Any],
    kind: type[McpAdaptersError],
    words: str,
) -> None:
    server = servers("stdio", on={method: fault}, at_start="child")
    phase = "list" if method == "tools/list" else "connect"
    connect_timeout = 0.6 if phase == "connect" else 10.0
    with (
        pytest.raises(kind) as caught,
        server.toolbox(connect_timeout=connect_timeout, call_timeout=0.5),
    ):
        pass

    assert (type(caught.value), caught.value.server, caught.value.phase) == (kind, "srv", phase)
    assert words in str(caught.value)


@both_eras
def test_a_listing_that_was_lost_is_read_again(servers: Faults, era: Era) -> None:
    server = servers("stdio", era=era, starts=[{"on": {"tools/list": {"fault": "exit_before"}}}, {"on": {}}])
    with server.toolbox() as toolbox:
        assert server.works(toolbox)

    assert server.starts == 2


def probe_deaths(server: FaultServer) -> None:
    """The first process does not survive the probe; no later one hears it."""
    with server.toolbox() as toolbox:
        assert server.works(toolbox)
        with pytest.raises(ConnectionLostError):
            server.call(toolbox, "kill")
        assert server.works(toolbox)

    assert server.starts == 3
    [first, *_] = server.pids()
    assert [event["pid"] for event in server.events("message", method="server/discover")] == [first]


def test_a_server_that_is_silent_to_the_probe_and_ends_at_the_handshake_is_started_anew_without_the_probe(
    servers: Faults, impatient: None
) -> None:
    """Servers on old Python SDKs do so."""
    fault = {"server/discover": {"fault": "hang"}, "initialize": {"fault": "exit_before"}}
    probe_deaths(servers("stdio", starts=[{"on": fault}, {"on": {}}]))


def test_a_server_that_ends_at_the_probe_is_started_anew_without_it(servers: Faults) -> None:
    fault = {"server/discover": {"fault": "exit_before"}}
    probe_deaths(servers("stdio", starts=[{"on": fault}, {"on": {}}]))


def test_a_handshake_server_that_is_silent_to_the_probe_is_not_started_twice(
    servers: Faults, impatient: None
) -> None:
    server = servers("stdio", on={"server/discover": {"fault": "hang"}})
    with server.toolbox() as toolbox:
        assert toolbox.status["srv"].protocol_version == VERSION["legacy"]
        assert server.works(toolbox)

    assert server.starts == 1


@pytest.mark.parametrize("until_seen", ["initialize", 0.3])
def test_a_modern_server_that_is_slower_than_the_probe_stays_modern(
    servers: Faults, impatient: None, until_seen: str | float
) -> None:
    late = {"fault": "late", "until": until_seen}
    server = servers("stdio", era="modern", on={"server/discover": late})
    with server.toolbox() as toolbox:
        assert toolbox.status["srv"].protocol_version == VERSION["modern"]
        assert server.works(toolbox)

    assert server.starts == 1


@pytest.mark.parametrize(("protocol", "era"), [("legacy", "modern"), ("2026-07-28", "legacy")])
def test_a_server_that_does_not_speak_the_protocol_asked_for_is_told(
    servers: Faults, protocol: Any, era: Era
) -> None:
    server = servers("stdio", era=era)
    config = server.config().model_copy(update={"protocol": protocol})
    with pytest.raises(HandshakeError) as caught, Toolbox({"srv": config}, connect_timeout=10):
        pass

    assert caught.value.server == "srv"


# -- the end ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ignore", [["eof"], ["eof", "sigterm"]])
@both_eras
def test_a_server_that_will_not_end_is_ended(
    servers: Faults, impatient: None, era: Era, ignore: list[str]
) -> None:
    server = servers("stdio", era=era, ignore=ignore, at_start="child")
    with server.toolbox() as toolbox:
        assert server.works(toolbox)

    assert all(map(gone, server.pids() + server.pids("child")))
    assert server.events("eof") != []


@pytest.mark.parametrize("fault", ["none", "exit_before", "kill", "hang"])
def test_what_a_server_started_ends_with_it(servers: Faults, fault: str) -> None:
    """After a clean end, after a crash, and after a call that never ended."""
    server = servers("stdio")
    with server.toolbox(call_timeout=0.5) as toolbox:
        server.call(toolbox, "child")
        if fault != "none":
            with pytest.raises((ConnectionLostError, ToolTimeoutError)):
                server.call(toolbox, fault)
        assert server.works(toolbox)

    [child] = server.pids("child")
    assert gone(child)


def test_a_process_that_left_the_servers_session_is_not_found_again(servers: Faults) -> None:
    """A limit, not a promise: it has left the process group, which is all that is known of it."""
    server = servers("stdio")
    with server.toolbox() as toolbox:
        server.call(toolbox, "sessionless_child")

    [child] = server.pids("child")
    os.kill(child, 0)
    os.kill(child, signal.SIGKILL)
    assert gone(child)


def test_thirty_starts_and_ends_leave_nothing(servers: Faults) -> None:
    """Each odd one fails at its first word."""
    fine: FaultServer = servers("stdio", "fine")
    broken: FaultServer = servers("stdio", "broken", on={"initialize": {"fault": "exit_before"}})
    for _ in range(15):
        with fine.toolbox() as toolbox:
            assert fine.works(toolbox)
        with pytest.raises(ConnectError), broken.toolbox():
            pass

    assert (fine.starts, broken.starts) == (15, 15)
