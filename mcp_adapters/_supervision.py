"""How the connections of a toolbox are looked after, and what is known of each: values.

In: what the user decided, and what happened. Out: frozen values, and the protocol of whoever is told of
what happens. Nothing here connects to anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from mcp_types import LoggingLevel

from mcp_adapters.errors import McpAdaptersError
from mcp_adapters.tasks import TaskState
from mcp_adapters.views import server_view, servers_view

__all__ = ("Observer", "Reconnect", "ServerState", "ServerStatus", "Supervision")

ServerState: TypeAlias = Literal[
    "new", "connecting", "ready", "lost", "reconnecting", "failed", "disabled", "closed"
]
Reconnect: TypeAlias = Literal["on_use", "background"]
"""When a lost connection is made anew: when it is needed, or at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """What is known of one server at one moment."""

    state: ServerState
    protocol_version: str | None = None
    """The negotiated version; None while there is no connection."""
    server_info: Mapping[str, Any] | None = None
    """Name and version as the server reports them; untrusted."""
    instructions: str | None = None
    """What the server tells models about its use; untrusted."""
    tools: int = 0
    """How many of its tools the toolbox offers."""
    last_error: McpAdaptersError | None = None
    stderr: str = ""
    """The last that its process wrote to standard error, at most 8 KiB."""

    @property
    def calls_itself(self) -> str:
        """The name and the version that the server reports; "" when it reports none."""
        info = self.server_info or {}
        return f"{info.get('name') or ''} {info.get('version') or ''}".strip()

    def _repr_html_(self) -> str:
        facts = {
            "state": self.state,
            "protocol": self.protocol_version,
            "calls itself": self.calls_itself,
            "tools": self.tools,
            "last error": self.last_error,
            "instructions": self.instructions,
            "standard error": self.stderr,
        }
        return server_view(facts)


class Statuses(dict[str, ServerStatus]):
    """What is known of each server; a dict that prints as lines and looks like a table in a notebook."""

    def __str__(self) -> str:
        return "\n".join(" ".join(filter(None, map(str, row))) for row in self.rows()) or "no servers"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return servers_view(self.rows())

    def rows(self) -> list[tuple[object, ...]]:
        """Key, state, protocol version, own name and version, tools and last error of each server."""
        return [
            (key, one.state, one.protocol_version or "", one.calls_itself, one.tools, one.last_error or "")
            for key, one in self.items()
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervision:
    """How the connections of a toolbox are looked after; times in seconds."""

    connect_timeout: float = 60.0
    call_timeout: float = 300.0
    """Without a sign of life."""
    total_timeout: float | None = None
    """For a whole call; None means no such limit."""
    max_concurrent_calls: int | None = None
    """Calls that one server gets at the same time; None means no limit."""
    reconnect: Reconnect = "on_use"
    log_level: LoggingLevel | None = None
    """From which level on servers are asked to log; None asks for nothing."""


class Observer(Protocol):
    """Who is told what happens to a server; called on the background loop, must not wait."""

    def state_changed(self, server: str, old: ServerState, new: ServerState) -> None:
        """Learn of a change of state."""
        ...

    def logged(self, server: str, level: str, logger: str | None, data: Any) -> None:
        """Take a log message of the server."""
        ...

    def tools_changed(self, server: str) -> None:
        """Learn that the server's tools are, or may be, others than before."""
        ...

    def page_done(self, server: str, elicitation_id: str) -> None:
        """Learn that a person is done with a page."""
        ...

    def task_changed(self, task: TaskState) -> None:
        """Learn of a task, or that it has another status."""
        ...
