"""What a program may want to hear of its servers, and the functions that hear it.

In: nothing. Out: frozen values, one for each kind of news, and `Handlers`, which holds the user's
functions. A handler may be synchronous or asynchronous. It runs where the user is: on the event loop
that opened the toolbox, or in a worker thread, in order, when it was opened synchronously. What it
raises is logged and harms nobody. A handler that answers a question of a server runs where the call
is made that led to the question.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from mcp_adapters.asking import (
    ElicitationCompleted,
    ElicitationMode,
    OnElicitation,
    OnSampling,
    Pause,
    Roots,
)
from mcp_adapters.spec import OnProgress
from mcp_adapters.tasks import OnTask

__all__ = ("Handlers", "LogLevel", "LogMessage", "StateChange", "ToolsChange")

LogLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""Source: MCP 2025-11-25, server/utilities/logging, "Log Levels" (RFC 5424)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """A server's connection got another state."""

    server: str
    old: str
    new: str
    """One of the states of `ServerStatus.state`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMessage:
    """A server logged something. Also in `logging`, under `mcp_adapters.server.<key>`."""

    server: str
    level: str
    """A `LogLevel`, if the server keeps to the protocol."""
    logger: str | None
    data: Any
    """Any JSON value; untrusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsChange:
    """A toolbox offers other tools than before; all by exposed name, sorted."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Same tool, another definition."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handlers:
    """The user's functions; None hears nothing."""

    state_changed: Callable[[StateChange], Awaitable[None] | None] | None = None
    log: Callable[[LogMessage], Awaitable[None] | None] | None = None
    tools_changed: Callable[[ToolsChange], Awaitable[None] | None] | None = None
    progress: OnProgress | None = None
    elicitation: OnElicitation | Pause | None = None
    """Answers what servers ask of the person in the middle of a call; `Pause` ends the call with the
    question instead. None: servers are told that nobody is there to be asked. What it raises, and an
    answer that does not fit the question, count as "cancel"."""
    elicitation_modes: tuple[ElicitationMode, ...] = ("form", "url")
    """What `elicitation` can show: forms, pages, or both. Servers are told."""
    elicitation_completed: Callable[[ElicitationCompleted], Awaitable[None] | None] | None = None
    """Hears that a person is done with a page."""
    task: OnTask | None = None
    """Hears of each call that a server makes a task of, when it begins and whenever its status changes."""
    sampling: OnSampling | None = None
    """Answers for a model when servers want the word of one. None: servers are told that there is none."""
    roots: Roots | Callable[[], Awaitable[Roots] | Roots] | None = None
    """The folders and files that servers may work on, or a function that gives them. None: servers are
    told nothing of any."""
    answer_timeout: float = 600.0
    """Seconds that an answer of a handler may take; then a person counts as having cancelled, and a model
    as not there. A call's own idle time stands still meanwhile; its `total_timeout` does not."""
    completion_timeout: float = 60.0
    """Seconds to wait for a server's word that the person is done with a page without which it refused a
    call, after the person agreed to visit it; then the call is sent again anyway."""
