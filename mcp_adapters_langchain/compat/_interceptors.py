"""Interceptors as langchain-mcp-adapters has them, around the calls of a toolbox.

In: functions that get a `MCPToolCallRequest` and a handler. Out: one interceptor for the toolbox, which
finds the functions of the tool that is called in the context of the call. The handler gives the SDK's
`CallToolResult`; a function may return one, a `ToolResult`, a `ToolMessage` or a `Command`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeAlias

from langchain_core.messages.tool import ToolOutputMixin

from mcp_adapters import AsyncCallNext, CallRequest, Tool, ToolNotFoundError, ToolResult, call_headers
from mcp_adapters.official import from_official, to_official

__all__ = (
    "CALLS",
    "MCPToolCallRequest",
    "MCPToolCallResult",
    "NativeResult",
    "Onion",
    "ToolCallInterceptor",
    "around",
)

CALLS = "mcp_adapters_langchain.compat"
"""Where a call's `Onion` is in its context."""

MCPToolCallResult: TypeAlias = Any
"""The SDK's `CallToolResult`, a `ToolResult`, or what LangChain takes: a `ToolMessage`, a `Command`."""


@dataclass(frozen=True, slots=True)
class MCPToolCallRequest:
    """One call, as interceptors see it."""

    name: str
    """The server's own name for the tool."""
    args: dict[str, Any]
    server_name: str
    headers: dict[str, Any] | None = None
    """For the HTTP requests of this call, over the server's own."""
    runtime: object | None = None
    """LangGraph's `ToolRuntime`; None outside of a graph."""

    def override(self, **changed: Any) -> MCPToolCallRequest:
        """Make a request with another `name`, other `args` or other `headers`."""
        if foreign := changed.keys() - {"name", "args", "headers"}:
            raise TypeError(f"an interceptor may not change {', '.join(sorted(foreign))}")
        return replace(self, **changed)


Handler: TypeAlias = Callable[[MCPToolCallRequest], Awaitable[MCPToolCallResult]]


class ToolCallInterceptor(Protocol):
    """A function around calls; the first of several is the outermost."""

    async def __call__(self, request: MCPToolCallRequest, handler: Handler) -> MCPToolCallResult:
        """Make the call by `handler`, once, more often or not at all."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeResult(ToolResult):
    """An answer of an interceptor that goes to LangChain as it is."""

    native: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Onion:
    """The interceptors around one call."""

    interceptors: Sequence[ToolCallInterceptor]
    server_name: str
    find: Callable[[str], Tool | None]
    """The same server's tool of a name."""
    runtime: object | None = None

    async def run(self, request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        """Run them around a call."""
        call = _Call(self, request, call_next)
        handler: Handler = call.send
        for interceptor in reversed(self.interceptors):
            handler = partial(_inner, interceptor, handler)
        wanted = MCPToolCallRequest(
            request.tool, dict(request.arguments), self.server_name, None, self.runtime
        )
        return call.read(await handler(wanted))


async def around(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
    """Run the interceptors of the tool that is called; the toolbox's interceptor."""
    onion = request.context.get(CALLS)
    return await (onion.run(request, call_next) if isinstance(onion, Onion) else call_next(request))


async def _inner(
    interceptor: ToolCallInterceptor, handler: Handler, request: MCPToolCallRequest
) -> MCPToolCallResult:
    return await interceptor(request, handler)


@dataclass(slots=True)
class _Call:
    onion: Onion
    request: CallRequest
    call_next: AsyncCallNext
    given: list[tuple[Any, ToolResult]] = field(default_factory=list)
    """What the interceptors were given, and what it was made of."""

    async def send(self, wanted: MCPToolCallRequest) -> Any:
        headers = {name: str(value) for name, value in (wanted.headers or {}).items()}
        if wanted.name == self.request.tool:
            result = await self.call_next(self.request.override(arguments=wanted.args, headers=headers))
        else:
            result = await self._redirected(wanted, headers)
        official = to_official(result)
        self.given.append((official, result))
        return official

    async def _redirected(self, wanted: MCPToolCallRequest, headers: Mapping[str, str]) -> ToolResult:
        tool = self.onion.find(wanted.name)
        if tool is None:
            raise ToolNotFoundError(
                f"an interceptor asked for the tool {wanted.name!r}, which server "
                f"{self.request.server!r} does not offer",
                server=self.request.server,
                tool=wanted.name,
            )
        context = {key: value for key, value in self.request.context.items() if key != CALLS}
        with _headers({**self.request.headers, **headers}):
            return await tool.acall(wanted.args, context=context)

    def read(self, answer: Any) -> ToolResult:
        for official, result in self.given:
            if official is answer:
                return result
        if isinstance(answer, ToolResult):
            return answer
        if isinstance(answer, ToolOutputMixin):
            return NativeResult(text="answered by an interceptor", native=answer)
        if hasattr(answer, "model_dump"):
            return from_official(answer, structured="never")
        raise TypeError(
            f"an interceptor around {self.request.tool!r} returned a {type(answer).__name__}; return what "
            "the handler gave, a CallToolResult, a ToolMessage or a Command"
        )


@contextmanager
def _headers(headers: Mapping[str, str]) -> Iterator[None]:
    token = call_headers.set({**(call_headers.get() or {}), **headers})
    try:
        yield
    finally:
        call_headers.reset(token)
