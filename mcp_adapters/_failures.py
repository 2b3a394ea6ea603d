"""The one table that gives foreign exceptions the names of this package.

In: what a transport, the SDK or the operating system raised, and what was being done. Out: an error
of `mcp_adapters.errors` with the server, the tool, and the last words of the server's process.
Nothing here waits, retries or raises; no secret is put into a message.
"""

from __future__ import annotations

from collections.abc import Callable

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR
from pydantic import ValidationError

from mcp_adapters._exchange import LinkTimeout
from mcp_adapters._faults import http_failure
from mcp_adapters._transports import Transport
from mcp_adapters.elicitation import PendingCall
from mcp_adapters.errors import (
    ConnectionLostError,
    DiscoveryError,
    HandshakeError,
    InputRequiredError,
    InvalidResultError,
    McpAdaptersError,
    Phase,
    ProtocolError,
    ServerStartError,
    ToolboxClosedError,
    ToolCancelledError,
    ToolExecutionError,
    ToolTimeoutError,
)

__all__ = ("Failures",)

_NO_JSON = "Unexpected content type"
"""How the SDK begins the message of an HTTP answer that is neither JSON nor events."""


class Failures:
    """Names the failures of one server.

    Args:
        key: The server's key in the configuration.
        transport: What is known of its process or address.

    """

    def __init__(self, key: str, transport: Transport) -> None:
        self._key = key
        self._transport = transport

    @property
    def server(self) -> str:
        """The server's key in the configuration."""
        return self._key

    def connecting(self, error: BaseException, *, timeout: float) -> McpAdaptersError:
        """Name what kept a connection from being made."""
        where = f"server {self._key!r} ({self._transport.label})"
        if failure := http_failure(error, server=self._key, phase="connect", where=self._transport.label):
            return failure
        match error:
            case McpAdaptersError():
                return error
            case TimeoutError():
                return self._handshake(f"{where} did not answer within {timeout:g} s")
            case FileNotFoundError() | NotADirectoryError() | PermissionError():
                return self._start(f"{where} cannot be started: {_hint(error)}")
            case MCPError(code=code) if code == CONNECTION_CLOSED and self._transport.exit_code is not None:
                status = self._transport.exit_code
                return self._start(f"{where} ended with exit code {status} before it answered")
            case MCPError(code=code) if code == CONNECTION_CLOSED:
                return self._start(f"{where} closed the connection before it answered: {error.message}")
            case MCPError():
                return self._handshake(f"{where} refused to connect: {error.message} ({error.code})")
            case httpx2.TransportError() | OSError():
                return self._start(f"{where} cannot be reached: {str(error) or type(error).__name__}")
        return self._handshake(f"{where} did not answer as an MCP server: {type(error).__name__}")

    def listing(
        self, error: BaseException, *, end: Callable[[], None], kind: str = "tools"
    ) -> McpAdaptersError:
        """Name what kept a listing from being read; `end` is called when the connection is past use."""
        method = {"resource templates": "resources/templates"}.get(kind, kind) + "/list"
        if failure := http_failure(error, server=self._key, phase="list", end=end):
            return failure
        match error:
            case LinkTimeout():
                return self.discovery(f"no answer to {method} within {error.seconds:g} s", kind)
            case MCPError():
                return self.discovery(f"{method} was refused: {error.message} ({error.code})", kind)
        return self.discovery(f"its answer to {method} is not of the protocol", kind)

    def calling(self, error: BaseException, tool: str, *, end: Callable[[], None]) -> McpAdaptersError:
        """Name what became of a call without a result; `end` is called when the connection is past use."""
        if failure := http_failure(error, server=self._key, phase="call", tool=tool, end=end):
            return failure
        match error:
            case LinkTimeout():
                return self._timeout(error, tool)
            case MCPError(code=0) if "cancel" in error.message.lower():
                return ToolCancelledError(
                    f"server {self._key!r} says that the call of {tool!r} was cancelled; whether it had an "
                    "effect is unknown",
                    server=self._key,
                    tool=tool,
                )
            case MCPError(code=code) if code == PARSE_ERROR or error.message.startswith(_NO_JSON):
                return self.not_a_result(tool)
            case MCPError():
                return ToolExecutionError(
                    f"server {self._key!r} refused the call of {tool!r}: {error.message}",
                    server=self._key,
                    tool=tool,
                    code=error.code,
                )
            case ValidationError():
                return self.not_a_result(tool)
        return InvalidResultError(
            f"the call of {tool!r} of server {self._key!r} went wrong: {type(error).__name__}",
            server=self._key,
            tool=tool,
        )

    def _timeout(self, error: LinkTimeout, tool: str) -> ToolTimeoutError:
        how = "gave no sign of life for" if error.limit == "idle" else "did not come to an end within"
        return ToolTimeoutError(
            f"tool {tool!r} of server {self._key!r} {how} {error.seconds:g} s; the server was told to stop, "
            "but whether the call had an effect is unknown",
            server=self._key,
            tool=tool,
            timeout=error.seconds,
            limit=error.limit,
        )

    def not_a_result(self, tool: str) -> InvalidResultError:
        """Name an answer that is something else than a tool's result."""
        return InvalidResultError(
            f"server {self._key!r} answered the call of {tool!r} with something that is no tool result",
            server=self._key,
            tool=tool,
        )

    def asks_back(self, tool: str) -> ProtocolError:
        """Name an answer that asks for input which this client never offered to give."""
        return ProtocolError(
            f"tool {tool!r} of server {self._key!r} asks for input instead of giving a result, and nobody "
            "here was said to answer",
            server=self._key,
            tool=tool,
            phase="call",
        )

    def input_required(self, pending: PendingCall) -> InputRequiredError:
        """Name a call that waits for answers of a person."""
        asked = "; ".join(request.message for request in pending.questions.values())
        return InputRequiredError(
            f"tool {pending.tool!r} of server {self._key!r} asks a person before it goes on: {asked[:2_000]}",
            server=self._key,
            tool=pending.tool,
            pending=pending,
        )

    def unanswered(self, tool: str, reason: str) -> ToolCancelledError:
        """Name a call that cannot go on since a question got no answer."""
        return ToolCancelledError(
            f"tool {tool!r} of server {self._key!r} asked for something that it did not get, and the call "
            f"was given up: {reason}",
            server=self._key,
            tool=tool,
        )

    def asks_for_ever(self, tool: str, rounds: int) -> ProtocolError:
        """Name a call that leads to one question after another."""
        return ProtocolError(
            f"tool {tool!r} of server {self._key!r} asked for input {rounds} times without giving a result",
            server=self._key,
            tool=tool,
            phase="call",
        )

    def discovery(self, reason: str, kind: str = "tools") -> DiscoveryError:
        """Name a listing that cannot be used."""
        return DiscoveryError(
            f"the {kind} of server {self._key!r} cannot be listed: {reason}", server=self._key
        )

    def closed(self) -> ToolboxClosedError:
        """Name a use after the end."""
        return ToolboxClosedError(
            f"the toolbox of server {self._key!r} is closed; open it again or keep it open longer",
            server=self._key,
        )

    def lost(self, phase: Phase, tool: str | None = None, *, what: str | None = None) -> ConnectionLostError:
        """Name the end of a connection in the middle of a request; `what` says what it was asked for."""
        stderr, code = self._transport.stderr, self._transport.exit_code
        how = f" (exit code {code})" if code is not None else ""
        doing = f"when it was asked for {what}" if what else "while its tools were listed"
        if tool:
            doing = f"while tool {tool!r} was called; whether the call had an effect is unknown"
        return ConnectionLostError(
            _with_tail(f"the connection to server {self._key!r} ended{how} {doing}", stderr),
            server=self._key,
            tool=tool,
            phase=phase,
            retriable=tool is None,
            stderr=stderr,
        )

    def _start(self, message: str) -> ServerStartError:
        stderr, code = self._transport.stderr, self._transport.exit_code
        return ServerStartError(_with_tail(message, stderr), server=self._key, stderr=stderr, exit_code=code)

    def _handshake(self, message: str) -> HandshakeError:
        stderr = self._transport.stderr
        return HandshakeError(_with_tail(message, stderr), server=self._key, stderr=stderr)


_RUNTIMES = {
    "docker": "Docker",
    "node": "Node.js",
    "npx": "Node.js",
    "podman": "Podman",
    "uv": "uv",
    "uvx": "uv",
}


def _hint(error: OSError) -> str:
    """What is missing, and how it usually comes to be missing."""
    name = str(error.filename or "")
    if isinstance(error, PermissionError):
        return f"{name!r} may not be executed"
    runtime = _RUNTIMES.get(name.rsplit("/", 1)[-1])
    return f"{name!r} was not found" + (f"; is {runtime} installed?" if runtime else "")


def _with_tail(message: str, stderr: str) -> str:
    """The message, with the last lines of standard error when there are any."""
    lines = [line for line in stderr.splitlines() if line.strip()][-10:]
    return "\n".join([message, *(f"  stderr: {line[:300]}" for line in lines)])
