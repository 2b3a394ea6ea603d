"""A call's progress as an event on the stream of LlamaIndex's agents.

In: the context that an agent gives to a tool. Out: a function that is told of progress.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from llama_index.core.workflow import Context, Event

from mcp_adapters import Progress

__all__ = ("McpProgressEvent", "to_stream")


class McpProgressEvent(Event):
    """How far a call has come; the fields are those of `mcp_adapters.Progress`."""

    server: str
    tool: str
    progress: float
    """In the server's own unit."""
    total: float | None
    """In the same unit; None when the server does not say."""
    message: str | None
    """For people; None when the server says nothing."""


def to_stream(context: Context | None) -> Callable[[Progress], None] | None:
    """Who is told of progress: the agent's stream, or nobody without a context."""
    if context is None:
        return None

    def report(news: Progress) -> None:
        context.write_event_to_stream(McpProgressEvent(**asdict(news)))

    return report
