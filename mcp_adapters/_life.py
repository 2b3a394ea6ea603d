"""The life of the connection to one server: made, lost, made anew, closed.

In: a server's key and description, how it is to be looked after, and who wants to hear of it. Out: a
link that is alive, or an error that says why there is none. A lost connection is made anew, at the next
use or at once, after a pause that grows with each failure. What goes over the link is others' business.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from typing import Any

from mcp_adapters._failures import Failures
from mcp_adapters._guest import GuestLink
from mcp_adapters._handshake import DiedInProbe
from mcp_adapters._link import Inbox, Link, LinkEnded
from mcp_adapters._supervision import Observer, ServerState, ServerStatus, Supervision
from mcp_adapters._tracing import connecting
from mcp_adapters._transports import transport_for
from mcp_adapters.errors import McpAdaptersError

__all__ = ("Life",)

logger = logging.getLogger(__name__)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 30.0
"""Pause before the second attempt to connect; it doubles with each failure, up to the longest."""

_DOUBLINGS = 16
"""More change nothing, and after a thousand the number would no longer fit."""


class Life(Inbox):
    """The connection to one server, over all its lives.

    Args:
        key: The server's key in the configuration.
        server: What to connect to; its own connect timeout comes before that of `supervision`.
        supervision: How it is looked after.
        observer: Is told what happens.
        loop: The user's event loop, on which a connected client lives; None without one.

    """

    def __init__(
        self,
        key: str,
        server: Any,
        *,
        supervision: Supervision,
        observer: Observer,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        self.key = key
        self._transport = transport_for(key, server, loop=loop)
        self._failures = Failures(key, self._transport)
        self._observer = observer
        self._supervision = supervision
        self.log_level = supervision.log_level
        limit = getattr(server, "connect_timeout", None) or supervision.connect_timeout
        self._connect_timeout: float = limit + self._transport.patience
        self._lock = asyncio.Lock()
        self._state: ServerState = "disabled" if getattr(server, "disabled", False) else "new"
        self._link: Link | None = None
        self._attempt: Link | None = None
        self._revival: asyncio.Task[None] | None = None
        self._failed_attempts = 0
        self._next_attempt = 0.0
        self.last_error: McpAdaptersError | None = None
        """The latest failure of the connection."""

    @property
    def disabled(self) -> bool:
        """Whether the server is not to be started."""
        return self._state == "disabled"

    def disable(self) -> None:
        """Keep the server from being started; for a connection that was not opened yet."""
        self._become("disabled")

    def enable(self) -> None:
        """Let the server be started, whatever its description says."""
        self._become("new")

    def refuse_blocking(self) -> None:
        """Refuse a synchronous call on a thread that the connection itself needs.

        Raises:
            SyncCallInEventLoopError: The calling thread runs the loop that a connected client lives on.

        """
        if isinstance(self._link, GuestLink):
            self._link.refuse_blocking()

    def status(self, *, tools: int) -> ServerStatus:
        """What is known right now."""
        session = self._link.session if self._link and self._link.alive else None
        info = session.server_info if session else None
        return ServerStatus(
            state=self._state,
            protocol_version=session.protocol_version if session else None,
            server_info=info.model_dump(mode="json", by_alias=True, exclude_none=True) if info else None,
            instructions=session.instructions if session else None,
            tools=tools,
            last_error=self.last_error,
            stderr=self._transport.stderr,
        )

    def _become(self, state: ServerState) -> None:
        if state == self._state or self._state == "closed":
            return
        old, self._state = self._state, state
        logger.debug("server %r: %s -> %s", self.key, old, state)
        self._observer.state_changed(self.key, old, state)

    # -- for what goes over the link ----------------------------------------------------------

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for what the server says unasked, so that a lost link must come back."""
        return False

    def made(self, link: Link) -> None:
        """Learn of each new link, before anybody uses it."""

    # -- what the link tells ------------------------------------------------------------------

    def logged(self, level: str, logger: str | None, data: Any) -> None:
        """Pass a log message of the server on."""
        self._observer.logged(self.key, level, logger, data)

    def tools_changed(self) -> None:
        """Pass on that the server's tools have changed."""
        self._observer.tools_changed(self.key)

    def ended(self, link: Link) -> None:
        """Take note that a link is over; make a new one at once when that is wanted."""
        if link is not self._link or self._state != "ready":
            return
        self._become("lost")
        if self._supervision.reconnect == "background" or self.awaited:
            # Whoever waits for news: nobody else would bring the connection back.
            self._revival = asyncio.create_task(self._revive(link))

    async def _revive(self, ended: Link) -> None:
        await ended.last_words()  # errors of requests in flight tell of the old process, not of the new one
        while self._state != "closed":
            with contextlib.suppress(McpAdaptersError):
                await self._live()
                return

    # -- life ---------------------------------------------------------------------------------

    async def open(self) -> None:
        """Connect, unless the connection is there already.

        Raises:
            ConnectError: It cannot be made; the subclass says at which step.
            ToolboxClosedError: `close` was called before or meanwhile.

        """
        await self._live()

    async def close(self) -> None:
        """Stop the server; bounded in time, harmless when repeated."""
        self._become("closed")
        if self._revival is not None:
            self._revival.cancel()
        await asyncio.gather(*(link.close() for link in (self._link, self._attempt) if link is not None))

    async def _live(self) -> Link:
        """The link in use, or a new one when there is none or it has ended."""
        if self._link is not None and self._link.alive and self._state != "closed":
            return self._link
        async with self._lock:
            if self._state == "closed":
                raise self._failures.closed()
            if self._link is None or not self._link.alive:
                first = self._link is None
                self._link = await self._connect()
                if not first:
                    # Another process may offer other tools.
                    self._observer.tools_changed(self.key)
            return self._link

    async def _connect(self) -> Link:
        self._become("connecting" if self._link is None else "reconnecting")
        await asyncio.sleep(max(0.0, self._next_attempt - asyncio.get_running_loop().time()))
        try:
            link = await self._new_link()
        except DiedInProbe as error:
            if self._link is not None:
                # It has survived the probe before: this time it just failed to start.
                raise self._failed(error.__cause__ or error) from error
            link = await self._new_link_without_probe()
        self._failed_attempts = 0
        self._become("ready")
        self.made(link)
        return link

    async def _new_link_without_probe(self) -> Link:
        """Start anew with the handshake as the first thing that the server hears; remember it if it works."""
        asked, self._transport.protocol = self._transport.protocol, "legacy"
        try:
            return await self._new_link()
        except BaseException:
            self._transport.protocol = asked
            raise

    async def _new_link(self) -> Link:
        if self._state == "closed":
            # While the pause before this attempt went by: what is started now, nobody would stop.
            raise self._failures.closed()
        link = self._attempt = self._transport.link(self)
        with connecting(self.key) as operation:
            await self._open(link)
            operation.tell(mcp__protocol__version=link.session.protocol_version)
        return link

    async def _open(self, link: Link) -> None:
        try:
            await link.open(self._connect_timeout)
        except DiedInProbe:
            raise
        except LinkEnded as error:
            raise self._failures.closed() from error
        except Exception as error:  # noqa: BLE001 - whatever it is gets a name, and is the cause
            failure = self._failed(error)
            raise failure from (failure.__cause__ or error)
        finally:
            self._attempt = None

    def _failed(self, error: BaseException) -> McpAdaptersError:
        """Name a failure to connect, and take note of it."""
        self._put_off()
        self.last_error = self._failures.connecting(error, timeout=self._connect_timeout)
        return self.last_error

    def _put_off(self) -> None:
        """Set the time of the next attempt; the jitter keeps many clients from coming at once."""
        pause = min(FIRST_PAUSE_S * 2 ** min(self._failed_attempts, _DOUBLINGS), LONGEST_PAUSE_S)
        self._failed_attempts += 1
        jitter = random.uniform(0.5, 1.0)  # noqa: S311 - no secret depends on it
        self._next_attempt = asyncio.get_running_loop().time() + pause * jitter
        self._become("failed")
