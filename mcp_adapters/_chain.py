"""Run interceptors around a call: synchronous and asynchronous ones, in any mix, from anywhere.

In: a request and the way to send it. Out: the result of the outermost interceptor. Where each one
runs is told in `interception`. Nothing waits for a loop or a thread that waits for it: synchronous
interceptors never run on a loop, and each has a worker thread of its own.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import math
import threading
from collections.abc import Awaitable, Sequence
from typing import Any, cast

import anyio

from mcp_adapters._portal import guests, portal
from mcp_adapters.interception import (
    AsyncCallNext,
    AsyncInterceptor,
    CallNext,
    CallRequest,
    Interceptor,
    SyncInterceptor,
)
from mcp_adapters.spec import ToolResult

__all__ = ("Chain",)


class Chain:
    """Interceptors in their order, the first one outermost."""

    def __init__(self, interceptors: Sequence[Interceptor]) -> None:
        self._interceptors = tuple(interceptors)

    def run(self, request: CallRequest, send: CallNext, asend: AsyncCallNext, *, at: int = 0) -> ToolResult:
        """Make a call and wait.

        Args:
            request: What to call.
            send: Sends the request and waits.
            asend: Sends the request and is awaited; used behind an asynchronous interceptor.
            at: The interceptor to begin with.

        Raises:
            SyncCallInEventLoopError: Called on a background loop that is needed to answer.
            TypeError: An interceptor returned something else than a `ToolResult`.
            ValueError: An interceptor passed on a request for another tool.

        """
        if at == len(self._interceptors):
            return send(request)
        interceptor = self._interceptors[at]
        if _as_async(interceptor):
            return self._run_as_guest(request, asend, at)

        def call_next(changed: CallRequest) -> ToolResult:
            return self.run(_passed_on(changed, request, interceptor), send, asend, at=at + 1)

        return _answer(cast("SyncInterceptor", interceptor)(request, call_next), interceptor)

    async def arun(self, request: CallRequest, asend: AsyncCallNext, *, at: int = 0) -> ToolResult:
        """Make a call and await it; as `run`."""
        if at == len(self._interceptors):
            return await asend(request)
        interceptor = self._interceptors[at]

        async def call_next(changed: CallRequest) -> ToolResult:
            return await self.arun(_passed_on(changed, request, interceptor), asend, at=at + 1)

        if asynchronous := _as_async(interceptor):
            return _answer(await asynchronous(request, call_next), interceptor)
        synchronous = cast("SyncInterceptor", interceptor)
        return _answer(await _in_thread(synchronous, request, call_next), interceptor)

    def _run_as_guest(self, request: CallRequest, asend: AsyncCallNext, at: int) -> ToolResult:
        portal().require_elsewhere()  # the interceptors' loop will wait for that one
        guests().require_elsewhere()
        return _released(guests().run(_held, self.arun(request, asend, at=at)))


def _as_async(interceptor: Interceptor) -> AsyncInterceptor | None:
    """The interceptor if it is to be awaited."""
    of_object = getattr(type(interceptor), "__call__", None)  # noqa: B004 - not whether, but of which kind
    if inspect.iscoroutinefunction(interceptor) or inspect.iscoroutinefunction(of_object):
        return cast("AsyncInterceptor", interceptor)
    return None


def _passed_on(changed: Any, request: CallRequest, interceptor: Interceptor) -> CallRequest:
    if not isinstance(changed, CallRequest):
        raise TypeError(
            f"interceptor {_name(interceptor)} passed on a {type(changed).__name__}, no CallRequest"
        )
    if (changed.server, changed.tool) != (request.server, request.tool):
        raise ValueError(
            f"interceptor {_name(interceptor)} passed on a request for another tool; it may change "
            "arguments, headers and context; to call another tool, call that tool"
        )
    return changed


def _answer(answer: Any, interceptor: Interceptor) -> ToolResult:
    if isinstance(answer, ToolResult):
        return answer
    if inspect.iscoroutine(answer):
        answer.close()
    raise TypeError(
        f"interceptor {_name(interceptor)} returned a {type(answer).__name__}, no ToolResult; return what "
        "call_next returned or a ToolResult of your own, and define it with 'async def' if it awaits"
    )


def _name(interceptor: Interceptor) -> str:
    return repr(getattr(interceptor, "__qualname__", type(interceptor).__qualname__))


async def _in_thread(
    interceptor: SyncInterceptor, request: CallRequest, call_next: AsyncCallNext
) -> ToolResult:
    """Run a synchronous interceptor beside the loop; cancellation leaves it and cancels its calls."""
    way_back = _WayBack(asyncio.get_running_loop(), call_next)
    # Without limit: interceptors that wait for a thread another one holds would wait for ever.
    limiter = anyio.CapacityLimiter(math.inf)
    try:
        return await anyio.to_thread.run_sync(
            interceptor, request, way_back, abandon_on_cancel=True, limiter=limiter
        )
    finally:
        way_back.close()


class _WayBack:
    """`call_next` for a worker thread: runs the rest of the way on the loop, and waits."""

    def __init__(self, loop: asyncio.AbstractEventLoop, call_next: AsyncCallNext) -> None:
        self._loop = loop
        self._call_next = call_next
        self._lock = threading.Lock()
        self._waiting: set[concurrent.futures.Future[ToolResult | _Held]] = set()
        self._closed = False

    def __call__(self, request: CallRequest) -> ToolResult:
        with self._lock:
            if self._closed:
                raise asyncio.CancelledError("the call that this interceptor belongs to is over")
            future = asyncio.run_coroutine_threadsafe(_held(self._call_next(request)), self._loop)
            self._waiting.add(future)
        try:
            return _released(future.result())
        except concurrent.futures.CancelledError:
            # That one is an ordinary Exception; an interceptor that repeats failures must not catch it.
            raise asyncio.CancelledError from None
        finally:
            self._waiting.discard(future)

    def close(self) -> None:
        """Cancel what is under way and refuse the rest."""
        with self._lock:
            self._closed = True
            waiting = tuple(self._waiting)
        for future in waiting:
            future.cancel()


class _Held:
    """An exception that would end an event loop, on its way to whoever waits."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


async def _held(work: Awaitable[ToolResult]) -> ToolResult | _Held:
    try:
        return await work
    except (KeyboardInterrupt, SystemExit) as error:
        return _Held(error)


def _released(outcome: ToolResult | _Held) -> ToolResult:
    if isinstance(outcome, _Held):
        raise outcome.error
    return outcome
