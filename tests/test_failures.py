"""Every way in which a server fails to work is a typed error, in bounded time, with nothing left behind."""

from __future__ import annotations

import socket
import sys
from typing import Any

import pytest

from mcp_adapters import (
    ConnectionLostError,
    HandshakeError,
    HttpServer,
    InvalidArgumentsError,
    InvalidResultError,
    McpAdaptersError,
    ProtocolError,
    ServerStartError,
    StdioServer,
    Toolbox,
    ToolboxLoadError,
    ToolCancelledError,
    ToolExecutionError,
    ToolTimeoutError,
)

from .conftest import Wire, tool


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(server: StdioServer | HttpServer, *, connect_timeout: float = 30.0) -> McpAdaptersError:
    """The error of a toolbox with one server that does not start."""
    with (
        pytest.raises(McpAdaptersError) as caught,
        Toolbox({"broken": server}, connect_timeout=connect_timeout),
    ):
        pass
    return caught.value


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("no-such-program", "was not found"),
        ("/nowhere/npx", "is Node.js installed?"),
        ("/nowhere/uvx", "is uv installed?"),
    ],
)
def test_a_missing_command_is_named_with_a_hint(command: str, hint: str) -> None:
    error = start(StdioServer(command=command))

    assert isinstance(error, ServerStartError)
    assert (error.server, error.phase) == ("broken", "connect")
    assert command in str(error)
    assert hint in str(error)


def test_a_command_that_ends_at_once_is_told_with_its_code_and_last_words() -> None:
    error = start(
        StdioServer(command=sys.executable, args=["-c", "import sys; sys.exit('no key, no service')"])
    )

    assert isinstance(error, ServerStartError)
    assert error.exit_code == 1
    assert error.stderr == "no key, no service"
    assert "exit code 1" in str(error)
    assert "no key, no service" in str(error)


def test_a_command_that_is_no_server_is_told(wire: Wire) -> None:
    error = start(StdioServer(command=sys.executable, args=["-c", "print('usage: nothing')"]))

    assert isinstance(error, ServerStartError)
    assert error.exit_code == 0


def test_an_address_that_nobody_listens_on_is_told() -> None:
    url = f"http://127.0.0.1:{free_port()}/mcp"
    error = start(HttpServer(url=url))

    assert isinstance(error, ServerStartError)
    assert url in str(error)


def test_a_server_that_never_answers_is_given_up_in_time(wire: Wire) -> None:
    error = start(wire.server(at_start="silent"), connect_timeout=0.5)

    assert isinstance(error, HandshakeError)
    assert "0.5 s" in str(error)


def test_several_broken_servers_are_all_named(wire: Wire) -> None:
    servers = {
        "one": wire.server("one", at_start="exit"),
        "two": StdioServer(command="no-such-program"),
        "three": wire.server("three"),
    }
    with pytest.raises(ToolboxLoadError) as caught, Toolbox(servers):
        pass

    assert [(type(failure), failure.server) for failure in caught.value.failures] == [
        (ServerStartError, "one"),
        (ServerStartError, "two"),
    ]
    assert "'one'" in str(caught.value)
    assert "'two'" in str(caught.value)


def test_text_that_is_no_message_on_standard_output_is_survived(wire: Wire) -> None:
    with Toolbox({"wire": wire.server(at_start="noise")}) as toolbox:
        assert toolbox.call("wire_echo", {}).text == "{}"


def test_wrong_arguments_are_refused_before_anything_is_sent(wire: Wire) -> None:
    server = wire.server(tools=[tool("echo", count={"type": "integer"})])
    with Toolbox({"wire": server}) as toolbox, pytest.raises(InvalidArgumentsError) as caught:
        toolbox.call("wire_echo", {"count": "many"})

    assert (caught.value.server, caught.value.tool, caught.value.retriable) == ("wire", "echo", True)
    assert "/count" in str(caught.value)
    assert "integer" in str(caught.value)
    assert wire.count("tools/call") == 0


def test_a_protocol_error_that_answers_a_call_is_a_tool_error_and_the_next_call_works(wire: Wire) -> None:
    with Toolbox({"wire": wire.server(tools=[tool("refuse"), tool("echo")])}) as toolbox:
        with pytest.raises(ToolExecutionError, match="bad arguments, says the server") as caught:
            toolbox.call("wire_refuse")
        assert toolbox.call("wire_echo").text == "{}"

    assert caught.value.code == -32602


def test_a_server_that_dies_in_a_call_is_lost_with_unknown_outcome_and_comes_back(wire: Wire) -> None:
    """The call is not sent again; the next one starts the server anew."""
    with Toolbox({"wire": wire.server(tools=[tool("die"), tool("echo")])}) as toolbox:
        with pytest.raises(ConnectionLostError) as caught:
            toolbox.call("wire_die")
        assert toolbox.status["wire"].state == "lost"
        assert toolbox.call("wire_echo").text == "{}"

    error = caught.value
    assert (error.server, error.tool, error.outcome, error.retriable) == ("wire", "die", "unknown", False)
    assert "exit code 7" in str(error)
    assert wire.count("tools/call") == 2
    assert wire.starts() == 2


def test_a_call_without_answer_ends_in_time_is_cancelled_at_the_server_and_leaves_the_rest_usable(
    wire: Wire,
) -> None:
    with Toolbox({"wire": wire.server(tools=[tool("hang"), tool("echo")])}) as toolbox:
        with pytest.raises(ToolTimeoutError) as caught:
            toolbox.call("wire_hang", timeout=0.3)
        assert toolbox.call("wire_echo").text == "{}"

    assert (caught.value.tool, caught.value.timeout) == ("hang", 0.3)
    assert wire.count("notifications/cancelled") == 1
    assert wire.starts() == 1


QUESTION = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
}


@pytest.mark.parametrize(
    ("era", "answer", "kind"),
    [
        ("handshake", {"error": {"code": 0, "message": "Request cancelled"}}, ToolCancelledError),
        ("handshake", {"error": {"code": 0, "message": "no reason"}}, ToolExecutionError),
        ("handshake", {"error": {"code": -32000, "message": "Connection closed"}}, ToolExecutionError),
        (
            "modern",
            {"result": {"resultType": "input_required", "inputRequests": {"q": QUESTION}}},
            ProtocolError,
        ),
        ("modern", {"result": {"resultType": "of another kind", "content": []}}, InvalidResultError),
    ],
)
def test_an_answer_that_is_no_result_has_an_error_of_its_own_and_the_next_call_works(
    wire: Wire, era: str, answer: dict[str, Any], kind: type[McpAdaptersError]
) -> None:
    server = wire.server(era=era, tools=[tool("odd"), tool("echo")], answers={"odd": answer})
    with Toolbox({"wire": server}) as toolbox:
        with pytest.raises(McpAdaptersError) as caught:
            toolbox.call("wire_odd")
        assert toolbox.call("wire_echo").text == "{}"

    assert type(caught.value) is kind
    assert (caught.value.server, caught.value.tool) == ("wire", "odd")
