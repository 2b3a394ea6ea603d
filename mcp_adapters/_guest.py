"""A client or session that the user connected, called from everywhere and never touched otherwise.

In: a client of the SDK and the event loop that it lives on. Out: a link whose requests hop to that
loop. It is not opened here, not closed here, and cannot be made anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp import Client, ClientSession
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, ListToolsRequest

from mcp_adapters._exchange import Pulse, Request, answered
from mcp_adapters._link import Inbox, Link, LinkEnded
from mcp_adapters._mirrors import Mirrors
from mcp_adapters.errors import SyncCallInEventLoopError

__all__ = ("GuestLink",)


class GuestLink(Link):
    """A link over somebody else's connection.

    Args:
        guest: A client or session that its owner has entered.
        loop: The event loop that it was entered on.
        inbox: Is told when the connection turns out to be over.

    """

    def __init__(self, guest: Client | ClientSession, loop: asyncio.AbstractEventLoop, inbox: Inbox) -> None:
        super().__init__(_unused, inbox)
        self._guest = guest
        self._loop = loop

    async def open(self, timeout: float) -> None:
        """Take the session as it is.

        Raises:
            RuntimeError: Its owner has not entered it.

        """
        session = self._guest.session if isinstance(self._guest, Client) else self._guest
        if session.protocol_version is None:
            raise RuntimeError("the session is not initialized")
        self._session = session

    async def close(self) -> None:
        """Leave the connection to its owner."""
        self._over.set()

    async def request(
        self,
        request: Request,
        *,
        idle: float,
        total: float | None = None,
        on_progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """Send one request on the owner's loop; as `Link.request`."""

        async def there() -> dict[str, Any]:
            answer = await answered(
                self.session, request, Pulse(idle), total=total, on_progress=_hopping(on_progress, home)
            )
            if isinstance(request, ListToolsRequest) and self.modern and Mirrors.of([answer]).places:
                # The session writes headers that repeat arguments itself, for tools that it listed itself.
                with anyio.move_on_after(idle):
                    await self.session.list_tools(params=request.params)
            return answer

        home = asyncio.get_running_loop()
        if self._loop.is_closed():
            self.end()
            raise LinkEnded
        try:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(there(), self._loop))
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                self.end()
                raise LinkEnded from error
            raise

    def refuse_blocking(self) -> None:
        """Refuse a synchronous call on the owner's loop, which would wait for itself.

        Raises:
            SyncCallInEventLoopError: The calling thread runs that loop.

        """
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            return
        if here is self._loop:
            raise SyncCallInEventLoopError(
                "a synchronous call was made on the event loop that the server's own client lives on, "
                "where it would wait for itself; use the asynchronous form (its name starts with 'a') there"
            )


def _hopping(on_progress: ProgressFnT | None, home: asyncio.AbstractEventLoop) -> ProgressFnT | None:
    """Tell of progress on the background loop, where everybody else does."""
    if on_progress is None:
        return None

    async def hop(progress: float, total: float | None, message: str | None) -> None:
        told = asyncio.run_coroutine_threadsafe(_told(on_progress, progress, total, message), home)
        await asyncio.wrap_future(told)

    return hop


async def _told(on_progress: Callable[..., Awaitable[None]], *facts: Any) -> None:
    await on_progress(*facts)


async def _unused(*_: Any) -> Any:
    raise AssertionError("a guest is never opened here")
