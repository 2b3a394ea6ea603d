"""What is asked of a server without changing anything there: listings, reads, subscriptions.

In: requests. Out: answers as JSON, or an error of `mcp_adapters.errors`. All of it runs on the
background loop. What is asked here may be asked twice: it is sent once more when its connection is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from mcp.shared.exceptions import MCPError
from mcp_types import (
    METHOD_NOT_FOUND,
    ListPromptsRequest,
    ListResourcesRequest,
    ListResourceTemplatesRequest,
    ListToolsRequest,
    PaginatedRequestParams,
    ServerCapabilities,
)
from pydantic import ValidationError

from mcp_adapters._context import sending
from mcp_adapters._exchange import LinkTimeout, Request
from mcp_adapters._guest import GuestLink
from mcp_adapters._handlers import Messenger
from mcp_adapters._life import Life
from mcp_adapters._link import Link, LinkEnded
from mcp_adapters._mirrors import Mirrors
from mcp_adapters._refusals import Subject
from mcp_adapters._subscriptions import OnUpdate, Subscriptions
from mcp_adapters._supervision import Observer, Supervision
from mcp_adapters._tracing import listing
from mcp_adapters.errors import ConnectionLostError, DiscoveryError, McpAdaptersError
from mcp_adapters.tasks import tools_that_need_tasks

__all__ = ("FOREIGN", "Kind", "Requests")

MAX_PAGES = 1_000
"""Pages of one listing; a server that needs more is broken."""

Kind: TypeAlias = Literal["tools", "resources", "resource templates", "prompts"]
"""What a server may list."""

_LISTINGS: Mapping[Kind, Any] = {
    "tools": ListToolsRequest,
    "resources": ListResourcesRequest,
    "resource templates": ListResourceTemplatesRequest,
    "prompts": ListPromptsRequest,
}
FOREIGN = (LinkTimeout, MCPError, ValidationError)
"""What a request over a link may raise besides `LinkEnded`."""


class Requests(Life):
    """A connection that can be asked for what changes nothing; arguments as for `Life`."""

    def __init__(
        self,
        key: str,
        server: Any,
        *,
        supervision: Supervision,
        observer: Observer,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        super().__init__(key, server, supervision=supervision, observer=observer, loop=loop)
        self._call_timeout = getattr(server, "timeout", None) or supervision.call_timeout
        self._renewal: asyncio.Task[None] | None = None
        self.subscriptions = Subscriptions(key, self._sent_over, self._call_timeout)
        """To resources; they outlive a lost connection."""
        self.mirrors = Mirrors()
        """What the last listing says of headers that repeat arguments."""
        self.task_tools: frozenset[str] = frozenset()
        """The tools of a server of the handshake years that must be called as tasks."""

    # -- life ---------------------------------------------------------------------------------

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for news of resources."""
        return bool(self.subscriptions)

    def made(self, link: Link) -> None:
        """Subscribe anew over a new link."""
        if self.subscriptions:
            self._renewal = asyncio.create_task(self.subscriptions.renew(link))

    def resource_updated(self, uri: str) -> None:
        """Pass on that a resource has changed."""
        self.subscriptions.updated(uri)

    async def close(self) -> None:
        """Stop the server; as `Life.close`."""
        self.subscriptions.close()
        if self._renewal is not None:
            self._renewal.cancel()
        await super().close()

    # -- listings -----------------------------------------------------------------------------

    async def list_pages(self) -> list[dict[str, Any]]:
        """All pages of `tools/list`, as JSON.

        Raises:
            DiscoveryError: The server refuses, repeats a cursor or does not come to an end.
            ConnectError: There is no connection and none can be made.
            ConnectionLostError: The connection ended, twice.

        Source: MCP 2025-11-25, server/utilities/pagination.

        """
        with listing(self.key):
            try:
                return await self._pages()
            except ConnectionLostError:
                return await self._pages()

    async def _pages(self) -> list[dict[str, Any]]:
        pages = await self._all_pages()
        modern = self._link is not None and self._link.modern
        self.mirrors = Mirrors.of(pages) if modern else Mirrors()
        self.task_tools = frozenset() if modern else tools_that_need_tasks(pages)
        return pages

    async def offered(self, kind: Kind, headers: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """All pages of one of the other listings, as JSON; none where the server has no such thing.

        Args:
            kind: Which listing.
            headers: For the HTTP requests; None for none.

        Raises:
            DiscoveryError, ConnectError, ConnectionLostError: As `list_pages`.

        """
        capabilities = await self.capabilities()
        if (capabilities.prompts if kind == "prompts" else capabilities.resources) is None:
            return []
        try:
            return await self._all_pages(kind, headers)
        except ConnectionLostError:
            return await self._all_pages(kind, headers)
        except DiscoveryError as error:
            # Many servers have one of a capability's listings and not the other.
            if isinstance(error.__cause__, MCPError) and error.__cause__.code == METHOD_NOT_FOUND:
                return []
            raise

    async def capabilities(self) -> ServerCapabilities:
        """What the server says that it has; connects when there is no connection.

        Raises:
            ConnectError: None can be made.

        """
        return (await self._live()).session.server_capabilities or ServerCapabilities()

    async def _all_pages(
        self, kind: Kind = "tools", headers: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        pages: list[dict[str, Any]] = []
        cursors: set[str] = set()
        cursor: str | None = None
        while len(pages) < MAX_PAGES:
            request = _LISTINGS[kind](params=PaginatedRequestParams(cursor=cursor) if cursor else None)
            pages.append(await self._page(request, kind, headers))
            following = pages[-1].get("nextCursor")
            if not isinstance(following, str) or not following:
                return pages
            if following in cursors:
                raise self._failures.discovery("its listing repeats a page cursor and would never end", kind)
            cursors.add(following)
            cursor = following
        raise self._failures.discovery(f"its listing has more than {MAX_PAGES} pages", kind)

    async def _page(self, request: Request, kind: Kind, headers: Mapping[str, str] | None) -> dict[str, Any]:
        link = await self._live()
        try:
            with sending(headers):
                return await link.request(request, idle=self._call_timeout)
        except LinkEnded as ended:
            raise await self._lost(link, "list") from (link.cause or ended)
        except FOREIGN as error:
            failure = self._failures.listing(error, end=link.retire, kind=kind)
            raise failure from (failure.__cause__ or error)

    # -- reads --------------------------------------------------------------------------------

    async def read(
        self,
        request: Request,
        *,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """One request that changes nothing, as JSON; sent once more when its connection is lost.

        Args:
            request: What to ask.
            timeout: Seconds without a sign of life; None means the server's or the toolbox's setting.
            headers: For the HTTP request; None for none.

        Raises:
            RequestError: The server refuses; the subclass says whether there is no such thing.
            ConnectionLostError: The connection ended, twice.
            ConnectError: There is no connection and none can be made.
            ProtocolError: The answer is not of the protocol, or asks for input.
            ToolboxClosedError: The connection is closed.

        """
        try:
            return await self._sent_over(await self._live(), request, timeout, headers)
        except ConnectionLostError:
            return await self._sent_over(await self._live(), request, timeout, headers)

    async def _sent_over(
        self,
        link: Link,
        request: Request,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        subject = Subject.of(self.key, request)
        try:
            with sending(headers):
                answer = await link.request(request, idle=timeout or self._call_timeout)
        except LinkEnded as ended:
            raise await self._lost_read(link, subject) from (link.cause or ended)
        except FOREIGN as error:
            if isinstance(error, LinkTimeout) and self._transport.stuck:
                link.end()
            failure = subject.failure(error, end=link.retire)
            raise failure from (failure.__cause__ or error)
        kinds = ("complete", "task") if subject.task is not None else ("complete", "input_required")
        if answer.get("resultType", "complete") not in kinds:
            raise subject.not_of_the_protocol()
        return answer

    async def _lost_read(self, link: Link, subject: Subject) -> McpAdaptersError:
        if self._state == "closed":
            return self._failures.closed()
        await link.last_words()
        self.last_error = self._failures.lost("read", what=subject.words)
        return self.last_error

    # -- subscriptions ------------------------------------------------------------------------

    async def subscribe(self, uri: str, listener: OnUpdate, messenger: Messenger) -> None:
        """Have a function hear of a resource's changes, over all lives of the connection.

        Raises:
            RequestError: The server refuses, or the connection is the program's own.
            ConnectError, ConnectionLostError, ToolboxClosedError: As `read`.

        """
        try:
            await self._subscribe(uri, listener, messenger)
        except ConnectionLostError:
            await self._subscribe(uri, listener, messenger)

    async def _subscribe(self, uri: str, listener: OnUpdate, messenger: Messenger) -> None:
        link, subject = await self._live(), Subject(server=self.key, method="resources/subscribe", uri=uri)
        if isinstance(link, GuestLink):
            raise subject.refused("the connection is the program's own client, which hears of changes itself")
        try:
            await self.subscriptions.add(link, uri, listener, messenger)
        except LinkEnded as ended:
            raise await self._lost_read(link, subject) from (link.cause or ended)

    async def unsubscribe(self, uri: str, listener: OnUpdate | None) -> None:
        """End what `subscribe` began; harmless when there is nothing to end.

        Args:
            uri: As it was subscribed to.
            listener: Whose; None means everybody's.

        """
        link = self._link if self._link is not None and self._link.alive else None
        await self.subscriptions.remove(link, uri, listener)

    async def _lost(
        self, link: Link, phase: Literal["list", "call"], tool: str | None = None
    ) -> ConnectionLostError:
        await link.last_words()
        error = self._failures.lost(phase, tool)
        self.last_error = error
        return error
