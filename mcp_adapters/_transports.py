"""How to reach each kind of server: a process, an address, a server object of this program.

In: a server as the configuration describes it. Out: an opener for a link, and what can be said of
the transport when it fails (exit code, standard error). Nothing here decides when to connect.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from contextlib import AsyncExitStack
from typing import Any, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp import Client, ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from mcp_adapters._auth import authentication
from mcp_adapters._guest import GuestLink
from mcp_adapters._handshake import Protocol
from mcp_adapters._http import Deliver, ServerClient, bare_address
from mcp_adapters._link import Inbox, Link
from mcp_adapters._sandbox import Workshop
from mcp_adapters._session import ask_for_logs, make_session, session_over
from mcp_adapters._stdio import ChildProcess
from mcp_adapters.config import HttpServer, SseServer, StdioServer
from mcp_adapters.errors import ConfigError, ServerStartError

__all__ = ("Transport", "transport_for")

Streams: TypeAlias = tuple[Any, Any]
"""What messages of the server come from, and what those for it go into; of the SDK's kind."""

_LARGEST_EVENT = 64 * 1024 * 1024
"""Bytes of one server-sent event; the SDK's own limit of one MiB loses real results."""


class Transport:
    """One way to reach one server."""

    label: str
    """What to call the server's place in messages; holds no secret."""
    protocol: Protocol = "auto"
    """Which protocol to speak; a link that learns better changes it for the next one."""
    patience: float = 0.0
    """Seconds that connecting may take on top of the limit, since a person has to sign in."""

    @property
    def stderr(self) -> str:
        """What the server's process wrote to standard error at last."""
        return ""

    @property
    def exit_code(self) -> int | None:
        """How the server's process ended; None when it has none or it runs."""
        return None

    @property
    def stuck(self) -> bool:
        """Whether the server does not even take in what is sent to it."""
        return False

    def link(self, inbox: Inbox) -> Link:
        """Make a new link, not opened yet."""
        return Link(self.open, inbox)

    async def open(self, stack: AsyncExitStack, link: Link) -> ClientSession:
        """Enter the transport and give the negotiated session."""
        return await session_over(stack, link, await self.streams(stack), self.protocol)

    async def streams(self, stack: AsyncExitStack) -> Streams:
        """Enter the transport and give what messages come from and go into."""
        raise ConfigError(f"a {self.label} has no streams of messages")


class _Stdio(Transport):
    def __init__(self, key: str, server: StdioServer) -> None:
        self._key = key
        self._server = server
        self._workshop = Workshop(key, server)
        self._child: ChildProcess | None = None
        self.protocol = server.protocol
        self.label = f"command {server.model_dump()['command']!r}"

    @property
    def stderr(self) -> str:
        return self._server.redact(self._child.stderr) if self._child else ""

    @property
    def exit_code(self) -> int | None:
        return self._child.exit_code if self._child else None

    @property
    def stuck(self) -> bool:
        return self._child is not None and self._child.stuck

    async def streams(self, stack: AsyncExitStack) -> Streams:
        command = await self._workshop.ready()
        self._child = ChildProcess(command.argv, env=command.env, cwd=command.cwd, label=self._key)
        return await stack.enter_async_context(self._child.transport())


class _Web(Transport):
    def __init__(self, key: str, server: HttpServer | SseServer) -> None:
        self._server = server
        self._authentication = authentication(key, bare_address(server.url), server.auth)
        self.protocol = server.protocol
        self.patience = self._authentication.patience
        self.label = f"address {server.safe_url!r}"

    def _client(self, stack: AsyncExitStack, deliver: Deliver | None = None) -> ServerClient:
        shown = self._authentication
        stack.callback(shown.stop)
        return ServerClient(self._server, auth=shown.auth, advice=shown.advice, deliver=deliver)


class _Http(_Web):
    async def streams(self, stack: AsyncExitStack) -> Streams:
        client = await stack.enter_async_context(self._client(stack))
        transport = streamable_http_client(
            bare_address(self._server.url), http_client=client, max_sse_event_size=_LARGEST_EVENT
        )
        return await stack.enter_async_context(transport)


