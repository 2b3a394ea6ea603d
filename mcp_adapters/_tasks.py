"""The tasks of one server: followed to their end, given input, cancelled.

In: what a server gave instead of a result. Out: the result, or an error of `mcp_adapters.errors`. The server
is asked at its own interval; every answer counts as a sign of life, and a lost connection is made anew as
long as the idle time lasts. A call that is given up has its task cancelled; nothing is started twice.

Source: MCP extension `io.modelcontextprotocol/tasks` (SEP-2663); MCP 2025-11-25, basic/utilities/tasks.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import anyio
from mcp_types import Request, RequestParams

from mcp_adapters.errors import (
    ConnectError,
    ConnectionLostError,
    InputRequiredError,
    McpAdaptersError,
    RequestError,
    RequestTimeoutError,
    ToolboxClosedError,
    ToolCancelledError,
    ToolExecutionError,
    ToolTimeoutError,
)
from mcp_adapters.tasks import TaskEnding, TaskState, read_task

__all__ = ("Following", "Tasks")

_USUAL_INTERVAL_S, _SHORTEST_INTERVAL_S = 1.0, 0.05
"""Between two questions for a status, where the server says nothing; and whatever it says."""
_CANCEL_S = 5.0
"""How long the cancellation of a call that is given up may take."""
_SERVER_FAULT = 500
"""From this HTTP status on a server, or what stands before it, has a trouble that may pass."""
_AGAIN_S = 0.5
"""Pause before a server that was lost is asked again; the connection's own pauses come on top."""


class _Params(RequestParams):
    task_id: str


class _UpdateParams(_Params):
    input_responses: dict[str, Any]


