"""The background event loop: the only place where sync code meets async code.

One loop in one daemon thread serves all toolboxes of the process. It starts at first use. Callers
on any thread and on any event loop hand coroutines over and get results or exceptions back; the
caller's context variables travel along. A forked child gets a loop of its own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

from mcp_adapters.errors import SyncCallInEventLoopError

__all__ = ("Portal", "portal")

P = ParamSpec("P")
T = TypeVar("T")


class Portal:
    """A running event loop in a thread of its own, and the ways into it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="mcp-adapters", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    @property
    def is_here(self) -> bool:
        """Whether the calling thread is the one that runs the loop."""
        return threading.get_ident() == self._thread.ident

    def submit(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start `function` on the loop; cancelling the future cancels the work."""

        async def work() -> T:
            return await function(*args, **kwargs)

        return asyncio.run_coroutine_threadsafe(work(), self._loop)

    def run(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` on the loop and wait for it, also while a loop runs in this thread.

        A KeyboardInterrupt in the waiting thread cancels the work.

        Raises:
            SyncCallInEventLoopError: Called on the loop's own thread, which would wait for ever.

        """
        if self.is_here:
            raise SyncCallInEventLoopError(
                "a synchronous call was made on the background event loop's own thread, where it would wait "
                "for itself; use the asynchronous form (its name starts with 'a') there"
            )
        future = self.submit(function, *args, **kwargs)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def arun(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` on the loop and await it from any asyncio loop.

        Cancelling the awaiting task cancels the work.
        """
        if self.is_here:
            return await function(*args, **kwargs)
        return await asyncio.wrap_future(self.submit(function, *args, **kwargs))


_portal: Portal | None = None
_lock = threading.Lock()


def portal() -> Portal:
    """The portal of this process, started at the first call."""
    global _portal
    with _lock:
        if _portal is None:
            _portal = Portal()
        return _portal


def _forget(*_: Any) -> None:
    """Leave the parent's loop to the parent: its thread does not exist in a forked child."""
    global _portal, _lock
    _portal, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
