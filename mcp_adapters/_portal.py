"""The background event loops: the only place where sync code meets async code.

One loop in one daemon thread serves all toolboxes of the process; a second one runs what is the
user's own, so that it cannot hold up the connections. Each starts at first use. Callers on any
thread and on any event loop hand coroutines over and get results or exceptions back; the caller's
context variables travel along. A forked child gets loops of its own.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, Generic, ParamSpec, TypeVar

from mcp_adapters.errors import SyncCallInEventLoopError

__all__ = ("Portal", "guests", "portal")

P = ParamSpec("P")
T = TypeVar("T")

WAKING_S = 0.25
"""Seconds within which an interrupt of a notebook's cell is noticed."""


class Portal:
    """A running event loop in a thread of its own, and the ways into it."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._holds = False
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    @property
    def is_here(self) -> bool:
        """Whether the calling thread is the one that runs the loop."""
        return threading.get_ident() == self._thread.ident

    def hold(self) -> None:
        """Let no error reach the other threads that wait for the loop: the interpreter is ending.

        Only daemon threads are left then, and an error in one would be shown after the program's end.
        """
        self._holds = True

    def submit(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start `function` on the loop; cancelling the future cancels the work."""

        async def work() -> T:
            return await function(*args, **kwargs)

        return asyncio.run_coroutine_threadsafe(work(), self._loop)

    def run(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` on the loop and wait for it, also while a loop runs in this thread.

        A KeyboardInterrupt in the waiting thread cancels the work, whenever it comes.

        Raises:
            SyncCallInEventLoopError: Called on the loop's own thread, which would wait for ever.

        """
        self.require_elsewhere()
        work = _Work(function, *args, **kwargs)
        try:
            # An interrupt may come before the future is handed back: it is not what cancels.
            return self.submit(work.run).result()
        except BaseException:
            if self._holds and threading.current_thread() is not threading.main_thread():
                threading.Event().wait()
            self._loop.call_soon_threadsafe(work.give_up)
            raise

    def require_elsewhere(self) -> None:
        """Refuse to wait for the loop on its own thread.

        Raises:
            SyncCallInEventLoopError: That is where this is called.

        """
        if self.is_here:
            raise SyncCallInEventLoopError(
                "a synchronous call was made on the background event loop's own thread, where it would wait "
                "for itself; use the asynchronous form (its name starts with 'a') there"
            )

    async def arun(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` on the loop and await it from any asyncio loop.

        Cancelling the awaiting task cancels the work.
        """
        if self.is_here:
            return await function(*args, **kwargs)
        with _waking() if "ipykernel" in sys.modules else nullcontext():
            return await asyncio.wrap_future(self.submit(function, *args, **kwargs))


@contextmanager
def _waking() -> Iterator[None]:
    """Wake the calling loop from time to time while it waits.

    Jupyter's kernel notes an interrupt of an asynchronous cell on its loop without waking it: nothing
    would happen before the answer came.
    """
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def wake() -> None:
        nonlocal timer
        timer = loop.call_later(WAKING_S, wake)

    wake()
    try:
        yield
    finally:
        timer.cancel()


class _Work(Generic[T]):
    """Work that can be given up from before it is handed over until it is done; both on the loop."""

    def __init__(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> None:
        self._start = partial(function, *args, **kwargs)
        self._task: asyncio.Task[Any] | None = None
        self._given_up = False

    async def run(self) -> T:
        """Do it, unless it was given up before it began."""
        if self._given_up:
            raise asyncio.CancelledError
        self._task = asyncio.current_task()
        return await self._start()

    def give_up(self) -> None:
        """Cancel it; harmless when it is done."""
        self._given_up = True
        if self._task is not None:
            self._task.cancel()


_portals: dict[str, Portal] = {}
_lock = threading.Lock()


def portal() -> Portal:
    """The portal that carries the connections, started at the first call."""
    return _started("mcp-adapters")


def guests() -> Portal:
    """The portal for the user's asynchronous functions in synchronous calls, started at the first call."""
    return _started("mcp-adapters-guests")


def _started(name: str) -> Portal:
    with _lock:
        if name not in _portals:
            _portals[name] = Portal(name)
        return _portals[name]


def _forget(*_: Any) -> None:
    """Leave the parent's loops to the parent: their threads do not exist in a forked child."""
    global _lock
    _lock = threading.Lock()
    _portals.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
