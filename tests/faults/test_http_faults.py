"""An HTTP server may misbehave in any way: the call fails with a name, runs once, and the next works.

Each test runs in both protocol eras; those whose answers have a form also with JSON bodies and with
event streams.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_adapters import (
    AuthError,
    ConnectionLostError,
    DiscoveryError,
    HandshakeError,
    InvalidResultError,
    McpAdaptersError,
    ServerError,
    ServerStartError,
    Toolbox,
    ToolExecutionError,
    ToolTimeoutError,
)

from .conftest import Faults, until
from .harness import VERSION, Era, arguments

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])
both_forms = pytest.mark.parametrize("answers", ["json", "sse"])


SURVIVED: list[tuple[str, dict[str, Any]]] = [
    ("late", {"until": 0.02}),
    ("twice", {}),
    ("progress", {}),
    ("log", {}),
    ("tools_changed", {"tools": ["other"]}),
]


@both_forms
@both_eras
@pytest.mark.parametrize(
    ("fault", "options"), SURVIVED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_comes_beside_an_answer_does_not_touch_it(
    servers: Faults, era: Era, answers: str, fault: str, options: dict[str, Any]
) -> None:
    server = servers("http", era=era, answers=answers)
    with server.toolbox() as toolbox:
        result = server.call(toolbox, fault, **options)
        assert server.works(toolbox)
        assert toolbox.status["srv"].protocol_version == VERSION[era]

    assert [result.text, result.is_error] == [server.calls[0], False]
    assert len(server.calls) == 2
    assert server.count("initialize") == (era == "legacy")


@both_forms
@both_eras
def test_a_large_result_arrives(servers: Faults, era: Era, answers: str) -> None:
    """Real servers answer with eleven megabytes."""
    server = servers("http", era=era, answers=answers)
    with server.toolbox() as toolbox:
        assert len(server.call(toolbox, "huge", megabytes=12).text) == 12_000_000
        assert server.works(toolbox)


@both_forms
@both_eras
@pytest.mark.parametrize("fault", ["exit_before", "kill"])
def test_a_server_lost_in_a_call_leaves_its_outcome_unknown_and_comes_back(
    servers: Faults, era: Era, answers: str, fault: str
) -> None:
    server = servers("http", era=era, answers=answers)
    with server.toolbox() as toolbox:
        with pytest.raises(ConnectionLostError) as caught:
            server.call(toolbox, fault)
        server.restart()
        assert server.works(toolbox)
        assert server.works(toolbox)

    error = caught.value
    assert (error.server, error.tool, error.phase) == ("srv", "do", "call")
    assert (error.outcome, error.retriable) == ("unknown", False)
    assert len(server.calls) == 3


BROKEN_CONNECTIONS = [
    "hang_up",
    "reset",
    "drop_stream",
]


@both_forms
@both_eras
@pytest.mark.parametrize("fault", BROKEN_CONNECTIONS)
def test_a_connection_broken_in_a_call_leaves_its_outcome_unknown(
    servers: Faults, era: Era, answers: str, fault: str
) -> None:
    server = servers("http", era=era, answers=answers)
    with server.toolbox() as toolbox:
        with pytest.raises(ConnectionLostError) as caught:
            server.call(toolbox, fault)
        assert server.works(toolbox)

    assert (caught.value.server, caught.value.tool, caught.value.outcome) == ("srv", "do", "unknown")
    assert len(server.calls) == 2


@both_eras
@pytest.mark.parametrize("fault", ["hang_up", "reset"])
async def test_a_broken_request_does_not_touch_the_others(servers: Faults, era: Era, fault: str) -> None:
    server = servers("http", era=era)
    async with server.toolbox() as toolbox:
        slow = asyncio.create_task(toolbox.acall("srv_do", arguments("late", until="signal")))
        assert await asyncio.to_thread(until, lambda: len(server.calls) == 1)
        with pytest.raises(ConnectionLostError):
            await toolbox.acall("srv_do", arguments(fault))
        server.signal()
        assert (await slow).text == server.calls[0]

    assert server.count("initialize") == (era == "legacy")


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_restart_between_two_calls_is_not_noticed(servers: Faults, era: Era) -> None:
    """A modern server knows no sessions; a legacy one refuses the old session, so the call may be sent again."""
    server = servers("http", era=era)
    with server.toolbox() as toolbox:
        assert server.works(toolbox)
        server.restart()
        assert server.works(toolbox)

    assert len(server.calls) == 2


@both_forms
def test_a_session_that_the_server_forgot_is_made_anew(servers: Faults, answers: str) -> None:
    server = servers("http", era="legacy", answers=answers)
    with server.toolbox() as toolbox:
        server.call(toolbox, "lose_session")
        assert server.works(toolbox)

    assert (server.count("initialize"), len(server.calls), len(server.events("rejected"))) == (2, 2, 1)


@both_eras
def test_a_call_that_is_refused_a_connection_was_not_sent(servers: Faults, era: Era) -> None:
    server = servers("http", era=era)
    with server.toolbox() as toolbox:
        assert server.works(toolbox)
        server.end()
        with pytest.raises(ConnectionLostError) as caught:
            server.works(toolbox)

    assert (caught.value.server, caught.value.tool) == ("srv", "do")
    assert (caught.value.outcome, caught.value.retriable) == ("not_sent", True)


@both_eras
def test_a_server_that_is_back_after_refusing_connections_is_used_again(servers: Faults, era: Era) -> None:
    server = servers("http", era=era)
    with server.toolbox() as toolbox:
        assert server.works(toolbox)
        server.end()
        for _ in range(3):
            with pytest.raises(ServerError):
                server.works(toolbox)
        server.restart()
        assert server.works(toolbox)

    assert len(server.calls) == 2


@both_eras
async def test_a_call_in_flight_survives_that_another_is_refused_a_connection(
    servers: Faults, era: Era
) -> None:
    server = servers("http", era=era)
    async with server.toolbox() as toolbox:
        slow = asyncio.create_task(toolbox.acall("srv_do", arguments("late", until="signal")))
        assert await asyncio.to_thread(until, lambda: len(server.calls) == 1)
        await toolbox.acall("srv_do", arguments("stop_listening"))
        # One of them has the connection that is open already; the other one needs a new connection.
        others = [asyncio.create_task(toolbox.acall("srv_do", arguments("hang"))) for _ in range(2)]
        ended, waiting = await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        server.signal()
        assert (await slow).text == server.calls[0]
        assert [type(other.exception()) for other in ended] == [ConnectionLostError]
        for other in waiting:
            other.cancel()


STATUSES = [429, 500, 502, 503]


@both_eras
@pytest.mark.parametrize("status", STATUSES)
def test_an_http_error_is_the_answer_of_one_call(servers: Faults, era: Era, status: int) -> None:
    server = servers("http", era=era)
    with server.toolbox() as toolbox:
        with pytest.raises(McpAdaptersError) as caught:
            server.call(toolbox, "status", status=status)
        assert server.works(toolbox)

    assert isinstance(caught.value, ToolExecutionError | ServerError)
    assert (caught.value.server, caught.value.tool) == ("srv", "do")
    assert server.count("initialize") == (era == "legacy")


@both_eras
@pytest.mark.parametrize("status", STATUSES)
def test_an_http_error_is_told_with_its_status(servers: Faults, era: Era, status: int) -> None:
    server = servers("http", era=era)
    with server.toolbox() as toolbox, pytest.raises(McpAdaptersError, match=str(status)):
        server.call(toolbox, "status", status=status)


@both_eras
@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_are_told_as_such_in_a_call(servers: Faults, era: Era, status: int) -> None:
    server = servers("http", era=era)
    with server.toolbox() as toolbox:
        with pytest.raises(AuthError) as caught:
            server.call(toolbox, "status", status=status)
        assert server.works(toolbox)

    assert caught.value.server == "srv"


@both_forms
@both_eras
@pytest.mark.parametrize("fault", ["garbage", "not_utf8", "not_mcp"])
def test_an_answer_that_is_no_message_is_told_as_such(
    servers: Faults, era: Era, answers: str, fault: str
) -> None:
    server = servers("http", era=era, answers=answers)
    with server.toolbox() as toolbox:
        with pytest.raises(InvalidResultError) as caught:
            server.call(toolbox, fault)
        assert server.works(toolbox)

    assert (caught.value.server, caught.value.tool) == ("srv", "do")


@both_forms
@both_eras
@pytest.mark.parametrize("fault", [("hang", {}), ("late", {"until": "cancelled"})], ids=["hang", "late"])
def test_a_call_without_answer_is_cancelled_at_the_server_in_the_way_of_its_era(
    servers: Faults, era: Era, answers: str, fault: tuple[str, dict[str, Any]]
) -> None:
    server = servers("http", era=era, answers=answers)
    with server.toolbox() as toolbox:
        with pytest.raises(ToolTimeoutError) as caught:
            server.call(toolbox, fault[0], **fault[1], timeout=0.4)
        assert server.works(toolbox)

        [call, _] = server.events("message", method="tools/call")
        if era == "legacy":
            assert until(lambda: server.count("notifications/cancelled") == 1)
            [cancelled] = server.events("message", method="notifications/cancelled")
            assert cancelled["params"]["requestId"] == call["id"]
        else:
            assert until(lambda: server.events("aborted", id=call["id"]) != [])

    assert (caught.value.server, caught.value.tool, caught.value.timeout) == ("srv", "do", 0.4)
    assert server.count("initialize") == (era == "legacy")


@both_eras
def test_an_answer_to_another_request_is_no_answer(servers: Faults, era: Era) -> None:
    server = servers("http", era=era)
    with server.toolbox() as toolbox:
        with pytest.raises(ToolTimeoutError):
            server.call(toolbox, "wrong_id", timeout=0.4)
        assert server.works(toolbox)


@both_eras
async def test_all_calls_in_flight_learn_at_once_that_the_server_was_killed(
    servers: Faults, era: Era
) -> None:
    server = servers("http", era=era)
    async with server.toolbox() as toolbox:
        calls = [asyncio.create_task(toolbox.acall("srv_do", arguments("hang"))) for _ in range(20)]
        assert await asyncio.to_thread(until, lambda: len(server.calls) == 20)
        server.restart()
        errors = await asyncio.gather(*calls, return_exceptions=True)
        assert await asyncio.to_thread(server.works, toolbox)

    assert {
        (type(error), getattr(error, "outcome", None), getattr(error, "tool", None)) for error in errors
    } == {(ConnectionLostError, "unknown", "do")}
    assert len(server.calls) == 21


@both_eras
def test_a_server_that_comes_back_with_other_tools_is_listed_anew(servers: Faults, era: Era) -> None:
    server = servers("http", era=era, starts=[{"tools": ["old"]}, {"tools": ["new"]}])
    with server.toolbox() as toolbox:
        with pytest.raises(ConnectionLostError):
            server.call(toolbox, "exit_before")
        server.restart()
        toolbox.refresh()
        assert [tool.name for tool in toolbox.tools] == ["srv_do", "srv_new"]
        assert toolbox.call("srv_new").text == "ok"


# -- the start ----------------------------------------------------------------------------------------

EVERYTHING = ("server/discover", "initialize")

BROKEN_STARTS: list[Any] = [
    ({"fault": "hang_up"}, ServerStartError),
    ({"fault": "reset"}, ServerStartError),
    ({"fault": "exit_before"}, ServerStartError),
    ({"fault": "hang"}, HandshakeError),
    ({"fault": "not_mcp"}, HandshakeError),
    ({"fault": "garbage"}, HandshakeError),
    ({"fault": "status", "status": 404}, HandshakeError),
    ({"fault": "status", "status": 429}, ServerStartError),
    ({"fault": "status", "status": 500}, ServerStartError),
    ({"fault": "status", "status": 503}, ServerStartError),
    pytest.param({"fault": "status", "status": 401}, AuthError),
    pytest.param({"fault": "status", "status": 403}, AuthError),
    pytest.param({"fault": "drop_stream"}, ServerStartError),
]


@pytest.mark.parametrize(("fault", "kind"), BROKEN_STARTS, ids=lambda value: str(value)[:40])
def test_a_start_that_fails_names_the_server(
    servers: Faults, impatient: None, fault: dict[str, Any], kind: type[McpAdaptersError]
) -> None:
    server = servers("http", on=dict.fromkeys(EVERYTHING, fault))
    with pytest.raises(kind) as caught, server.toolbox(connect_timeout=0.8):
        pass

    assert (type(caught.value), caught.value.server, caught.value.phase) == (kind, "srv", "connect")
    assert "/mcp" in str(caught.value)


LISTINGS: list[Any] = [
    ({"fault": "hang"}, DiscoveryError),
    ({"fault": "error"}, DiscoveryError),
    ({"fault": "not_mcp"}, DiscoveryError),
    ({"fault": "status", "status": 500}, DiscoveryError),
    ({"fault": "hang_up"}, ConnectionLostError),
    pytest.param({"fault": "drop_stream"}, ConnectionLostError),
]


@both_eras
@pytest.mark.parametrize(("fault", "kind"), LISTINGS, ids=lambda value: str(value)[:40])
def test_a_listing_that_fails_names_the_server(
    servers: Faults, era: Era, fault: dict[str, Any], kind: type[McpAdaptersError]
) -> None:
    server = servers("http", era=era, on={"tools/list": fault})
    with pytest.raises(kind) as caught, server.toolbox(call_timeout=0.5):
        pass

    assert (type(caught.value), caught.value.server, caught.value.phase) == (kind, "srv", "list")


def test_a_handshake_server_that_is_silent_to_the_probe_is_used(servers: Faults, impatient: None) -> None:
    server = servers("http", on={"server/discover": {"fault": "hang"}})
    with server.toolbox() as toolbox:
        assert toolbox.status["srv"].protocol_version == VERSION["legacy"]
        assert server.works(toolbox)


@pytest.mark.parametrize("until_seen", ["initialize", 0.3])
def test_a_modern_server_that_is_slower_than_the_probe_stays_modern(
    servers: Faults, impatient: None, until_seen: str | float
) -> None:
    late = {"fault": "late", "until": until_seen}
    server = servers("http", era="modern", on={"server/discover": late})
    with server.toolbox() as toolbox:
        assert toolbox.status["srv"].protocol_version == VERSION["modern"]
        assert server.works(toolbox)


def test_the_session_of_a_legacy_server_is_ended_on_close(servers: Faults) -> None:
    server = servers("http")
    with server.toolbox() as toolbox:
        assert server.works(toolbox)

    assert len(server.events("delete")) == 1


@both_eras
def test_closing_is_bounded_when_the_server_no_longer_answers(servers: Faults, era: Era) -> None:
    server = servers("http", era=era)
    toolbox: Toolbox = server.toolbox().open()
    server.end()
    toolbox.close()

    assert toolbox.status["srv"].state == "closed"