class _Get(Request[_Params, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: _Params
    name_param = "taskId"


class _Result(Request[_Params, Literal["tasks/result"]]):
    method: Literal["tasks/result"] = "tasks/result"
    params: _Params


class _Update(Request[_UpdateParams, Literal["tasks/update"]]):
    method: Literal["tasks/update"] = "tasks/update"
    params: _UpdateParams
    name_param = "taskId"


class _Cancel(Request[_Params, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: _Params
    name_param = "taskId"


class Read(Protocol):
    """Sends a request that changes nothing; as `Requests.read`."""

    async def __call__(self, request: Any, *, timeout: float | None = None) -> dict[str, Any]:
        """The answer as JSON."""
        ...


@dataclass(slots=True, kw_only=True)
class Following:
    """How one task is followed.

    Args:
        idle: Seconds without a sign of life.
        modern: Whether its server speaks protocol 2026-07-28 or later.
        answer: Answers the server's questions, by its names for them; raises when nobody does.
        progressed: Is told what the server says of the task.
        given: Answers that the server does not have yet.

    """

    idle: float
    modern: bool
    answer: Callable[[TaskState, Mapping[str, Any]], Awaitable[dict[str, Any]]]
    progressed: Callable[[float, float | None, str | None], Awaitable[None]] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    """The questions that were answered already."""
    news: int = 0
    """How many times the server has said something of the task."""


class Tasks:
    """The tasks of one server that are not known to have ended.

    Args:
        server: The server's key in the configuration.
        read: Sends requests.
        changed: Is told of each new status.

    """

    def __init__(self, server: str, read: Read, changed: Callable[[TaskState], None]) -> None:
        self._server = server
        self._read = read
        self._changed = changed
        self.pending: dict[str, TaskState] = {}
        """By the server's names for them."""

    # -- a call -------------------------------------------------------------------------------

    async def finish(self, task: TaskState, way: Following) -> dict[str, Any]:
        """The result of a task, as JSON; takes as long as it takes. Given up, the task is cancelled.

        Raises:
            InputRequiredError: A person is to be asked, and questions end calls. The task waits.
            ToolCancelledError: The task was cancelled, or a question got no answer.
            ToolExecutionError: The task failed by an error of the protocol, or the server forgot it.
            ToolTimeoutError: No sign of life in time.
            ConnectionLostError, ConnectError: The server is gone and did not come back in time.

        """
        try:
            return await self._finish(task, way)
        except (InputRequiredError, ConnectionLostError, ConnectError, ToolboxClosedError):
            raise  # the task goes on, or waits
        except (asyncio.CancelledError, McpAdaptersError):
            with anyio.CancelScope(shield=True):
                await self._give_up(task)
            raise

    async def _finish(self, task: TaskState, way: Following) -> dict[str, Any]:
        raw: Mapping[str, Any] = {}
        await self._note(task, way)
        if way.given:
            await self._update(task, way.given, way)
        while True:
            if not way.modern and (task.ended or task.status == "input_required"):
                return await self._legacy_result(task, way)
            if task.ended and raw:
                return self._outcome(task, raw)
            if not task.ended:
                if task.status == "input_required":
                    await self._give_input(task, raw, way)
                await asyncio.sleep(_interval(task, way.idle))
            task, raw = await self._status(task, way)

    async def _status(self, task: TaskState, way: Following) -> tuple[TaskState, Mapping[str, Any]]:
        raw = await self._asked(_Get(params=_Params(task_id=task.task_id)), task, way)
        fresh = self._task(task, raw)
        await self._note(fresh, way)
        return fresh, raw

    async def _asked(self, request: Any, task: TaskState, way: Following) -> dict[str, Any]:
        """Ask the server about a task, as long as there is hope that it is heard of again."""
        end = asyncio.get_running_loop().time() + way.idle
        while True:
            try:
                return await self._read(request, timeout=way.idle)
            except RequestTimeoutError as error:
                raise self._timeout(task, way.idle) from error
            except (ConnectionLostError, ConnectError, RequestError) as error:
                if isinstance(error, RequestError) and (error.status or 0) < _SERVER_FAULT:
                    raise self._refused(task, error) from error
                if asyncio.get_running_loop().time() + _AGAIN_S > end:
                    raise
                await asyncio.sleep(_AGAIN_S)

    async def _note(self, task: TaskState, way: Following | None) -> None:
        """Keep what is known, and tell whoever listens if it is new."""
        before = self.pending.get(task.task_id)
        if task.ended:
            self.pending.pop(task.task_id, None)
        else:
            self.pending[task.task_id] = task
        if before is not None and (before.status, before.message) == (task.status, task.message):
            return
        self._changed(task)
        if way is not None and way.progressed is not None and task.message and not task.ended:
            way.news += 1
            await way.progressed(way.news, None, task.message)

    def _outcome(self, task: TaskState, raw: Mapping[str, Any]) -> dict[str, Any]:
        result, error = raw.get("result"), raw.get("error")
        if task.status == "completed" and isinstance(result, dict):
            return result
        if task.status == "cancelled":
            raise self._cancelled(task)
        if isinstance(error, Mapping):
            code = error.get("code")
            raise self._failed(task, str(error.get("message")), code if isinstance(code, int) else None)
        raise self._failed(task, task.message or "it ended without a result", None)

    async def _legacy_result(self, task: TaskState, way: Following) -> dict[str, Any]:
        """Wait for the result with one request, over which such servers also ask; see that they live."""
        if task.status == "cancelled":
            raise self._cancelled(task)
        asking = asyncio.create_task(
            self._read(_Result(params=_Params(task_id=task.task_id)), timeout=math.inf)
        )
        try:
            while not (await asyncio.wait({asking}, timeout=_interval(task, way.idle)))[0]:
                task, _ = await self._status(task, way)
            result = asking.result()
        except RequestError as error:
            raise self._refused(task, error) from error
        finally:
            asking.cancel()
        if not task.ended:
            # The result came before the server was asked for the status again.
            await self._note(replace(task, status="failed" if result.get("isError") else "completed"), way)
        self.pending.pop(task.task_id, None)
        return result

    # -- input --------------------------------------------------------------------------------

    async def _give_input(self, task: TaskState, raw: Mapping[str, Any], way: Following) -> None:
        """Answer the questions that are new; the server goes on showing old ones until it has read them."""
        requests = raw.get("inputRequests")
        fresh = {
            name: request
            for name, request in (requests.items() if isinstance(requests, Mapping) else ())
            if name not in way.known
        }
        if fresh:
            responses = await way.answer(task, fresh)
            await self._update(task, responses, way)

    async def _update(self, task: TaskState, responses: Mapping[str, Any], way: Following) -> None:
        params = _UpdateParams(task_id=task.task_id, input_responses=dict(responses))
        await self._asked(_Update(params=params), task, way)
        way.known |= responses.keys()

    # -- the end ------------------------------------------------------------------------------

    async def cancel(self, task: TaskState, *, timeout: float) -> TaskEnding:
        """Tell the server to stop, and wait for its word that the task has ended.

        Args:
            task: Which.
            timeout: Seconds to wait.

        """
        last = task
        try:
            async with asyncio.timeout(timeout):
                last = await self._stopped(task, timeout)
                while not last.ended:
                    await asyncio.sleep(min(_interval(last, timeout), _AGAIN_S))
                    last = await self._looked(task, timeout)
        except TimeoutError:
            return TaskEnding(task=last, confirmed=False)
        except McpAdaptersError as error:
            return TaskEnding(task=last, confirmed=False, error=error)
        return TaskEnding(task=last, confirmed=True)

    async def _give_up(self, task: TaskState) -> None:
        """Tell the server to stop, without waiting until it has; what is not confirmed stays pending."""
        if task.task_id not in self.pending:
            return
        with contextlib.suppress(McpAdaptersError, TimeoutError):
            async with asyncio.timeout(_CANCEL_S):
                await self._stopped(task, _CANCEL_S)

    async def _stopped(self, task: TaskState, timeout: float) -> TaskState:
        """What the server says of a task after it was told to stop."""
        with contextlib.suppress(RequestError):  # it may have ended already; the status says so
            await self._read(_Cancel(params=_Params(task_id=task.task_id)), timeout=timeout)
        return await self._looked(task, timeout)

    async def _looked(self, task: TaskState, timeout: float) -> TaskState:
        raw = await self._read(_Get(params=_Params(task_id=task.task_id)), timeout=timeout)
        last = self._task(task, raw)
        await self._note(last, None)
        return last

    # -- errors -------------------------------------------------------------------------------

    def _task(self, task: TaskState, raw: Mapping[str, Any]) -> TaskState:
        try:
            return read_task(task.server, task.tool, {"taskId": task.task_id, **raw})
        except ValueError as error:
            raise self._failed(task, f"its status cannot be read: {error}", None) from error

    def _failed(self, task: TaskState, why: str, code: int | None) -> ToolExecutionError:
        return ToolExecutionError(
            f"the task that server {self._server!r} made of the call of {task.tool!r} failed: {why}",
            server=self._server,
            tool=task.tool,
            code=code,
        )

    def _refused(self, task: TaskState, error: RequestError) -> ToolExecutionError:
        """Name a task that the server will not speak of, most often since it has forgotten it."""
        if error.code is not None:
            self.pending.pop(task.task_id, None)
        return self._failed(task, str(error), error.code)

    def _cancelled(self, task: TaskState) -> ToolCancelledError:
        return ToolCancelledError(
            f"server {self._server!r} says that the task of the call of {task.tool!r} was cancelled; whether "
            "it had an effect is unknown",
            server=self._server,
            tool=task.tool,
        )

    def _timeout(self, task: TaskState, seconds: float) -> ToolTimeoutError:
        return ToolTimeoutError(
            f"the task of the call of {task.tool!r} of server {self._server!r} gave no sign of life for "
            f"{seconds:g} s; the server was told to stop, but whether the call had an effect is unknown",
            server=self._server,
            tool=task.tool,
            timeout=seconds,
            limit="idle",
        )


def _interval(task: TaskState, idle: float) -> float:
    """Seconds until the next question; not so long that the idle time would pass."""
    wanted = _USUAL_INTERVAL_S if task.poll_interval is None else task.poll_interval
    return min(max(wanted, _SHORTEST_INTERVAL_S), idle)
