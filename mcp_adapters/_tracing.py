"""Tells OpenTelemetry what happens: a span and a duration for each connection, listing and call.

In: what begins, and how it ends. Out: spans below the caller's own, and measurements; nothing without
an OpenTelemetry SDK in the program. Arguments and results are in them only when that was asked for.
The SDK of the protocol adds a span for each message below these.

Source: OpenTelemetry semantic conventions for MCP and for generative AI (execute tool), 2026.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

__all__ = ("Operation", "connecting", "listing", "tool_call")

_tracer = trace.get_tracer("mcp-adapters")
_BOUNDS_S = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
_duration = metrics.get_meter("mcp-adapters").create_histogram(
    "mcp.client.operation.duration",
    unit="s",
    description="How long a request to a server took, as its caller saw it.",
    explicit_bucket_boundaries_advisory=_BOUNDS_S,
)
_MOST_TEXT = 16_384
"""Characters of arguments and of a result that go into a span."""


class Operation:
    """Something that goes on."""

    def __init__(self, span: Span) -> None:
        self._span = span
        self.error: str | None = None
        """The kind of failure; None as long as there is none."""

    def tell(self, **attributes: str | int | None) -> None:
        """Add what became known; dots in the names of attributes are written as two underscores."""
        for name, value in attributes.items():
            if value is not None:
                self._span.set_attribute(name.replace("__", "."), value)

    def content(self, name: str, value: Any) -> None:
        """Add content that was asked for, as JSON and not without a limit."""
        if self._span.is_recording():
            self._span.set_attribute(name, json.dumps(value, ensure_ascii=False, default=str)[:_MOST_TEXT])

    def fail(self, kind: str) -> None:
        """Say that it failed, by a word and without details: those may hold what nobody asked to see."""
        self.error = kind
        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR))


def connecting(server: str) -> Any:
    """Around an attempt to connect to the server with this key; gives an `Operation`."""
    return _operation("connect", f"connect {server}", {"mcp_adapters.server": server})


def listing(server: str) -> Any:
    """Around a listing of the tools of the server with this key; gives an `Operation`."""
    return _operation("tools/list", "tools/list", {"mcp_adapters.server": server})


def tool_call(server: str, tool: str, exposed_name: str) -> Any:
    """Around one call of a tool, with everything that is done for it; gives an `Operation`."""
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "mcp_adapters.server": server,
        "mcp_adapters.tool.exposed_name": exposed_name,
    }
    return _operation("tools/call", f"tools/call {tool}", attributes)


@contextmanager
def _operation(method: str, name: str, attributes: Mapping[str, str]) -> Iterator[Operation]:
    known = {"mcp.method.name": method, **attributes}
    began = time.perf_counter()
    with _tracer.start_as_current_span(
        name,
        kind=SpanKind.INTERNAL,
        attributes=known,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        operation = Operation(span)
        try:
            yield operation
        except BaseException as error:
            operation.fail(type(error).__name__)
            raise
        finally:
            told = {"error.type": operation.error} if operation.error else {}
            measured = {key: value for key, value in known.items() if key != "mcp_adapters.tool.exposed_name"}
            _duration.record(time.perf_counter() - began, {**measured, **told})
