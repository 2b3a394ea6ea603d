"""One life of one connection: a session that is entered and left in a task of its own.

In: a way to open a transport, and how long that may take. Out: requests that answer with the
JSON that came over the wire, what the server tells unasked, and the reason why the life ended. A
link never comes back to life; its owner makes a new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, Protocol, TypeAlias

import anyio
from mcp import ClientSession
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, LoggingLevel, RootsListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_adapters._exchange import Pulse, Request, answered
from mcp_adapters._questions import Abilities

__all__ = ("Inbox", "Link", "LinkEnded", "Opener", "leaf")

Opener: TypeAlias = Callable[[AsyncExitStack, "Link"], Awaitable[ClientSession]]
"""Enter whatever a connection needs and give its session, negotiated and ready."""

_CLOSE_S = 7.0
"""How long closing may take before the owner task is cancelled, and how long that may take."""
_NOTICE_S = 0.1
"""How long a request that failed with the code of a closed connection waits to see it close."""
_LAST_WORDS_S = 0.5
"""How long a failed request waits for the reason of the end, such as an exit code."""
_RELISTEN_S = 5.0
"""Pause before a lost subscription is asked for again."""


class LinkEnded(Exception):  # noqa: N818 - a fact for the layer above, not an error of its own
    """The connection ended before the request was answered."""


class Inbox(Protocol):
    """Who is told what a server says unasked; called on the background loop, must not wait."""

    log_level: LoggingLevel | None
    """From which level on the server is asked to log; None asks for nothing."""

    def abilities(self, *, modern: bool) -> Abilities:
        """What the server is told that it may ask for, by the protocol that it speaks."""
        ...

    async def answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Answer what the server asks, as JSON; takes as long as a person takes.

        Raises:
            Refused: There is no answer.

        """
        ...

    def page_done(self, elicitation_id: str) -> None:
        """Learn that a person is done with a page."""
        ...

    def logged(self, level: str, logger: str | None, data: Any) -> None:
        """Take a log message of the server."""
        ...

    def tools_changed(self) -> None:
        """Learn that the server's list of tools has changed."""
        ...

    def resource_updated(self, uri: str) -> None:
        """Learn that a resource has changed."""
        ...

    def ended(self, link: Link) -> None:
        """Learn that the link is over; may be told twice."""
        ...


