"""What can go wrong with one HTTP request, and the error of this package that says so.

In: a fault, found where the request is sent. Out: a JSON-RPC error that carries it past the SDK, and
at the other end, `http_failure`, which makes an `McpAdaptersError` of it. A server cannot forge a
fault: what travels is a number that only this process knows.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, PARSE_ERROR

from mcp_adapters.errors import (
    AuthError,
    ConfigError,
    ConnectionLostError,
    DiscoveryError,
    HandshakeError,
    InvalidResultError,
    McpAdaptersError,
    ProtocolError,
    RequestError,
    ServerStartError,
    ToolExecutionError,
)

__all__ = ("NEVER_ASKED_CODE", "Fault", "FaultError", "FaultKind", "fault_in", "http_failure", "sealed")

FaultKind: TypeAlias = Literal[
    "auth", "broken", "garbage", "headers", "principal", "session", "status", "unreachable"
]
"""`unreachable`, `headers`, `principal`: not sent. `session`, `auth`, `status`: answered and refused.
`broken`: the connection ended between sending and the answer. `garbage`: the answer is no message."""

FAULT_CODE = -29017
"""Outside of what JSON-RPC and MCP reserve (-32768 to -32000)."""
NEVER_ASKED_CODE = -29018
"""The same for a request that never left, so that the server is not even to be asked otherwise."""
_MOST = 4096
_UNREAD = (PARSE_ERROR, INVALID_REQUEST)
_GARBAGE = ("Failed to parse ", "Unexpected content type")
"""How the SDK begins the message of an answer that it could not read."""
_LOST_STREAM = "SSE stream ended"
"""How the SDK begins the message of an answer whose stream ended early."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why one HTTP request has no usable answer."""

    kind: FaultKind
    detail: str
    """The reason and, where there is one, the way out; holds no secret."""
    status: int | None = None
    """The HTTP status; None when there was no answer."""
    retry_after: float | None = None
    """Seconds that the server asks to wait; None when it does not say."""
    ends: bool = False
    """Whether the connection, as the server knows it, is gone with it."""
    cause: BaseException | None = None


