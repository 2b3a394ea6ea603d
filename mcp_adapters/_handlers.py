"""Brings news and questions to the user's functions, on the loop or thread where the user is.

In: a function of the user's and its argument, from the background loop. Out: a call of it on the
user's event loop, or on a worker thread. Nobody waits for whoever hears news; who asks, awaits the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context, copy_context
from threading import Thread
from typing import Any, TypeVar

__all__ = ("Messenger", "running_loop")

logger = logging.getLogger(__name__)

R = TypeVar("R")
T = TypeVar("T")


class Messenger:
    """Calls the user's functions where the user is.

    Args:
        loop: The user's event loop; None means a worker thread.

    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._loop = loop
        self._worker: ThreadPoolExecutor | None = None

    def tell(self, function: Callable[[T], Awaitable[None] | None] | None, news: T) -> None:
        """Have `function(news)` called soon; nothing happens without a function."""
        if function is None:
            return
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_start, function, news)
            return
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="mcp-adapters-handlers")
        with contextlib.suppress(RuntimeError):  # the interpreter is ending and takes no more work
            self._worker.submit(copy_context().run, _finish, function, news)

    async def ask(self, function: Callable[[T], Awaitable[R] | R], question: T, context: Context) -> R:
        """Have `function(question)` called in a copy of a context and give what it answers or raises.

        Each question has a thread of its own where there is no loop: somebody may be thinking. When
        the waiting ends before the answer, the answer is not heard.
        """
        run = context.copy().run
        if self._loop is not None and not self._loop.is_closed():
            answer = run(asyncio.run_coroutine_threadsafe, _asked(function, question), self._loop)
            return await asyncio.wrap_future(answer)
        future: Future[R] = Future()
        Thread(target=run, args=(_fill, future, function, question), daemon=True).start()
        return await asyncio.wrap_future(future)

    def __enter__(self) -> Messenger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take no more news; what is being told goes on to its end."""
        if self._worker is not None:
            self._worker.shutdown(wait=False)
            self._worker = None


_tasks: set[asyncio.Task[None]] = set()
"""Keeps tasks alive: the event loop alone does not."""


def _start(function: Callable[[Any], Awaitable[None] | None], news: Any) -> None:
    task = asyncio.get_running_loop().create_task(_told(function, news))
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


def _finish(function: Callable[[Any], Awaitable[None] | None], news: Any) -> None:
    asyncio.run(_told(function, news))


def _fill(future: Future[R], function: Callable[[T], Awaitable[R] | R], question: T) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(asyncio.run(_asked(function, question)))
    except BaseException as error:  # noqa: BLE001 - it is raised where the answer is awaited
        future.set_exception(error)


async def _asked(function: Callable[[T], Awaitable[R] | R], question: T) -> R:
    answer = function(question)
    return await answer if inspect.isawaitable(answer) else answer


async def _told(function: Callable[[Any], Awaitable[None] | None], news: Any) -> None:
    try:
        outcome = function(news)
        if inspect.isawaitable(outcome):
            await outcome
    except Exception:
        logger.exception("the handler %r failed", getattr(function, "__name__", function))


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs in this thread; None without one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