class Link:
    """One life of one connection.

    Args:
        opener: Enters the transport and gives the session.
        inbox: Is told what the server says unasked.

    """

    def __init__(self, opener: Opener, inbox: Inbox) -> None:
        self._opener = opener
        self.inbox = inbox
        self._over = anyio.Event()
        self._retired = False
        self._cancelled = False
        self._in_flight = 0
        self.pulses: set[Pulse] = set()
        """The requests that are being waited for."""
        self._session: ClientSession | None = None
        self._task: asyncio.Task[None] | None = None
        self.cause: BaseException | None = None
        """What ended the link, when it was not `close`."""

    @property
    def alive(self) -> bool:
        """Whether requests can be sent."""
        return self._session is not None and not self._retired and not self._over.is_set()

    @property
    def modern(self) -> bool:
        """Whether the server speaks the protocol without a handshake, 2026-07-28 or later."""
        return self._session is not None and self._session.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def session(self) -> ClientSession:
        """The session; valid once `open` has returned."""
        assert self._session is not None
        return self._session

    async def open(self, timeout: float) -> None:
        """Start the owner task and wait until the session is ready.

        Args:
            timeout: Seconds that may pass.

        Raises:
            TimeoutError: They passed.
            LinkEnded: `close` was called meanwhile.
            Exception: Whatever the transport or the handshake raised, out of any group.

        """
        ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._own(ready))
        try:
            async with asyncio.timeout(timeout):
                self._session = await asyncio.shield(ready)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.close()
            raise

    async def close(self) -> None:
        """End the link and wait until its transport is gone; harmless when repeated.

        Takes at most a few seconds, whatever the server does.
        """
        self._over.set()
        if self._task is None:
            return
        if self._session is None or not (await asyncio.wait({self._task}, timeout=_CLOSE_S))[0]:
            self._cancel()
        await asyncio.wait({self._task}, timeout=_CLOSE_S)

    def _cancel(self) -> None:
        """Cancel the owner task once: another time would interrupt it where it ends its process."""
        if self._task is not None and not self._cancelled:
            self._cancelled = True
            self._task.cancel()

    def retire(self) -> None:
        """Take no more requests, and end when those in flight are answered."""
        self._retired = True
        if not self._in_flight:
            self.end()

    def end(self) -> None:
        """Tell the owner task, and whoever listens, that the connection is over."""
        self._over.set()
        self.inbox.ended(self)

    async def _own(self, ready: asyncio.Future[ClientSession]) -> None:
        try:
            async with AsyncExitStack() as stack:
                session = await self._opener(stack, self)
                if not ready.done():
                    ready.set_result(session)
                await self._live(session)
        except BaseException as error:  # noqa: BLE001 - the task ends here; the waiter gets the reason
            self.cause = leaf(error)
            if not ready.done():
                ready.set_exception(
                    LinkEnded() if isinstance(self.cause, asyncio.CancelledError) else self.cause
                )
                ready.exception()
        finally:
            self.end()

    async def _live(self, session: ClientSession) -> None:
        listening = asyncio.create_task(self._listen(session))
        try:
            await self._over.wait()
        finally:
            listening.cancel()
            await asyncio.wait({listening})

    async def _listen(self, session: ClientSession) -> None:
        """Hear of changes on a modern connection; on older ones they come unasked."""
        capabilities = session.server_capabilities
        tools = capabilities.tools if capabilities else None
        modern = session.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not modern or not (tools and tools.list_changed):
            return
        while True:
            try:
                async with listen(session, tools_list_changed=True) as subscription:
                    async for _ in subscription:
                        self.inbox.tools_changed()
            except (MCPError, TimeoutError):
                return  # the server offers no subscription after all, or the connection is over
            except SubscriptionLost:
                await asyncio.sleep(_RELISTEN_S)
                self.inbox.tools_changed()

    async def request(
        self,
        request: Request,
        *,
        idle: float,
        total: float | None = None,
        on_progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """Send one request and give its answer as JSON.

        Args:
            request: What to ask.
            idle: Seconds without a sign of life (an answer or progress).
            total: Seconds in all; None means no such limit.
            on_progress: Told of progress.

        Raises:
            LinkEnded: The connection ended first.
            LinkTimeout: No answer in time; the server was told to stop.
            MCPError: The server answered with an error.
            pydantic.ValidationError: The answer is not of the protocol.

        """
        self._in_flight += 1
        try:
            with Pulse.of(self.pulses, idle) as pulse:
                return await answered(self.session, request, pulse, total=total, on_progress=on_progress)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED and await self._is_over():
                raise LinkEnded from error
            raise
        finally:
            self._in_flight -= 1
            if self._retired and not self._in_flight:
                self.end()

    async def notify(self, notification: RootsListChangedNotification) -> None:
        """Tell a server of the handshake years something; newer ones are told nothing unasked."""
        if not self.modern:
            await self.session.send_notification(notification)

    async def _is_over(self) -> bool:
        """Whether the connection ended; the requests of a dying one fail a moment before it is known."""
        with anyio.move_on_after(_NOTICE_S):
            await self._over.wait()
        return self._over.is_set()

    async def last_words(self) -> BaseException | None:
        """Why the link ended, waiting a moment for the transport to find out."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=_LAST_WORDS_S)
        return self.cause


def leaf(error: BaseException) -> BaseException:
    """The one error inside nested groups; the first that is not a cancellation when there are more."""
    while isinstance(error, BaseExceptionGroup):
        inner = [e for e in error.exceptions if not isinstance(e, asyncio.CancelledError)]
        error = (inner or list(error.exceptions))[0]
    return error