class _Sse(_Web):
    async def streams(self, stack: AsyncExitStack) -> Streams:
        to_session, from_server = anyio.create_memory_object_stream[Any](math.inf)
        for end in (to_session, from_server):
            stack.callback(end.close)
        client = self._client(stack, lambda answer: _deliver(to_session, answer))

        def ready_made(*_: Any, **__: Any) -> ServerClient:
            return client

        transport = sse_client(bare_address(self._server.url), httpx_client_factory=ready_made)
        received, sent = await stack.enter_async_context(transport)
        tasks = await stack.enter_async_context(anyio.create_task_group())
        tasks.start_soon(_forward, received, to_session)
        stack.callback(tasks.cancel_scope.cancel)
        return from_server, sent


def _deliver(to_session: MemoryObjectSendStream[Any], answer: dict[str, Any]) -> None:
    with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        to_session.send_nowait(SessionMessage(jsonrpc_message_adapter.validate_python(answer)))


async def _forward(received: Any, to_session: MemoryObjectSendStream[Any]) -> None:
    """Hand on what the server sends, so that other answers can come in between."""
    with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        async with to_session:
            async for message in received:
                await to_session.send(message)


class _OurClient(Client):
    """A client with a session of ours; the SDK's own would tell the server less."""

    link: Link

    async def _build_session(self, exit_stack: AsyncExitStack) -> ClientSession:
        dispatcher = await self._connect(exit_stack, self.mode, self.raise_exceptions)
        return make_session(self.link, dispatcher)


class _InProcess(Transport):
    label = "server object"

    def __init__(self, server: Server[Any] | MCPServer) -> None:
        self._server = server

    async def open(self, stack: AsyncExitStack, link: Link) -> ClientSession:
        client = _OurClient(self._server, mode=self.protocol, cache=None)
        client.link = link
        session = (await stack.enter_async_context(client)).session
        await ask_for_logs(session, link.inbox.log_level)
        return session


class _Custom(Transport):
    """A transport of the user's: an object that can be entered once, or a function that makes them."""

    def __init__(self, key: str, given: Any) -> None:
        self._key = key
        self._given = given
        self._used = False
        self.label = f"transport {type(given).__name__}"

    async def streams(self, stack: AsyncExitStack) -> Streams:
        if not hasattr(self._given, "__aenter__"):
            transport = self._given()
        elif self._used:
            raise ServerStartError(
                f"the transport of server {self._key!r} has ended and cannot be entered again; "
                "give a function that makes a new one each time",
                server=self._key,
            )
        else:
            transport = self._given
        self._used = True
        streams: Streams = await stack.enter_async_context(transport)
        return streams


class _Guest(Transport):
    """A client or session that the user connected; it stays on the user's loop and in the user's hands."""

    label = "the program's own client"

    def __init__(
        self, key: str, guest: Client | ClientSession, loop: asyncio.AbstractEventLoop | None
    ) -> None:
        if loop is None:
            raise ConfigError(
                f"server {key!r} is a client that the program connected, and the event loop that it lives on "
                "cannot be told; make the toolbox, or open it with 'async with', on that loop",
                server=key,
            )
        self._guest = guest
        self.loop = loop

    def link(self, inbox: Inbox) -> Link:
        return GuestLink(self._guest, self.loop, inbox)


def transport_for(key: str, server: Any, *, loop: asyncio.AbstractEventLoop | None) -> Transport:
    """The way to reach a server.

    Args:
        key: The server's key in the configuration.
        server: A `StdioServer`, `HttpServer` or `SseServer`; a server object of the SDK (`MCPServer`,
            low-level `Server`); a connected `Client` or `ClientSession` of the SDK; or a transport of
            the SDK's kind (an async context manager of a pair of streams), or a function that makes one.
        loop: The user's event loop, on which a connected client lives; None when there is none.

    Raises:
        ConfigError: Nothing is known about such a server.

    """
    match server:
        case StdioServer():
            return _Stdio(key, server)
        case HttpServer():
            return _Http(key, server)
        case SseServer():
            return _Sse(key, server)
        case Server() | MCPServer():
            return _InProcess(server)
        case Client() | ClientSession():
            return _Guest(key, server, loop)
    if hasattr(server, "__aenter__") or callable(server):
        return _Custom(key, server)
    raise ConfigError(
        f"server {key!r} is a {type(server).__name__}; use a StdioServer, HttpServer or SseServer, a config "
        "dict, an http(s) URL, a server object, a connected client or a transport of the MCP SDK",
        server=key,
    )
