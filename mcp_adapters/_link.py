"""One life of one connection: a session that is entered and left in a task of its own.

In: a way to open a transport, and how long that may take. Out: requests that answer with the
JSON that came over the wire, what the server tells unasked, and the reason why the life ended. A
link never comes back to life; its owner makes a new one.

The SDK checks an answer as a whole, so one malformed tool loses the whole page and one unknown
content block the whole result. `_WireDispatcher` therefore keeps the JSON of such methods aside and
hands the SDK an empty answer to check.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal, Protocol, TypeAlias

import anyio
from mcp import ClientSession
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import (
    CONNECTION_CLOSED,
    ElicitResult,
    EmptyResult,
    Implementation,
    LoggingLevel,
    LoggingMessageNotificationParams,
    ResourceUpdatedNotification,
    SetLevelRequest,
    SetLevelRequestParams,
    ToolListChangedNotification,
)
from mcp_types import Request as AnyRequest
from mcp_types.methods import MONOLITH_RESULTS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from mcp_adapters._context import mirrored_headers
from mcp_adapters._handshake import Protocol as ProtocolChoice
from mcp_adapters._handshake import negotiate

__all__ = (
    "Inbox",
    "Link",
    "LinkEnded",
    "LinkTimeout",
    "Opener",
    "Pulse",
    "Request",
    "answered",
    "holding",
    "leaf",
    "session_over",
)

Opener: TypeAlias = Callable[[AsyncExitStack, "Link"], Awaitable[ClientSession]]
"""Enter whatever a connection needs and give its session, negotiated and ready."""
Request: TypeAlias = AnyRequest[Any, Any]

_CLOSE_S = 7.0
"""How long closing may take before the owner task is cancelled, and how long that may take."""
_NOTICE_S = 0.1
"""How long a request that failed with the code of a closed connection waits to see it close."""
_LAST_WORDS_S = 0.5
"""How long a failed request waits for the reason of the end, such as an exit code."""
_RELISTEN_S = 5.0
"""Pause before a lost subscription is asked for again."""

_aside: ContextVar[list[dict[str, Any]] | None] = ContextVar("mcp_adapters_aside", default=None)
_COMPLETE = {"resultType": "complete"}
_CACHEABLE = {**_COMPLETE, "ttlMs": 0, "cacheScope": "private"}
_EMPTY: dict[str, dict[str, Any]] = {
    "completion/complete": {"completion": {"values": []}, **_COMPLETE},
    "prompts/get": {"messages": [], **_COMPLETE},
    "prompts/list": {"prompts": [], **_CACHEABLE},
    "resources/list": {"resources": [], **_CACHEABLE},
    "resources/read": {"contents": [], **_CACHEABLE},
    "resources/templates/list": {"resourceTemplates": [], **_CACHEABLE},
    "tools/call": {"content": [], **_COMPLETE},
    "tools/list": {"tools": [], **_CACHEABLE},
}
"""What the SDK gets to check instead of the answer, by method."""


class LinkEnded(Exception):  # noqa: N818 - a fact for the layer above, not an error of its own
    """The connection ended before the request was answered."""


class LinkTimeout(Exception):  # noqa: N818 - a fact for the layer above, not an error of its own
    """No answer in time; the server was told to stop."""

    def __init__(self, limit: Literal["idle", "total"], seconds: float) -> None:
        super().__init__(limit, seconds)
        self.limit: Literal["idle", "total"] = limit
        self.seconds = seconds


class Inbox(Protocol):
    """Who is told what a server says unasked; called on the background loop, must not wait."""

    log_level: LoggingLevel | None
    """From which level on the server is asked to log; None asks for nothing."""

    @property
    def elicits(self) -> bool:
        """Whether `elicited` may be called: somebody answers what the server asks."""
        ...

    async def elicited(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Answer what the server asks, as JSON; takes as long as a person takes."""
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


class Pulse:
    """The idle time of one request: it begins anew at every sign of life, and can stand still.

    Args:
        idle: Seconds without a sign of life after which the request is given up.

    """

    def __init__(self, idle: float) -> None:
        self.idle = idle
        self.scope = anyio.CancelScope()
        self._holds = 0

    @classmethod
    @contextlib.contextmanager
    def of(cls, pulses: set[Pulse], idle: float) -> Iterator[Pulse]:
        """Keep a pulse among those of a link as long as its request is waited for."""
        pulse = cls(idle)
        pulses.add(pulse)
        try:
            yield pulse
        finally:
            pulses.discard(pulse)

    def beat(self) -> None:
        """Take note of a sign of life."""
        self.scope.deadline = math.inf if self._holds else anyio.current_time() + self.idle

    def hold(self, change: Literal[1, -1]) -> None:
        """Let the time stand still, or let it begin anew when nobody holds it any more."""
        self._holds += change
        self.beat()


