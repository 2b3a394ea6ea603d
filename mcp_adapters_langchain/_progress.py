"""A call's progress as LangChain's custom events and on LangGraph's stream.

In: nothing but the context of the run. Out: functions that are told of progress. Each report is a
custom event `mcp_progress` for callbacks and `astream_events`, and, inside of a graph, an entry of
`stream_mode="custom"`.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import RunnableConfig, ensure_config

from mcp_adapters import Progress

__all__ = ("EVENT", "areporter", "reporter")

EVENT = "mcp_progress"
"""The name of the custom event, and the key of the entry on the stream."""


def reporter() -> Callable[[Progress], None] | None:
    """Who is told of the progress of a synchronous call; None outside of a run."""
    config, write = _config(), _writer()
    if config is None:
        return None

    def report(news: Progress) -> None:
        write({EVENT: asdict(news)})
        dispatch_custom_event(EVENT, asdict(news), config=config)

    return report


def areporter() -> Callable[[Progress], Awaitable[None]] | None:
    """Who is told of the progress of an asynchronous call; None outside of a run."""
    config, write = _config(), _writer()
    if config is None:
        return None

    async def report(news: Progress) -> None:
        write({EVENT: asdict(news)})
        await adispatch_custom_event(EVENT, asdict(news), config=config)

    return report


def _config() -> RunnableConfig | None:
    """The configuration of the run, if somebody's callbacks are there to hear."""
    config = ensure_config()
    return config if getattr(config.get("callbacks"), "parent_run_id", None) else None


def _writer() -> Callable[[Any], None]:
    """Where a graph's stream is written to; nowhere outside of a graph.

    LangGraph is no dependency: whoever runs in a graph has imported it.
    """
    graph = sys.modules.get("langgraph.config")
    if graph is not None:
        try:
            writer: Callable[[Any], None] = graph.get_stream_writer()
        except (RuntimeError, KeyError):
            pass  # not inside of a graph
        else:
            return writer
    return lambda _: None
