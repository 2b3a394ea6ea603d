"""What one server is asked to say of changed resources, over all the lives of its connection.

In: addresses, functions of the user's, and one link after another. Out: calls of the functions. Servers
of the handshake years are asked once for each address and then speak unasked; later ones keep a stream
open for each address. After a loss every subscription begins anew, and the functions are told, since
nobody knows what was missed.

Source: MCP 2025-11-25, server/resources, "Subscriptions"; MCP 2026-07-28, basic/patterns, "Subscriptions".
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mcp.client.subscriptions import ResourceUpdated as UpdateEvent
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError
from mcp_types import (
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)

from mcp_adapters._exchange import LinkTimeout, Request
from mcp_adapters._handlers import Messenger
from mcp_adapters._link import Link, LinkEnded
from mcp_adapters._refusals import Subject
from mcp_adapters.errors import McpAdaptersError
from mcp_adapters.resources import ResourceUpdated

__all__ = ("OnUpdate", "Subscriptions")

logger = logging.getLogger(__name__)

OnUpdate: TypeAlias = Callable[[ResourceUpdated], Awaitable[None] | None]
"""A function of the user's, synchronous or asynchronous; what it raises is logged and harms nobody."""
Send: TypeAlias = Callable[[Link, Request], Awaitable[Any]]
"""Sends one request over one link; raises errors of the family."""

_AGAIN_S = 5.0
"""Pause before a stream that ended is opened again."""


@dataclass(slots=True)
class _Watch:
    """One address that is subscribed to."""

    listeners: list[tuple[OnUpdate, Messenger]] = field(default_factory=list)
    stream: asyncio.Task[None] | None = None
    """What keeps the stream open; None at a server that speaks unasked."""


class Subscriptions:
    """The subscriptions at one server.

    Args:
        server: The server's key in the configuration.
        send: Sends requests.
        patience: Seconds that a server may take to open a stream.

    """

    def __init__(self, server: str, send: Send, patience: float) -> None:
        self._server = server
        self._send = send
        self._patience = patience
        self._watches: dict[str, _Watch] = {}
        self._turn = asyncio.Lock()

    def __bool__(self) -> bool:
        return bool(self._watches)

    def take(self, other: Subscriptions) -> None:
        """Go on with the subscriptions of another connection to the server; they begin with the next link."""
        for uri, watch in other._watches.items():
            self._watches[uri] = _Watch(list(watch.listeners))

    async def add(self, link: Link, uri: str, listener: OnUpdate, messenger: Messenger) -> None:
        """Subscribe; a second function for an address asks the server for nothing.

        Raises:
            RequestError: The server refuses, or does not answer.
            LinkEnded: The link is over.

        """
        async with self._turn:
            watch = self._watches.get(uri)
            if watch is None:
                watch = self._watches[uri] = _Watch()
                try:
                    await self._begin(link, uri, watch)
                except BaseException:
                    self._forget(uri)
                    raise
            watch.listeners.append((listener, messenger))

    async def remove(self, link: Link | None, uri: str, listener: OnUpdate | None) -> None:
        """Tell a function of an address no more, or none of them; without any, the server is told too."""
        async with self._turn:
            watch = self._watches.get(uri)
            if watch is None:
                return
            watch.listeners = [one for one in watch.listeners if listener is not None and one[0] != listener]
            if watch.listeners:
                return
            unasked = watch.stream is None
            self._forget(uri)
            if unasked and link is not None:
                await self._send(link, UnsubscribeRequest(params=UnsubscribeRequestParams(uri=uri)))

    async def renew(self, link: Link) -> None:
        """Subscribe to everything anew over a new link; what the server refuses now is logged."""
        async with self._turn:
            for uri, watch in self._watches.items():
                self._stop(watch)
                try:
                    await self._begin(link, uri, watch)
                except (McpAdaptersError, LinkEnded) as error:
                    logger.warning("a subscription could not begin anew: %s", error)
                self._tell(uri, watch, uri, after_gap=True)

    def close(self) -> None:
        """End all of them without a word to the server."""
        for uri in list(self._watches):
            self._forget(uri)

    def updated(self, uri: str) -> None:
        """Pass on what a server said unasked; of a resource below an address that is subscribed to too."""
        exact = self._watches.get(uri)
        concerned = {uri: exact} if exact else self._above(uri)
        for subscribed, watch in concerned.items():
            if watch.stream is None:
                self._tell(subscribed, watch, uri)

    def _above(self, uri: str) -> dict[str, _Watch]:
        return {at: watch for at, watch in self._watches.items() if uri.startswith(f"{at.rstrip('/')}/")}

    def _tell(self, subscribed: str, watch: _Watch, uri: str, *, after_gap: bool = False) -> None:
        news = ResourceUpdated(server=self._server, uri=uri, subscribed_uri=subscribed, after_gap=after_gap)
        for listener, messenger in watch.listeners:
            messenger.tell(listener, news)

    def _forget(self, uri: str) -> None:
        self._stop(self._watches.pop(uri))

    def _stop(self, watch: _Watch) -> None:
        if watch.stream is not None:
            watch.stream.cancel()
            watch.stream = None

    # -- at the server ------------------------------------------------------------------------

    async def _begin(self, link: Link, uri: str, watch: _Watch) -> None:
        if not link.modern:
            await self._send(link, SubscribeRequest(params=SubscribeRequestParams(uri=uri)))
            return
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        watch.stream = asyncio.create_task(self._keep(link, uri, watch, opened))
        subject = Subject(server=self._server, method="resources/subscribe", uri=uri)
        try:
            async with asyncio.timeout(self._patience):
                await asyncio.shield(opened)
        except TimeoutError:
            raise subject.failure(LinkTimeout("idle", self._patience), end=link.retire) from None
        except (MCPError, SubscriptionLost) as error:
            if not link.alive:
                raise LinkEnded from error
            if isinstance(error, MCPError):
                raise subject.failure(error, end=link.retire) from error
            raise subject.refused(str(error)) from error

    async def _keep(self, link: Link, uri: str, watch: _Watch, opened: asyncio.Future[None]) -> None:
        """Keep a stream open as long as the link lives; only the first opening may fail for good."""
        while link.alive:
            try:
                async with listen(link.session, resource_subscriptions=[uri]) as stream:
                    self._check_honored(uri, stream.honored.resource_subscriptions)
                    if opened.done():
                        self._tell(uri, watch, uri, after_gap=True)
                    else:
                        opened.set_result(None)
                    async for event in stream:
                        if isinstance(event, UpdateEvent):
                            self._tell(uri, watch, event.uri)
            except (MCPError, SubscriptionLost) as error:
                if not opened.done():
                    opened.set_exception(error)
                    opened.exception()
                    return
                logger.debug("the stream of %r at server %r broke off: %s", uri, self._server, error)
            await asyncio.sleep(_AGAIN_S)

    @staticmethod
    def _check_honored(uri: str, honored: list[str] | None) -> None:
        if uri not in (honored or ()):
            raise SubscriptionLost("the server does not say when it changes")
