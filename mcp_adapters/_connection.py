"""One server over all the lives of its connection: supervision.

In: a server's key and description, and who wants to hear of it. Out: listings and results as JSON,
or an error of `mcp_adapters.errors`. All of it runs on the background loop. A lost connection is
made anew, at the next use or at once, after a pause that grows with each failure. Only listings, and
calls that are known to be safe, are ever sent a second time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    METHOD_NOT_FOUND,
    CallToolRequest,
    CallToolRequestParams,
    ListPromptsRequest,
    ListResourcesRequest,
    ListResourceTemplatesRequest,
    ListToolsRequest,
    LoggingLevel,
    PaginatedRequestParams,
    ServerCapabilities,
)
from pydantic import ValidationError

from mcp_adapters._context import mirroring, sending
from mcp_adapters._failures import Failures
from mcp_adapters._guest import GuestLink
from mcp_adapters._handlers import Messenger
from mcp_adapters._handshake import DiedInProbe
from mcp_adapters._link import Link, LinkEnded, LinkTimeout, Request
from mcp_adapters._mirrors import Mirrors
from mcp_adapters._questions import Asking, Questions
from mcp_adapters._refusals import Subject
from mcp_adapters._subscriptions import OnUpdate, Subscriptions
from mcp_adapters._tracing import connecting, listing
from mcp_adapters._transports import transport_for
from mcp_adapters.errors import (
    ConnectError,
    ConnectionLostError,
    DiscoveryError,
    McpAdaptersError,
    ToolExecutionError,
)

__all__ = ("Connection", "Kind", "Observer", "Reconnect", "ServerState", "ServerStatus", "Supervision")

logger = logging.getLogger(__name__)

MAX_ROUNDS = 10
"""Rounds of questions of one call; a server that needs more is broken."""
MAX_PAGES = 1_000
"""Pages of one listing; a server that needs more is broken."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 30.0
"""Pause before the second attempt to connect; it doubles with each failure, up to the longest."""

_DOUBLINGS = 16
"""More change nothing, and after a thousand the number would no longer fit."""

ServerState: TypeAlias = Literal[
    "new", "connecting", "ready", "lost", "reconnecting", "failed", "disabled", "closed"
]
Reconnect: TypeAlias = Literal["on_use", "background"]
"""When a lost connection is made anew: when it is needed, or at once."""

Kind: TypeAlias = Literal["tools", "resources", "resource templates", "prompts"]
"""What a server may list."""

_LISTINGS: Mapping[Kind, Any] = {
    "tools": ListToolsRequest,
    "resources": ListResourcesRequest,
    "resource templates": ListResourceTemplatesRequest,
    "prompts": ListPromptsRequest,
}
_FOREIGN = (LinkTimeout, MCPError, ValidationError)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """What is known of one server at one moment."""

    state: ServerState
    protocol_version: str | None = None
    """The negotiated version; None while there is no connection."""
    server_info: Mapping[str, Any] | None = None
    """Name and version as the server reports them; untrusted."""
    instructions: str | None = None
    """What the server tells models about its use; untrusted."""
    tools: int = 0
    """How many of its tools the toolbox offers."""
    last_error: McpAdaptersError | None = None
    stderr: str = ""
    """The last that its process wrote to standard error, at most 8 KiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervision:
    """How the connections of a toolbox are looked after; times in seconds."""

    connect_timeout: float = 60.0
    call_timeout: float = 300.0
    """Without a sign of life."""
    total_timeout: float | None = None
    """For a whole call; None means no such limit."""
    max_concurrent_calls: int | None = None
    """Calls that one server gets at the same time; None means no limit."""
    reconnect: Reconnect = "on_use"
    log_level: LoggingLevel | None = None
    """From which level on servers are asked to log; None asks for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manner:
    """How one call is sent; see `Connection.call`."""

    idle: float
    retry_safe: bool
    headers: Mapping[str, str] | None
    on_progress: ProgressFnT | None


class Observer(Protocol):
    """Who is told what happens to a server; called on the background loop, must not wait."""

    def state_changed(self, server: str, old: ServerState, new: ServerState) -> None:
        """Learn of a change of state."""
        ...

    def logged(self, server: str, level: str, logger: str | None, data: Any) -> None:
        """Take a log message of the server."""
        ...

    def tools_changed(self, server: str) -> None:
        """Learn that the server's tools are, or may be, others than before."""
        ...


