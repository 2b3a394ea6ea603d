"""Callbacks as langchain-mcp-adapters has them, as handlers of a toolbox.

In: `Callbacks`. Out: `Handlers`, and a function that hears of one call's progress. What the callbacks
get and give differs from there in types only: a log message is a `LogMessage` (`level`, `logger`, `data`),
an answer to a question may be anything with `action` and `content`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from mcp_adapters import ElicitationAnswer, ElicitationRequest, Handlers, LogMessage, OnProgress, Progress

__all__ = (
    "CallbackContext",
    "Callbacks",
    "ElicitRequestParams",
    "ElicitationCallback",
    "LoggingMessageCallback",
    "ProgressCallback",
    "handlers_of",
    "together",
)


@dataclass(frozen=True, slots=True)
class CallbackContext:
    """Where news come from."""

    server_name: str
    """The server's key in the configuration."""
    tool_name: str | None = None
    """The server's own name for the tool; None when the news do not belong to a call that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElicitRequestParams:
    """A server's question, with the names that the SDK gives its fields."""

    message: str
    mode: Literal["form", "url"] = "form"
    requested_schema: Mapping[str, Any] | None = None
    """A form's fields as JSON Schema; None for a page."""
    url: str | None = None
    """The page to visit; None for a form."""


class LoggingMessageCallback(Protocol):
    """Hears a server's log messages."""

    async def __call__(self, params: LogMessage, context: CallbackContext) -> None:
        """Hear one message."""
        ...


class ProgressCallback(Protocol):
    """Hears how far calls have come."""

    async def __call__(
        self, progress: float, total: float | None, message: str | None, context: CallbackContext
    ) -> None:
        """Hear one report."""
        ...


class ElicitationCallback(Protocol):
    """Answers a server's question to the person."""

    async def __call__(self, mcp_context: None, params: ElicitRequestParams, context: CallbackContext) -> Any:
        """Give an answer: anything with `action` and `content`, such as the SDK's `ElicitResult`."""
        ...


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The user's functions; None hears nothing."""

    on_logging_message: LoggingMessageCallback | None = None
    on_progress: ProgressCallback | None = None
    on_elicitation: ElicitationCallback | None = None


def handlers_of(callbacks: Callbacks) -> Handlers:
    """Make a toolbox's handlers of callbacks; progress is told call by call, see `together`."""
    hear, answer = callbacks.on_logging_message, callbacks.on_elicitation

    async def log(message: LogMessage) -> None:
        if hear is not None:
            await hear(message, CallbackContext(message.server))

    async def elicitation(request: ElicitationRequest) -> ElicitationAnswer:
        if answer is None:
            return ElicitationAnswer(action="cancel")
        params = ElicitRequestParams(
            message=request.message, mode=request.mode, requested_schema=request.schema, url=request.url
        )
        given = await answer(None, params, CallbackContext(request.server, request.tool))
        return ElicitationAnswer(action=given.action, content=given.content)

    return Handlers(log=None if hear is None else log, elicitation=None if answer is None else elicitation)


def together(callback: ProgressCallback | None, report: OnProgress | None) -> OnProgress | None:
    """Tell both of progress; None when there is nobody."""
    if callback is None:
        return report

    async def tell(news: Progress) -> None:
        await _told(report, news)
        await callback(news.progress, news.total, news.message, CallbackContext(news.server, news.tool))

    return tell


async def _told(report: Callable[[Progress], Awaitable[None] | None] | None, news: Progress) -> None:
    told = None if report is None else report(news)
    if inspect.isawaitable(told):
        await told
