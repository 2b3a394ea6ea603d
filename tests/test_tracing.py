"""What OpenTelemetry hears: spans below the caller's own and durations, without content unless asked."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from mcp_adapters import ConnectError, InvalidArgumentsError, StdioServer, Toolbox, ToolError

from .conftest import Wire, tool

EXPORTER = InMemorySpanExporter()
READER = InMemoryMetricReader()
SECRET = "s3cret-words"


@pytest.fixture(scope="module", autouse=True)
def telemetry() -> None:
    """A process has one provider of each kind, for good."""
    tracing = trace.get_tracer_provider()
    if not isinstance(tracing, TracerProvider):
        tracing = TracerProvider()
        trace.set_tracer_provider(tracing)
    tracing.add_span_processor(SimpleSpanProcessor(EXPORTER))
    metrics.set_meter_provider(MeterProvider(metric_readers=[READER]))


@pytest.fixture(autouse=True)
def nothing_heard_yet() -> Iterator[None]:
    EXPORTER.clear()
    yield
    EXPORTER.clear()


def heard(name: str) -> list[ReadableSpan]:
    return [span for span in EXPORTER.get_finished_spans() if span.name == name]


def parent(span: ReadableSpan) -> Any:
    return span.parent and span.parent.span_id


def test_connecting_listing_and_calling_are_spans(wire: Wire) -> None:
    with Toolbox({"wire": wire.server()}) as toolbox:
        toolbox.call("wire_echo", {"text": SECRET})

    [connect], [listing], [call] = heard("connect wire"), heard("tools/list"), heard("tools/call echo")
    assert dict(connect.attributes or {}) == {
        "mcp.method.name": "connect",
        "mcp_adapters.server": "wire",
        "mcp.protocol.version": "2025-11-25",
    }
    assert dict(listing.attributes or {}) == {"mcp.method.name": "tools/list", "mcp_adapters.server": "wire"}
    assert dict(call.attributes or {}) == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "mcp_adapters.server": "wire",
        "mcp_adapters.tool.exposed_name": "wire_echo",
    }
    assert all(span.status.status_code.name == "UNSET" for span in (connect, listing, call))


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_call_is_below_its_caller_and_above_the_message(wire: Wire, kind: str) -> None:
    async with Toolbox({"wire": wire.server()}) as toolbox:
        with trace.get_tracer("user").start_as_current_span("agent") as agent:
            if kind == "sync":
                toolbox.call("wire_echo")
            else:
                await toolbox.acall("wire_echo")

    [call] = heard("tools/call echo")
    [message] = heard("MCP send tools/call echo")
    assert parent(call) == agent.get_span_context().span_id
    assert parent(message) == call.context.span_id


def test_the_server_is_told_which_trace_a_call_belongs_to(wire: Wire) -> None:
    with Toolbox({"wire": wire.server()}) as toolbox:
        with trace.get_tracer("user").start_as_current_span("agent") as agent:
            toolbox.call("wire_echo")

    [sent] = [event["params"]["_meta"] for event in wire.events() if event.get("method") == "tools/call"]
    assert f"{agent.get_span_context().trace_id:032x}" in sent["traceparent"]


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("fail", {}, "tool_error"),
        ("refuse", {}, "ToolExecutionError"),
        ("echo", {"n": SECRET}, "InvalidArgumentsError"),
    ],
)
def test_a_failure_is_a_word_in_the_span(
    wire: Wire, name: str, arguments: dict[str, Any], error: str
) -> None:
    tools = [tool("fail"), tool("refuse"), tool("echo", n={"type": "integer"})]
    with Toolbox({"wire": wire.server(tools=tools)}) as toolbox:
        with contextlib.suppress(ToolError):
            toolbox.call(f"wire_{name}", arguments)

    [call] = heard(f"tools/call {name}")
    assert (call.attributes or {})["error.type"] == error
    assert (call.status.status_code.name, call.status.description, call.events) == ("ERROR", None, ())


def test_a_server_that_does_not_start_is_a_failed_span() -> None:
    with pytest.raises(ConnectError):
        Toolbox({"gone": StdioServer(command="no-such-program", env={"TOKEN": SECRET})}).open()

    [connect] = heard("connect gone")
    assert (connect.attributes or {})["error.type"] == "ServerStartError"


def test_content_is_in_no_span_unless_that_is_asked_for(wire: Wire) -> None:
    server = wire.server(tools=[tool("echo", n={"type": "integer"})])
    with Toolbox({"wire": server}) as toolbox:
        toolbox.call("wire_echo", {"text": SECRET})
        with pytest.raises(InvalidArgumentsError):
            toolbox.call("wire_echo", {"n": SECRET})
    silent = [span.to_json() for span in EXPORTER.get_finished_spans()]
    EXPORTER.clear()
    with Toolbox({"wire": server}, trace_content=True) as toolbox:
        toolbox.call("wire_echo", {"text": SECRET})
        toolbox.call("wire_echo", {"text": "x" * 100_000})
    first, long = heard("tools/call echo")

    assert SECRET not in "".join(silent)
    assert json.loads(str((first.attributes or {})["gen_ai.tool.call.arguments"])) == {"text": SECRET}
    assert SECRET in str((first.attributes or {})["gen_ai.tool.call.result"])
    assert {
        len(str((long.attributes or {})[f"gen_ai.tool.call.{what}"])) for what in ("arguments", "result")
    } == {16_384}


def test_durations_are_measured_by_tool_and_failure(wire: Wire) -> None:
    with Toolbox({"timed": wire.server(tools=[tool("echo"), tool("fail")])}) as toolbox:
        toolbox.call("timed_echo")
        toolbox.call("timed_echo")
        toolbox.call("timed_fail")

    data = READER.get_metrics_data()
    assert data is not None
    points = [
        (point.attributes, point.count)
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == "mcp.client.operation.duration"
        for point in metric.data.data_points
    ]
    counted = {
        (found.get("gen_ai.tool.name"), found["mcp.method.name"], found.get("error.type")): count
        for found, count in points
        if found["mcp_adapters.server"] == "timed"
    }
    assert counted == {
        (None, "connect", None): 1,
        (None, "tools/list", None): 1,
        ("echo", "tools/call", None): 2,
        ("fail", "tools/call", "tool_error"): 1,
    }
