"""One server: started, asked, called and stopped; its failures get the names of this package.

In: a server's key and description. Out: listings and results as JSON, or an error of
`mcp_adapters.errors`. All of it runs on the background loop. A lost connection is made anew at the
next use; a request is never sent a second time by itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolRequest,
    CallToolRequestParams,
    ListToolsRequest,
    PaginatedRequestParams,
)
from pydantic import ValidationError

from mcp_adapters._faults import http_failure
from mcp_adapters._handshake import DiedInProbe
from mcp_adapters._link import Link, LinkEnded
from mcp_adapters._transports import transport_for
from mcp_adapters.errors import (
    ConnectionLostError,
    DiscoveryError,
    HandshakeError,
    InvalidResultError,
    McpAdaptersError,
    ServerStartError,
    ToolboxClosedError,
    ToolExecutionError,
    ToolTimeoutError,
)

__all__ = ("Connection", "ServerState", "ServerStatus")

logger = logging.getLogger(__name__)

MAX_PAGES = 1_000
"""Pages of one listing; a server that needs more is broken."""

ServerState: TypeAlias = Literal["new", "ready", "lost", "failed", "closed"]


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


class Connection:
    """The connection to one server, over all its lives.

    Args:
        key: The server's key in the configuration.
        server: What to connect to.
        connect_timeout: Seconds for one start, including a download that a command may need.

    """

    def __init__(self, key: str, server: Any, *, connect_timeout: float) -> None:
        self.key = key
        self._transport = transport_for(key, server)
        self._connect_timeout: float = getattr(server, "connect_timeout", None) or connect_timeout
        self._connect_timeout += self._transport.patience
        self._call_timeout: float | None = getattr(server, "timeout", None)
        self._link: Link | None = None
        self._lock = asyncio.Lock()
        self._closed = False
        self._last_error: McpAdaptersError | None = None

    def status(self, *, tools: int) -> ServerStatus:
        """What is known right now."""
        session = self._link.session if self._link and self._link.alive else None
        info = session.server_info if session else None
        return ServerStatus(
            state=self._state(),
            protocol_version=session.protocol_version if session else None,
            server_info=info.model_dump(mode="json", by_alias=True, exclude_none=True) if info else None,
            instructions=session.instructions if session else None,
            tools=tools,
            last_error=self._last_error,
            stderr=self._transport.stderr,
        )

    def _state(self) -> ServerState:
        if self._closed:
            return "closed"
        if self._link is not None:
            return "ready" if self._link.alive else "lost"
        return "failed" if self._last_error else "new"

    async def open(self) -> None:
        """Connect, unless the connection is there already.

        Raises:
            ConnectError: It cannot be made; the subclass says at which step.
            ToolboxClosedError: `close` was called before.

        """
        await self._live()

    async def close(self) -> None:
        """Stop the server; bounded in time, harmless when repeated."""
        self._closed = True
        if self._link is not None:
            await self._link.close()

    async def list_pages(self, *, timeout: float) -> list[dict[str, Any]]:
        """All pages of `tools/list`, as JSON.

        Args:
            timeout: Seconds for each page.

        Raises:
            DiscoveryError: The server refuses, repeats a cursor or does not come to an end.
            ConnectError: There is no connection and none can be made.
            ConnectionLostError: The connection ended.

        Source: MCP 2025-11-25, server/utilities/pagination.

        """
        pages: list[dict[str, Any]] = []
        cursors: set[str] = set()
        cursor: str | None = None
        while len(pages) < MAX_PAGES:
            request = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
            pages.append(await self._list_page(request, timeout))
            following = pages[-1].get("nextCursor")
            if not isinstance(following, str) or not following:
                return pages
            if following in cursors:
                raise self._discovery("its listing repeats a page cursor and would never end")
            cursors.add(following)
            cursor = following
        raise self._discovery(f"its listing has more than {MAX_PAGES} pages")

    async def _list_page(self, request: ListToolsRequest, timeout: float) -> dict[str, Any]:
        link = await self._live()
        try:
            return await link.request(request, timeout=timeout)
        except LinkEnded as ended:
            raise await self._lost(link, ended, phase="list") from link.cause
        except TimeoutError as error:
            raise self._discovery(f"no answer to tools/list within {timeout:g} s") from error
        except MCPError as error:
            if failure := http_failure(error, server=self.key, phase="list", end=link.end):
                self._last_error = failure
                raise failure from error
            raise self._discovery(f"tools/list was refused: {error.message} ({error.code})") from error
        except ValidationError as error:
            raise self._discovery("its answer to tools/list is not of the protocol") from error

    async def call(
        self, tool: str, arguments: Mapping[str, Any], *, timeout: float | None, default_timeout: float
    ) -> dict[str, Any]:
        """One `tools/call`, as JSON.

        Args:
            tool: The server's own name for the tool.
            arguments: What to send, as it is.
            timeout: Seconds without a sign of life; None means the server's own setting, else
                `default_timeout`.
            default_timeout: For servers without a setting of their own.

        Raises:
            ToolExecutionError: The server answered with a JSON-RPC error.
            ToolTimeoutError: No sign of life in time.
            ConnectionLostError: The connection ended; `outcome` says whether the call was sent.
            ConnectError: There was no connection and none can be made.
            InvalidResultError: The answer is not of the protocol.
            ToolboxClosedError: `close` was called before.

        """
        link = await self._live()
        allowed = timeout or self._call_timeout or default_timeout
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
        try:
            answer = await link.request(request, timeout=allowed)
        except LinkEnded as ended:
            if self._closed:
                raise self._closed_error() from ended
            raise await self._lost(link, ended, phase="call", tool=tool) from link.cause
        except TimeoutError as error:
            raise ToolTimeoutError(
                f"tool {tool!r} of server {self.key!r} gave no sign of life for {allowed:g} s; the server "
                "was told to stop, but whether the call had an effect is unknown",
                server=self.key,
                tool=tool,
                timeout=allowed,
            ) from error
        except MCPError as error:
            if failure := http_failure(error, server=self.key, phase="call", tool=tool, end=link.end):
                raise failure from error
            raise ToolExecutionError(
                f"server {self.key!r} refused the call of {tool!r}: {error.message}",
                server=self.key,
                tool=tool,
                code=error.code,
            ) from error
        except ValidationError as error:
            raise self._not_a_result(tool) from error
        if answer.get("resultType", "complete") != "complete":
            raise self._not_a_result(tool)
        return answer

    def _not_a_result(self, tool: str) -> InvalidResultError:
        return InvalidResultError(
            f"server {self.key!r} answered the call of {tool!r} with something that is no tool result",
            server=self.key,
            tool=tool,
        )

    async def _live(self) -> Link:
        """The link in use, or a new one when there is none or it has ended."""
        if self._link is not None and self._link.alive and not self._closed:
            return self._link
        async with self._lock:
            if self._closed:
                raise self._closed_error()
            if self._link is None or not self._link.alive:
                self._link = await self._connect()
            return self._link

    def _closed_error(self) -> ToolboxClosedError:
        return ToolboxClosedError(
            f"the toolbox of server {self.key!r} is closed; open it again or keep it open longer",
            server=self.key,
        )

    async def _connect(self) -> Link:
        try:
            return await self._new_link()
        except DiedInProbe:
            # Learned for good: such a server needs the handshake as the first thing it hears.
            self._transport.protocol = "legacy"
            return await self._new_link()

    async def _new_link(self) -> Link:
        link = Link(self._transport.open)
        try:
            await link.open(self._connect_timeout)
        except DiedInProbe:
            raise
        except Exception as error:
            self._last_error = self._connect_error(error)
            raise self._last_error from error
        logger.debug("server %r is connected, protocol %s", self.key, link.session.protocol_version)
        return link

    def _connect_error(self, error: Exception) -> McpAdaptersError:
        """The name here of whatever kept a connection from being made."""
        where = f"server {self.key!r} ({self._transport.label})"
        if failure := http_failure(error, server=self.key, phase="connect", where=self._transport.label):
            return failure
        match error:
            case McpAdaptersError():
                return error
            case TimeoutError():
                return self._handshake(f"{where} did not answer within {self._connect_timeout:g} s")
            case FileNotFoundError() | NotADirectoryError() | PermissionError():
                return self._start(f"{where} cannot be started: {_hint(error)}")
            case MCPError(code=code) if code == CONNECTION_CLOSED and self._transport.exit_code is not None:
                status = self._transport.exit_code
                return self._start(f"{where} ended with exit code {status} before it answered")
            case MCPError(code=code) if code == CONNECTION_CLOSED:
                return self._start(f"{where} closed the connection before it answered")
            case MCPError():
                return self._handshake(f"{where} refused to connect: {error.message} ({error.code})")
            case httpx2.TransportError() | OSError():
                return self._start(f"{where} cannot be reached: {str(error) or type(error).__name__}")
        return self._handshake(f"{where} did not answer as an MCP server: {type(error).__name__}")

    def _start(self, message: str) -> ServerStartError:
        stderr, code = self._transport.stderr, self._transport.exit_code
        return ServerStartError(_with_tail(message, stderr), server=self.key, stderr=stderr, exit_code=code)

    def _handshake(self, message: str) -> HandshakeError:
        stderr = self._transport.stderr
        return HandshakeError(_with_tail(message, stderr), server=self.key, stderr=stderr)

    def _discovery(self, reason: str) -> DiscoveryError:
        self._last_error = DiscoveryError(
            f"the tools of server {self.key!r} cannot be listed: {reason}", server=self.key
        )
        return self._last_error

    async def _lost(
        self, link: Link, ended: LinkEnded, *, phase: Literal["list", "call"], tool: str | None = None
    ) -> ConnectionLostError:
        await link.last_words()
        stderr, code = self._transport.stderr, self._transport.exit_code
        how = f" (exit code {code})" if code is not None else ""
        what = (
            f"while tool {tool!r} was called; whether the call had an effect is unknown"
            if tool
            else "while its tools were listed"
        )
        self._last_error = ConnectionLostError(
            _with_tail(f"the connection to server {self.key!r} ended{how} {what}", stderr),
            server=self.key,
            tool=tool,
            phase=phase,
            retriable=phase == "list",
            stderr=stderr,
        )
        return self._last_error


def _hint(error: OSError) -> str:
    """What is missing, and how it usually comes to be missing."""
    name = str(error.filename or "")
    if isinstance(error, PermissionError):
        return f"{name!r} may not be executed"
    program = name.rsplit("/", 1)[-1]
    runtimes = {
        "npx": "Node.js",
        "node": "Node.js",
        "uvx": "uv",
        "uv": "uv",
        "docker": "Docker",
        "podman": "Podman",
    }
    if program in runtimes:
        return f"{name!r} was not found; is {runtimes[program]} installed?"
    return f"{name!r} was not found"


def _with_tail(message: str, stderr: str) -> str:
    """The message, with the last lines of standard error when there are any."""
    lines = [line for line in stderr.splitlines() if line.strip()][-10:]
    return "\n".join([message, *(f"  stderr: {line[:300]}" for line in lines)])
