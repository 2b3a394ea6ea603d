"""The faces of a toolbox for calls that servers make tasks of: which run, resume, cancel.

In: a task as it was kept. Out: its result, or what came of the wish to cancel it. Each method exists in two
forms that differ in how they wait; what they do is in `_tasks`, on the background loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from mcp_adapters._engine import Engine
from mcp_adapters._portal import portal
from mcp_adapters.errors import ToolNotFoundError
from mcp_adapters.spec import CallAnswers, OnProgress, Tool, ToolResult
from mcp_adapters.tasks import TaskEnding, TaskState

__all__ = ("Tasking",)


class Tasking:
    """The part of a toolbox that is about tasks."""

    _engine: Engine

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools."""
        raise NotImplementedError

    @property
    def pending_tasks(self) -> tuple[TaskState, ...]:
        """The tasks of this toolbox's calls that are not known to have ended, in no order.

        Those of calls in flight, of calls that wait for a person, and of calls that were given up or lost
        while the server could not be reached. Closing the toolbox leaves them running.
        """
        connections = self._engine.connections.values()
        return tuple(task for connection in connections for task in connection.tasks.pending.copy().values())

    def resume_task(
        self, task: TaskState, *, timeout: float | None = None, on_progress: OnProgress | None = None
    ) -> ToolResult:
        """Wait for the result of a task that an earlier call began, also one of another process.

        Args:
            task: As `pending_tasks` or `Handlers.task` gave it.
            timeout: Seconds without a sign of life; as for `Tool.call`.
            on_progress: Told what the server says of the task.

        Raises:
            ToolNotFoundError: The toolbox does not offer the task's tool.
            ToolExecutionError: The server does not know the task any more, or the task failed.
            ToolCancelledError: The task was cancelled.
            Exception: Whatever else `Tool.call` raises.

        """
        return self._tool_of(task).call(
            timeout=timeout, on_progress=on_progress, resume=CallAnswers(task=task.task_id)
        )

    async def aresume_task(
        self, task: TaskState, *, timeout: float | None = None, on_progress: OnProgress | None = None
    ) -> ToolResult:
        """Wait for the result of a task; as `resume_task`."""
        return await self._tool_of(task).acall(
            timeout=timeout, on_progress=on_progress, resume=CallAnswers(task=task.task_id)
        )

    def cancel_task(self, task: TaskState, *, timeout: float = 10.0) -> TaskEnding:
        """Tell a server to stop a task, and wait for its word that it has ended.

        Args:
            task: As `pending_tasks` or `Handlers.task` gave it.
            timeout: Seconds to wait.

        Raises:
            ConfigError: There is no such server.
            ToolboxClosedError: The toolbox is not open.

        """
        return portal().run(self._cancel, (task,), timeout)[0]

    async def acancel_task(self, task: TaskState, *, timeout: float = 10.0) -> TaskEnding:
        """Tell a server to stop a task; as `cancel_task`."""
        return (await portal().arun(self._cancel, (task,), timeout))[0]

    def cancel_pending_tasks(self, *, timeout: float = 10.0) -> tuple[TaskEnding, ...]:
        """Tell the servers to stop all of `pending_tasks`, and wait for their word that they have.

        Args:
            timeout: Seconds to wait, for all of them together.

        Returns:
            One for each task; `confirmed` says whether the server says that it has ended.

        Raises:
            ToolboxClosedError: The toolbox is not open.

        """
        return portal().run(self._cancel, None, timeout)

    async def acancel_pending_tasks(self, *, timeout: float = 10.0) -> tuple[TaskEnding, ...]:
        """Tell the servers to stop all of `pending_tasks`; as `cancel_pending_tasks`."""
        return await portal().arun(self._cancel, None, timeout)

    async def _cancel(self, tasks: Sequence[TaskState] | None, timeout: float) -> tuple[TaskEnding, ...]:
        self._engine.opened()
        wanted = self.pending_tasks if tasks is None else tasks
        cancelling = [
            self._engine.chosen(task.server)[0].tasks.cancel(task, timeout=timeout) for task in wanted
        ]
        return tuple(await asyncio.gather(*cancelling))

    def _tool_of(self, task: TaskState) -> Tool:
        for tool in self.tools:
            if (tool.server, tool.remote_name) == (task.server, task.tool):
                return tool
        raise ToolNotFoundError(
            f"the toolbox does not offer the tool {task.tool!r} of server {task.server!r}",
            server=task.server,
            tool=task.tool,
        )
