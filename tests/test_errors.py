"""Errors: they keep their facts across processes, hold no secret, and tell models what to do."""

from __future__ import annotations

import inspect
import pickle
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_adapters import (
    CallNext,
    CallRequest,
    ConfigError,
    ConnectionLostError,
    DiscoveryError,
    Drift,
    HandshakeError,
    HttpServer,
    InvalidArgumentsError,
    InvalidResultError,
    McpAdaptersError,
    ServerStartError,
    SkippedTool,
    StdioServer,
    SyncCallInEventLoopError,
    TextPart,
    Toolbox,
    ToolboxClosedError,
    ToolboxLoadError,
    ToolExecutionError,
    ToolNotFoundError,
    ToolResult,
    ToolTimeoutError,
    UnknownFrameworkError,
    error_text,
    errors,
)
from mcp_adapters._portal import portal
from mcp_adapters.config.problems import ConfigProblem
from mcp_adapters.schema import ArgumentProblem

from .conftest import Wire, tool
from .http_server import http_server
from .test_failures import free_port

CLASSES = [getattr(errors, name) for name in errors.__all__ if name != "Phase"]
RESULT = ToolResult(
    text="x",
    parts=(TextPart(text="x"),),
    structured={"n": 1},
    is_error=True,
    raw={"content": [{"type": "text"}]},
)
FACTS: dict[str, Any] = {
    "pending": {"server": "s", "tool": "t", "asked": {}},
    "status": 503,
    "retry_after": 1.5,
    "limit": "total",
    "server": "s",
    "tool": "t",
    "phase": "call",
    "retriable": True,
    "problems": (ArgumentProblem(pointer="/n", reason="is missing", accepted="integer"),),
    "stderr": "last words",
    "exit_code": -9,
    "outcome": "not_sent",
    "tools": (SkippedTool(server="s", name="t", reason="bad"),),
    "drifts": (Drift(server="s", name="t", kinds=("text",), changes=("/title reads differently",)),),
    "closest": ("a", "b"),
    "result": RESULT,
    "code": -32602,
    "timeout": 0.5,
    "framework": "f",
    "method": "resources/read",
    "uri": "a://b",
    "prompt": "p",
    "available": ("a",),
}


def facts_of(kind: type[McpAdaptersError]) -> dict[str, Any]:
    """A value for every fact that a class or one of its bases declares."""
    declared = {name for base in kind.__mro__ for name in inspect.get_annotations(base)}
    return {name: FACTS[name] for name in sorted(declared - {"failures"})}


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_crosses_processes_with_its_facts(kind: type[McpAdaptersError], protocol: int) -> None:
    error = kind("it failed", **facts_of(kind))
    copied = pickle.loads(pickle.dumps(error, protocol))

    assert (type(copied), str(copied), vars(copied)) == (kind, "it failed", facts_of(kind))


def test_the_errors_inside_an_error_cross_too() -> None:
    inner = ServerStartError("one", server="s", exit_code=1)
    problems = (ConfigProblem(message="is wrong", server="a", field="url"),)
    copied = pickle.loads(
        pickle.dumps(ToolboxLoadError("all", failures=(inner, ConfigError("two", problems=problems))))
    )

    assert [(type(one), str(one), vars(one)) for one in copied.failures] == [
        (ServerStartError, "one", {"server": "s", "exit_code": 1}),
        (ConfigError, "two", {"problems": problems}),
    ]


@given(
    kind=st.sampled_from(CLASSES),
    message=st.text(),
    facts=st.dictionaries(
        st.sampled_from(sorted(FACTS)), st.none() | st.text() | st.integers() | st.tuples(st.text())
    ),
)
def test_whatever_the_message_and_the_facts_pickling_keeps_them(
    kind: type[McpAdaptersError], message: str, facts: dict[str, Any]
) -> None:
    copied = pickle.loads(pickle.dumps(kind(message, **facts)))
    assert (type(copied), str(copied), vars(copied)) == (kind, message, facts)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = {line.split("-- ")[1].split()[0] for line in str(errors.__doc__).splitlines() if "-- " in line}
    assert {*drawn, "McpAdaptersError"} == {kind.__name__ for kind in CLASSES}