class FaultError(Exception):
    """A fault where there is no request to answer: the opening of a stream, a running login."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


_travelling: OrderedDict[str, Fault] = OrderedDict()


def sealed(fault: Fault) -> dict[str, Any]:
    """The error object of a JSON-RPC answer that stands for the fault."""
    number = secrets.token_hex(16)
    _travelling[number] = fault
    while len(_travelling) > _MOST:
        _travelling.popitem(last=False)
    never_asked = fault.status is None and fault.kind != "broken"
    return {"code": NEVER_ASKED_CODE if never_asked else FAULT_CODE, "message": fault.detail, "data": number}


def fault_in(error: BaseException | None) -> Fault | None:
    """The fault that an exception stands for; None when it is of another kind."""
    match error:
        case FaultError(fault=fault):
            return fault
        case MCPError(code=code, error=carried) if code in (FAULT_CODE, NEVER_ASKED_CODE):
            return _travelling.pop(str(carried.data), None)
        case MCPError(code=code) if code == CONNECTION_CLOSED and error.message.startswith(_LOST_STREAM):
            return Fault(kind="broken", detail="the stream of the answer ended early", cause=error)
        case MCPError(code=code) if code in (PARSE_ERROR, INVALID_REQUEST) and error.message.startswith(
            _GARBAGE
        ):
            return Fault(kind="garbage", detail=error.message.partition(":")[0], cause=error)
    return None


def http_failure(
    error: BaseException,
    *,
    server: str,
    phase: Literal["connect", "list", "call", "read"],
    tool: str | None = None,
    where: str = "",
    end: Callable[[], None] = lambda: None,
) -> McpAdaptersError | None:
    """The error for a failed HTTP request; None when the exception stands for none.

    Args:
        error: What the SDK raised.
        server: The server's key.
        phase: What was being done.
        tool: The tool that was called, when one was.
        where: What to call the server's place when it is connected to.
        end: Ends the connection; called when it cannot be used any more.

    """
    fault = fault_in(error)
    if fault is None:
        return None
    if fault.ends:
        end()
    made = _Failure(fault, server, phase, tool, where).error()
    made.__cause__ = fault.cause or error
    return made


@dataclass(frozen=True, slots=True)
class _Failure:
    fault: Fault
    server: str
    phase: Literal["connect", "list", "call", "read"]
    tool: str | None
    where: str

    def error(self) -> McpAdaptersError:
        """The error by what happened and by what was being done."""
        match self.fault.kind:
            case "auth":
                return self._as(AuthError, f"{self._named()} {self.fault.detail}")
            case "headers":
                return self._as(ConfigError, f"server {self.server!r}: {self.fault.detail}")
            case "unreachable":
                return self._unreachable()
            case "broken":
                return self._broken()
            case "session" | "principal":
                return self._as(
                    ConnectionLostError,
                    f"server {self.server!r}: {self.fault.detail}",
                    # Other statuses than 404 are a guess by the server's words.
                    outcome="unknown" if self.fault.status not in (None, 404) else "not_sent",
                    retriable=self.fault.status == 404,
                )
            case "garbage":
                return self._garbage()
            case "status":
                return self._status()

    def _unreachable(self) -> McpAdaptersError:
        if self.phase == "connect":
            return self._as(ServerStartError, f"{self._named()} cannot be reached: {self.fault.detail}")
        return self._as(
            ConnectionLostError,
            f"server {self.server!r} cannot be reached: {self.fault.detail}; nothing was sent, "
            "and the next use tries again",
            outcome="not_sent",
            retriable=True,
        )

    def _broken(self) -> McpAdaptersError:
        if self.phase == "connect":
            return self._as(ServerStartError, f"{self._named()} broke off: {self.fault.detail}")
        doubt = "; whether the call had an effect is unknown" if self.phase == "call" else ""
        return self._as(
            ConnectionLostError,
            f"the connection to server {self.server!r} broke off{self._doing()}: {self.fault.detail}{doubt}",
            outcome="unknown",
            retriable=self.phase in ("list", "read"),
        )

    def _garbage(self) -> McpAdaptersError:
        kinds = {
            "connect": HandshakeError,
            "list": DiscoveryError,
            "call": InvalidResultError,
            "read": ProtocolError,
        }
        what = f"{self._named()} did not answer as an MCP server{self._doing()}: {self.fault.detail}"
        return self._as(kinds[self.phase], what)

    def _status(self) -> McpAdaptersError:
        busy = self.fault.status == 429
        match self.phase:
            case "call":
                message = f"server {self.server!r} refused the call of {self.tool!r}: {self.fault.detail}"
                return self._as(ToolExecutionError, message, retriable=busy)
            case "list":
                message = f"the tools of server {self.server!r} cannot be listed: {self.fault.detail}"
                return self._as(DiscoveryError, message, retriable=busy)
            case "read":
                message = f"server {self.server!r} refused a request: {self.fault.detail}"
                return self._as(RequestError, message, retriable=busy)
            case "connect":
                kind = ServerStartError if busy or (self.fault.status or 0) >= 500 else HandshakeError
                message = f"{self._named()} refused to connect: {self.fault.detail}"
                return self._as(kind, message, retriable=kind is ServerStartError)

    def _named(self) -> str:
        return f"server {self.server!r}" + (f" ({self.where})" if self.where else "")

    def _doing(self) -> str:
        return f" while tool {self.tool!r} was called" if self.tool else ""

    def _as(self, kind: type[McpAdaptersError], message: str, **facts: Any) -> McpAdaptersError:
        known = {"status": self.fault.status, "retry_after": self.fault.retry_after}
        facts.update({name: value for name, value in known.items() if value is not None})
        return kind(message, server=self.server, tool=self.tool, phase=self.phase, **facts)
