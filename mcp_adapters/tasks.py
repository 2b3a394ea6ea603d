"""Tool calls that servers carry out as tasks: what is known of one, and how its end was reported.

In: what a server says of a task, as JSON. Out: frozen values that can be kept as JSON and resumed in another
process. A task is a call that takes longer: its server gives an identifier at once and its result later.

Source: MCP extension `io.modelcontextprotocol/tasks` (SEP-2663); MCP 2025-11-25, basic/utilities/tasks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

from mcp_adapters.errors import McpAdaptersError

__all__ = (
    "EXTENSION",
    "OnTask",
    "TaskEnding",
    "TaskState",
    "TaskStatus",
    "read_task",
    "tools_that_need_tasks",
)

EXTENSION = "io.modelcontextprotocol/tasks"
"""What clients and servers of protocol 2026-07-28 call it."""

TaskStatus: TypeAlias = Literal["working", "input_required", "completed", "failed", "cancelled"]
"""Where a task stands; the last three are ends. `input_required`: the server waits for an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """What is known of one task at one moment; keep it as JSON to resume it elsewhere, see `to_json`."""

    server: str
    """The server's key in the configuration."""
    tool: str
    """The server's own name for the tool."""
    task_id: str
    """The server's name for the task. Whoever knows it may be able to read the result: treat it so."""
    status: TaskStatus = "working"
    message: str | None = None
    """What the server says of the status, for people; untrusted."""
    created_at: str | None = None
    """When the server began, as it writes it (ISO 8601)."""
    ttl: float | None = None
    """Seconds from the creation after which the server may forget the task; None when it did not say."""
    poll_interval: float | None = None
    """Seconds between two questions for the status; None when the server did not say."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in ("completed", "failed", "cancelled")

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> TaskState:
        """What `to_json` gave.

        Raises:
            TypeError: It is something else.

        """
        return cls(**stored)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnding:
    """What came of the wish to cancel a task."""

    task: TaskState
    """The last that is known of it."""
    confirmed: bool
    """Whether the server says that the task has ended, cancelled or otherwise. False: it may go on."""
    error: McpAdaptersError | None = None
    """What kept the confirmation away; None when the server only did not say so in time."""


OnTask: TypeAlias = Callable[[TaskState], Awaitable[None] | None]
"""Hears of each task when it begins and whenever its status or message changes."""


def read_task(server: str, tool: str, raw: Mapping[str, Any]) -> TaskState:
    """Read what a server says of a task, in either protocol's words.

    Args:
        server: The server's key in the configuration.
        tool: The server's own name for the tool that the task is a call of.
        raw: The task as the server sent it: `ttlMs` and `pollIntervalMs` in 2026-07-28's extension, `ttl` and
            `pollInterval` in 2025-11-25, all in milliseconds. What is not a number is taken as not said.

    Raises:
        ValueError: It is not of the protocol.

    """
    identifier, status = raw.get("taskId"), raw.get("status", "")
    if not isinstance(identifier, str) or not identifier or status not in get_args(TaskStatus):
        raise ValueError("it has no identifier, or a status that does not exist")
    return TaskState(
        server=server,
        tool=tool,
        task_id=identifier,
        status=cast(TaskStatus, status),
        message=_text(raw.get("statusMessage")),
        created_at=_text(raw.get("createdAt")),
        ttl=_seconds(raw.get("ttlMs", raw.get("ttl"))),
        poll_interval=_seconds(raw.get("pollIntervalMs", raw.get("pollInterval"))),
    )


def tools_that_need_tasks(pages: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The tools of a 2025-11-25 listing that refuse to be called otherwise, by the server's names."""
    return frozenset(
        entry["name"]
        for page in pages
        if isinstance(page.get("tools"), list)
        for entry in page["tools"]
        if isinstance(entry, Mapping)
        and isinstance(entry.get("name"), str)
        and isinstance(entry.get("execution"), Mapping)
        and entry["execution"].get("taskSupport") == "required"
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _seconds(milliseconds: object) -> float | None:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or milliseconds < 0:
        return None
    return milliseconds / 1000