class Connection:
    """The connection to one server, over all its lives.

    Args:
        key: The server's key in the configuration.
        server: What to connect to; its own timeouts come before those of `supervision`.
        supervision: How it is looked after.
        observer: Is told what happens.
        questions: Answers what the server asks.
        loop: The user's event loop, on which a connected client lives; None without one.

    """

    def __init__(
        self,
        key: str,
        server: Any,
        *,
        supervision: Supervision,
        observer: Observer,
        questions: Questions,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        self.key = key
        self._transport = transport_for(key, server, loop=loop)
        self._failures = Failures(key, self._transport)
        self._observer = observer
        self._questions = questions
        self._elsewhere = Asking(Messenger(loop))
        self._asking: list[Asking] = []
        self._supervision = supervision
        self.log_level = supervision.log_level
        limit = getattr(server, "connect_timeout", None) or supervision.connect_timeout
        self._connect_timeout: float = limit + self._transport.patience
        self._call_timeout = getattr(server, "timeout", None) or supervision.call_timeout
        self._places = asyncio.Semaphore(supervision.max_concurrent_calls or 2**31)
        self._lock = asyncio.Lock()
        self._state: ServerState = "disabled" if getattr(server, "disabled", False) else "new"
        self._link: Link | None = None
        self._attempt: Link | None = None
        self._revival: asyncio.Task[None] | None = None
        self._renewal: asyncio.Task[None] | None = None
        self.subscriptions = Subscriptions(key, self._sent_over, self._call_timeout)
        """To resources; they outlive a lost connection."""
        self._failed_attempts = 0
        self._next_attempt = 0.0
        self.mirrors = Mirrors()
        """What the last listing says of headers that repeat arguments."""
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

    # -- what the link tells ------------------------------------------------------------------

    def logged(self, level: str, logger: str | None, data: Any) -> None:
        """Pass a log message of the server on."""
        self._observer.logged(self.key, level, logger, data)

    @property
    def elicits(self) -> bool:
        """Whether somebody answers what the server asks."""
        return self._questions.elicits

    async def elicited(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a question that came on a way of its own.

        The protocol does not say which call it belongs to: with one call in flight it is that one.
        """
        asking = self._asking[0] if len(self._asking) == 1 else self._elsewhere
        return await self._questions.elicited(params, asking)

    def tools_changed(self) -> None:
        """Pass on that the server's tools have changed."""
        self._observer.tools_changed(self.key)

    def resource_updated(self, uri: str) -> None:
        """Pass on that a resource has changed."""
        self.subscriptions.updated(uri)

    def ended(self, link: Link) -> None:
        """Take note that a link is over; make a new one at once when that is wanted."""
        if link is not self._link or self._state != "ready":
            return
        self._become("lost")
        if self._supervision.reconnect == "background" or self.subscriptions:
            # Whoever subscribed waits for news; nobody else would bring the connection back.
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
        self.subscriptions.close()
        for task in (self._revival, self._renewal):
            if task is not None:
                task.cancel()
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
        if self.subscriptions:
            self._renewal = asyncio.create_task(self.subscriptions.renew(link))
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

    # -- requests -----------------------------------------------------------------------------

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
        except _FOREIGN as error:
            failure = self._failures.listing(error, end=link.retire, kind=kind)
            raise failure from (failure.__cause__ or error)

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
        except _FOREIGN as error:
            if isinstance(error, LinkTimeout) and self._transport.stuck:
                link.end()
            failure = subject.failure(error, end=link.retire)
            raise failure from (failure.__cause__ or error)
        match answer.get("resultType", "complete"):
            case "complete":
                return answer
            case "input_required":
                raise subject.asks_back()
            case _:
                raise subject.not_of_the_protocol()

    async def _lost_read(self, link: Link, subject: Subject) -> McpAdaptersError:
        if self._state == "closed":
            return self._failures.closed()
        await link.last_words()
        self.last_error = self._failures.lost("read", what=subject.words)
        return self.last_error

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

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        timeout: float | None = None,
        retry_safe: bool = False,
        headers: Mapping[str, str] | None = None,
        on_progress: ProgressFnT | None = None,
        messenger: Messenger | None = None,
    ) -> dict[str, Any]:
        """One `tools/call`, as JSON.

        Args:
            tool: The server's own name for the tool.
            arguments: What to send, as it is.
            timeout: Seconds without a sign of life; None means the server's or the toolbox's setting.
            retry_safe: The user says that calling twice does no harm: a call that was lost on its
                way is then sent once more.
            headers: For the HTTP requests of this call; None for none.
            on_progress: Told of progress, on the background loop.
            messenger: Brings the server's questions to where the call was made; None means to where
                the toolbox was opened.

        Raises:
            ProtocolError: The server asks for what nobody answers, or does not stop asking.
            ToolExecutionError: The server answered with a JSON-RPC error.
            ToolTimeoutError: No answer in time; `limit` says by which limit.
            ConnectionLostError: The connection ended; `outcome` says whether the call was sent.
            ConnectError: There was no connection and none can be made.
            InvalidResultError: The answer is not of the protocol.
            ToolboxClosedError: The connection is closed.

        """
        asking = Asking(messenger or self._elsewhere.messenger, tool)
        params = CallToolRequestParams(name=tool, arguments=dict(arguments))
        manner = _Manner(
            idle=timeout or self._call_timeout,
            retry_safe=retry_safe,
            headers=headers,
            on_progress=on_progress,
        )
        async with self._places:
            self._asking.append(asking)
            try:
                return await self._rounds(params, asking, manner)
            finally:
                self._asking.remove(asking)

    async def _rounds(self, params: CallToolRequestParams, asking: Asking, manner: _Manner) -> dict[str, Any]:
        """Call, and call on with the answers as long as the server asks.

        Source: MCP 2026-07-28, basic/patterns, "Multi Round-Trip Requests".
        """
        for number in range(MAX_ROUNDS):
            answer = await self._sent(CallToolRequest(params=params), manner)
            match answer.get("resultType", "complete"):
                case "complete":
                    return answer
                case "input_required":
                    params = await self._next_round(params, answer, asking, number)
                case _:
                    raise self._failures.not_a_result(params.name)
        raise self._failures.asks_for_ever(params.name, MAX_ROUNDS)

    async def _next_round(
        self, params: CallToolRequestParams, answer: Mapping[str, Any], asking: Asking, number: int
    ) -> CallToolRequestParams:
        requests, state = answer.get("inputRequests") or {}, answer.get("requestState")
        if not requests:
            await asyncio.sleep(min(FIRST_PAUSE_S * 2**number, LONGEST_PAUSE_S))
        responses = {name: await self._responded(request, asking) for name, request in requests.items()}
        told = {"name": params.name, "arguments": params.arguments}
        more = {"inputResponses": responses or None, "requestState": state}
        return CallToolRequestParams.model_validate(
            {**told, **{k: v for k, v in more.items() if v is not None}}
        )

    async def _responded(self, request: Mapping[str, Any], asking: Asking) -> dict[str, Any]:
        if request.get("method") != "elicitation/create" or not self._questions.elicits:
            raise self._failures.asks_back(asking.tool or "")
        return await self._questions.elicited(request.get("params") or {}, asking)

    async def _sent(self, request: CallToolRequest, manner: _Manner) -> dict[str, Any]:
        """Send one request; with other headers once more when the server misses what they should repeat.

        Source: MCP 2026-07-28, basic/transports/streamable-http, "Client Behavior".
        """
        mirrored = self._mirrored(request)
        try:
            return await self._safely_sent(request, manner)
        except ToolExecutionError as error:
            if error.code != HEADER_MISMATCH or not await self._mirrors_anew(request, mirrored, error):
                raise
        return await self._safely_sent(request, manner)

    def _mirrored(self, request: CallToolRequest) -> dict[str, str]:
        return self.mirrors.headers(request.params.name, request.params.arguments or {})

    async def _mirrors_anew(
        self, request: CallToolRequest, mirrored: Mapping[str, str], refusal: ToolExecutionError
    ) -> bool:
        """Whether the tool's headers have changed since it was listed."""
        if self._link is None or not self._link.modern:
            return False
        try:
            await self._pages()
        except McpAdaptersError as error:
            raise refusal from error
        if self._mirrored(request) == mirrored:
            return False
        self.tools_changed()
        return True

    async def _safely_sent(self, request: CallToolRequest, manner: _Manner) -> dict[str, Any]:
        """Send one request, and once more when it was lost and that can do no harm."""
        try:
            return await self._called(request, manner)
        except ConnectionLostError as error:
            if not error.retriable and not (manner.retry_safe and error.outcome == "unknown"):
                raise
            try:
                return await self._called(request, manner)
            except ConnectError as gone:
                # The first error says more: what became of the call, and that the server is away.
                raise error from gone

    async def _called(self, request: CallToolRequest, manner: _Manner) -> dict[str, Any]:
        link = await self._live()
        tool, total = request.params.name, self._supervision.total_timeout
        try:
            with sending(manner.headers), mirroring(self._mirrored(request)):
                return await link.request(
                    request, idle=manner.idle, total=total, on_progress=manner.on_progress
                )
        except LinkEnded as ended:
            if self._state == "closed":
                raise self._failures.closed() from ended
            raise await self._lost(link, "call", tool) from (link.cause or ended)
        except _FOREIGN as error:
            if isinstance(error, LinkTimeout) and self._transport.stuck:
                link.end()
            failure = self._failures.calling(error, tool, end=link.retire)
            raise failure from (failure.__cause__ or error)

    async def _lost(
        self, link: Link, phase: Literal["list", "call"], tool: str | None = None
    ) -> ConnectionLostError:
        await link.last_words()
        error = self._failures.lost(phase, tool)
        self.last_error = error
        return error