@contextlib.contextmanager
def holding(pulses: set[Pulse]) -> Iterator[None]:
    """Let the idle time of these requests stand still: a person is being asked."""
    held = list(pulses)
    for pulse in held:
        pulse.hold(1)
    try:
        yield
    finally:
        for pulse in held:
            pulse.hold(-1)


async def answered(
    session: ClientSession,
    request: Request,
    pulse: Pulse,
    *,
    total: float | None,
    on_progress: ProgressFnT | None,
) -> dict[str, Any]:
    """Send a request over a session, with both limits; arguments and errors as `Link.request`."""
    pulse.beat()
    with anyio.move_on_after(total) as whole, pulse.scope:

        async def beat(progress: float, total: float | None, message: str | None) -> None:
            pulse.beat()
            if on_progress is not None:
                await on_progress(progress, total, message)

        return await _answer(session, request, beat)
    if whole.cancelled_caught and total is not None:
        raise LinkTimeout("total", total)
    raise LinkTimeout("idle", pulse.idle)


@cache
def _answer_of(method: str) -> TypeAdapter[Any]:
    """What the SDK knows as the answer to a method."""
    kind: Any = MONOLITH_RESULTS[method]
    return TypeAdapter(kind)


async def _answer(session: ClientSession, request: Request, on_progress: ProgressFnT) -> dict[str, Any]:
    aside: list[dict[str, Any]] = []
    token = _aside.set(aside)
    try:
        answer = await session.send_request(
            request, _answer_of(request.method), progress_callback=on_progress
        )
    finally:
        _aside.reset(token)
    if aside:
        return aside[0]
    typed: dict[str, Any] = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
    return typed


class _WireDispatcher(JSONRPCDispatcher[Any]):
    """Keeps the JSON of listings and results as it came, and tells the link when the wire ends."""

    link: Link

    async def send_raw_request(
        self, method: str, params: Any, opts: CallOptions | None = None, **options: Any
    ) -> dict[str, Any]:
        if method == "server/discover" and opts is not None:
            # The SDK's fixed limit would take a slow modern server for an old one.
            opts.pop("timeout", None)
        if method == "tools/call" and opts is not None and (mirrored := mirrored_headers.get()):
            opts["headers"] = {**opts.get("headers", {}), **mirrored}
        raw = await super().send_raw_request(method, params, opts, **options)
        aside = _aside.get()
        if aside is None or method not in _EMPTY or raw.get("resultType", "complete") != "complete":
            return raw
        aside.append(raw)
        return dict(_EMPTY[method])

    async def run(self, *args: Any, **options: Any) -> None:
        try:
            await super().run(*args, **options)
        finally:
            self.link.end()


def session_options(link: Link) -> dict[str, Any]:
    """What every session and client is made with: who we are, who listens, and who answers."""
    inbox = link.inbox

    async def on_log(params: LoggingMessageNotificationParams) -> None:
        inbox.logged(params.level, params.logger, params.data)

    async def on_message(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            inbox.tools_changed()
        if isinstance(message, ResourceUpdatedNotification):
            inbox.resource_updated(message.params.uri)

    async def on_elicitation(_: Any, params: Any) -> ElicitResult:
        with holding(link.pulses):
            asked = params.model_dump(by_alias=True, mode="json", exclude_none=True)
            return ElicitResult.model_validate(await inbox.elicited(asked))

    return {
        # Its presence alone tells servers that somebody answers.
        "elicitation_callback": on_elicitation if inbox.elicits else None,
        "logging_callback": on_log,
        "log_level": inbox.log_level,
        "message_handler": on_message,
        "client_info": Implementation(name="mcp-adapters", version=_version()),
    }


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mcp-adapters")
    except PackageNotFoundError:
        return "0"


async def session_over(
    stack: AsyncExitStack, link: Link, streams: tuple[Any, Any], protocol: ProtocolChoice
) -> ClientSession:
    """Build a session over a transport's streams, enter it and negotiate the protocol."""
    dispatcher = _WireDispatcher(*streams)
    dispatcher.link = link
    session = await stack.enter_async_context(ClientSession(dispatcher=dispatcher, **session_options(link)))
    await negotiate(session, protocol)
    await ask_for_logs(session, link.inbox.log_level)
    return session


async def ask_for_logs(session: ClientSession, level: LoggingLevel | None) -> None:
    """Tell a server of the handshake years from which level on to log; others hear it with each request."""
    capabilities = session.server_capabilities
    if level is None or session.initialize_result is None or not (capabilities and capabilities.logging):
        return
    with contextlib.suppress(MCPError):  # a server that refuses goes on as it likes
        await session.send_request(SetLevelRequest(params=SetLevelRequestParams(level=level)), EmptyResult)


def leaf(error: BaseException) -> BaseException:
    """The one error inside nested groups; the first that is not a cancellation when there are more."""
    while isinstance(error, BaseExceptionGroup):
        inner = [e for e in error.exceptions if not isinstance(e, asyncio.CancelledError)]
        error = (inner or list(error.exceptions))[0]
    return error