# -- real situations ------------------------------------------------------------------------------

SECRET = "s3cr3t-sentinel-0f7b"


def starting(server: Any, *, connect_timeout: float = 30.0, **others: Any) -> McpAdaptersError:
    servers = {"w": server, **others}
    with pytest.raises(McpAdaptersError) as caught, Toolbox(servers, connect_timeout=connect_timeout):
        pass
    return caught.value


def calling(
    server: Any, name: str, arguments: dict[str, Any] | None = None, **options: Any
) -> McpAdaptersError:
    with Toolbox({"w": server}, **options) as toolbox, pytest.raises(McpAdaptersError) as caught:
        toolbox.call(name, arguments)
    return caught.value


def python(code: str) -> StdioServer:
    return StdioServer(command=sys.executable, args=["-c", code], env={"API_TOKEN": SECRET})


def with_secret(wire: Wire, **script: Any) -> StdioServer:
    server = wire.server(**script)
    return StdioServer(command=server.command, args=server.args, env={"API_TOKEN": SECRET})


def http(url: str) -> HttpServer:
    return HttpServer(
        url=f"{url}?api_key={SECRET}",
        headers={"Authorization": f"Bearer {SECRET}", "X-Api-Key": SECRET},
        protocol="legacy",
    )


def signed(request: CallRequest, call_next: CallNext) -> ToolResult:
    return call_next(request.override(headers={"Authorization": f"Bearer {SECRET}"}))


def refused_with(status: int) -> McpAdaptersError:
    with http_server([], status=status) as seen:
        return starting(http(seen.url))


def lost_over_http() -> McpAdaptersError:
    with (
        http_server([tool("echo")]) as seen,
        Toolbox({"w": http(seen.url)}, interceptors=[signed], call_timeout=5) as toolbox,
    ):
        seen.status = 500
        with pytest.raises(McpAdaptersError) as caught:
            toolbox.call("w_echo")
    return caught.value


def on_its_own_loop(wire: Wire) -> McpAdaptersError:
    async def blocking() -> None:
        toolbox.call("w_echo")

    with Toolbox({"w": wire.server()}) as toolbox, pytest.raises(McpAdaptersError) as caught:
        portal().run(blocking)
    return caught.value


def after_close(wire: Wire) -> McpAdaptersError:
    with Toolbox({"w": with_secret(wire)}) as toolbox:
        echo = toolbox["w_echo"]
    with pytest.raises(McpAdaptersError) as caught:
        echo.call()
    return caught.value


def mistaken_framework(wire: Wire) -> McpAdaptersError:
    with Toolbox({"w": with_secret(wire)}) as toolbox, pytest.raises(McpAdaptersError) as caught:
        toolbox.to("langchian")
    return caught.value


