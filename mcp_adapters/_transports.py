"""How to reach each kind of server: a process, an address, a server object of this program.

In: a server as the configuration describes it. Out: an opener for a link, and what can be said of
the transport when it fails (exit code, standard error). Nothing here decides when to connect.
"""

from __future__ import annotations

import functools
import ssl
from contextlib import AsyncExitStack
from typing import Any

import httpx2
from mcp import Client, ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer

from mcp_adapters._context import add_call_headers
from mcp_adapters._handshake import Protocol
from mcp_adapters._link import Link, session_over
from mcp_adapters._stdio import ChildProcess
from mcp_adapters.config import HttpServer, SseServer, StdioServer
from mcp_adapters.errors import ConfigError

__all__ = ("Transport", "transport_for")

_CONNECT_S = 30.0
"""Limit for opening, writing and getting a pooled connection over HTTP; answers are bounded by the call."""


class Transport:
    """One way to reach one server."""

    label: str
    """What to call the server's place in messages; holds no secret."""
    protocol: Protocol = "auto"
    """Which protocol to speak; a link that learns better changes it for the next one."""
    restartable = True
    """Whether a second link can be made after the first has ended."""

    @property
    def stderr(self) -> str:
        """What the server's process wrote to standard error at last."""
        return ""

    @property
    def exit_code(self) -> int | None:
        """How the server's process ended; None when it has none or it runs."""
        return None

    async def open(self, stack: AsyncExitStack, link: Link) -> ClientSession:
        """Enter the transport and give the negotiated session."""
        raise NotImplementedError


class _Stdio(Transport):
    def __init__(self, key: str, server: StdioServer) -> None:
        self._key = key
        self._server = server
        self._child: ChildProcess | None = None
        self.protocol = server.protocol
        self.label = f"command {server.model_dump()['command']!r}"

    @property
    def stderr(self) -> str:
        return self._server.redact(self._child.stderr) if self._child else ""

    @property
    def exit_code(self) -> int | None:
        return self._child.exit_code if self._child else None

    async def open(self, stack: AsyncExitStack, link: Link) -> ClientSession:
        server = self._server
        self._child = ChildProcess(server.argv(), env=server.environment(), cwd=server.cwd, label=self._key)
        streams = await stack.enter_async_context(self._child.transport())
        return await session_over(stack, link, streams, self.protocol)


class _Http(Transport):
    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self.protocol = server.protocol
        self.label = f"address {server.safe_url!r}"

    async def open(self, stack: AsyncExitStack, link: Link) -> ClientSession:
        client = await stack.enter_async_context(
            httpx2.AsyncClient(
                headers=self._server.plain_headers(),
                timeout=httpx2.Timeout(_CONNECT_S, read=None),
                verify=_tls_context(),
                event_hooks={"request": [add_call_headers]},
            )
        )
        transport = streamable_http_client(self._server.url, http_client=client)
        streams = await stack.enter_async_context(transport)
        return await session_over(stack, link, streams, self.protocol)


class _Sse(Transport):
    def __init__(self, server: SseServer) -> None:
        self._server = server
        self.protocol = server.protocol
        self.label = f"address {server.safe_url!r}"

    async def open(self, stack: AsyncExitStack, link: Link) -> ClientSession:
        transport = sse_client(self._server.url, headers=self._server.plain_headers())
        streams = await stack.enter_async_context(transport)
        return await session_over(stack, link, streams, self.protocol)


class _InProcess(Transport):
    label = "server object"

    def __init__(self, server: Server[Any] | MCPServer) -> None:
        self._server = server

    async def open(self, stack: AsyncExitStack, link: Link) -> ClientSession:
        client = Client(self._server, mode=self.protocol, cache=None)
        return (await stack.enter_async_context(client)).session


def transport_for(key: str, server: Any) -> Transport:
    """The way to reach a server.

    Args:
        key: The server's key in the configuration.
        server: A `StdioServer`, `HttpServer` or `SseServer`, or a server object of the SDK
            (`MCPServer`, low-level `Server`).

    Raises:
        ConfigError: Nothing is known about such a server.

    """
    match server:
        case StdioServer():
            return _Stdio(key, server)
        case HttpServer():
            return _Http(server)
        case SseServer():
            return _Sse(server)
        case Server() | MCPServer():
            return _InProcess(server)
    raise ConfigError(
        f"server {key!r} is a {type(server).__name__}; use a StdioServer, HttpServer or SseServer, a config "
        "dict, an http(s) URL, or a server object of the MCP SDK",
        server=key,
    )


@functools.cache
def _tls_context() -> ssl.SSLContext:
    """Made once and shared: it costs more than everything else about a new connection."""
    return httpx2.create_ssl_context()