N = {"type": "integer"}
PROMISING = {**tool("echo"), "outputSchema": {"type": "object"}}
NO_RESULT = {"result": {"content": [], "resultType": "task"}}
TELLS = "import os, sys; sys.exit('bad token ' + os.environ['API_TOKEN'])"
SITUATIONS: dict[str, tuple[Callable[[Wire], McpAdaptersError], type[McpAdaptersError]]] = {
    "unknown server kind": (lambda wire: starting(object()), ConfigError),
    "no such command": (
        lambda wire: starting(StdioServer(command="no-such-program", env={"K": SECRET})),
        ServerStartError,
    ),
    "ends at once and tells its token": (lambda wire: starting(python(TELLS)), ServerStartError),
    "never answers": (
        lambda wire: starting(with_secret(wire, at_start="silent"), connect_timeout=0.5),
        HandshakeError,
    ),
    "nobody listens": (lambda wire: starting(http(f"http://127.0.0.1:{free_port()}/mcp")), ServerStartError),
    "HTTP 500": (lambda wire: refused_with(500), McpAdaptersError),
    "HTTP 404": (lambda wire: refused_with(404), McpAdaptersError),
    "HTTP 401": (lambda wire: refused_with(401), McpAdaptersError),
    "endless listing": (lambda wire: starting(with_secret(wire, cursors="repeat")), DiscoveryError),
    "bad tools": (
        lambda wire: starting(with_secret(wire, tools=[{"name": "bad", "inputSchema": {"type": "array"}}])),
        ToolboxLoadError,
    ),
    "two servers down": (
        lambda wire: starting(python(TELLS), other=python(TELLS)),
        ToolboxLoadError,
    ),
    "unknown tool": (lambda wire: calling(with_secret(wire), "w_ecko"), ToolNotFoundError),
    "wrong arguments": (
        lambda wire: calling(with_secret(wire, tools=[tool("echo", n=N)]), "w_echo", {"n": "x"}),
        InvalidArgumentsError,
    ),
    "refused": (
        lambda wire: calling(with_secret(wire, tools=[tool("refuse")]), "w_refuse"),
        ToolExecutionError,
    ),
    "failed": (
        lambda wire: calling(with_secret(wire, tools=[tool("fail")]), "w_fail", on_tool_error="raise"),
        ToolExecutionError,
    ),
    "timed out": (
        lambda wire: calling(with_secret(wire, tools=[tool("hang")]), "w_hang", call_timeout=3),
        ToolTimeoutError,
    ),
    "died": (lambda wire: calling(with_secret(wire, tools=[tool("die")]), "w_die"), ConnectionLostError),
    "broken promise": (
        lambda wire: calling(with_secret(wire, tools=[PROMISING]), "w_echo", output_schema="strict"),
        InvalidResultError,
    ),
    "no result": (
        lambda wire: calling(with_secret(wire, era="modern", answers={"echo": NO_RESULT}), "w_echo"),
        InvalidResultError,
    ),
    "HTTP 500 in a call": (lambda wire: lost_over_http(), McpAdaptersError),
    "on its own loop": (on_its_own_loop, SyncCallInEventLoopError),
    "after close": (after_close, ToolboxClosedError),
    "mistaken framework": (mistaken_framework, UnknownFrameworkError),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_real_situation_raises_its_error_without_any_secret(wire: Wire, situation: str) -> None:
    """Not in its text, its facts, its causes or its traceback; and it pickles."""
    make, kind = SITUATIONS[situation]
    error = make(wire)
    copied = pickle.loads(pickle.dumps(error))

    assert isinstance(error, kind)
    assert (type(copied), str(copied), repr(vars(copied))) == (type(error), str(error), repr(vars(error)))
    shown = "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error)) + error_text(error)
    assert SECRET not in shown
    assert SECRET.encode() not in pickle.dumps(error)


@pytest.mark.parametrize(
    ("situation", "advice"),
    [
        ("timed out", "Find out whether it had an effect before you call it again."),
        ("died", "Find out whether it had an effect before you call it again."),
        ("no such command", "The tool was not called. Try again later, or go on without it."),
        ("no result", "The call was made; it may have had its effect."),
        ("unknown tool", "Use another tool."),
    ],
)
def test_what_a_model_reads_is_short_and_says_what_to_do(wire: Wire, situation: str, advice: str) -> None:
    text = error_text(SITUATIONS[situation][0](wire))

    assert text.startswith("Error: ")
    assert text.endswith(advice)
    assert len(text) < 300
    assert "\n" not in text
    assert "Traceback" not in text


def test_the_cause_of_a_failure_is_chained(wire: Wire) -> None:
    causes = {
        name: SITUATIONS[name][0](wire).__cause__
        for name in ("no such command", "never answers", "nobody listens", "refused", "timed out")
    }
    assert {name: type(cause).__name__ for name, cause in causes.items()} == {
        "no such command": "FileNotFoundError",
        "never answers": "TimeoutError",
        "nobody listens": "ConnectError",
        "refused": "MCPError",
        "timed out": "LinkTimeout",
    }
