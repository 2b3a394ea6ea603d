"""The contract of interceptors: functions of the user around every call of a tool.

In: nothing. Out: `CallRequest`, what an interceptor sees of a call, and the types of interceptors.
Nothing here runs one.

An interceptor gets a request and `call_next`. It may change the request's arguments and headers,
change the result, call `call_next` not at all (and answer by itself) or more than once, or raise:

    def audited(request: CallRequest, call_next: CallNext) -> ToolResult:
        result = call_next(request.override(headers={"x-request-id": new_id()}))
        log(request.server, request.tool, result.is_error)
        return result

The first interceptor of a toolbox is the outermost. A function and an `async` function both serve
for synchronous and asynchronous calls, in any mix; a synchronous interceptor gets a `call_next` that
returns, an asynchronous one a `call_next` that is awaited.

- `acall`: asynchronous interceptors run on the caller's loop, synchronous ones in worker threads, so
  that they may block.
- `call`: synchronous interceptors run in the calling thread, up to the first asynchronous one. It
  and all that follow run as in `acall`, on one background event loop for all interceptors, while the
  calling thread waits; this works too where a loop runs in that thread. The loop is not the one that
  carries the connections, and stays the same, so what an interceptor binds to it stays valid.

Errors pass through untouched. An error of `mcp_adapters.errors` that concerns a tool or a server is
told to the model, every other exception is raised to the program.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from mcp_adapters.spec import ToolAnnotations, ToolResult

__all__ = (
    "AsyncCallNext",
    "AsyncInterceptor",
    "CallNext",
    "CallRequest",
    "Interceptor",
    "SyncInterceptor",
)

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """One call of a tool, as interceptors see it.

    Raises:
        ValueError: A header is not one that HTTP can carry; the message has its name, not its value.

    Source: RFC 9110, section 5.5 (the characters of headers; ours are ASCII).

    """

    server: str
    """The server's key in the configuration."""
    tool: str
    """The server's own name for the tool, byte for byte."""
    exposed_name: str
    """The name that models see."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """As the model gave them. They are validated after the interceptors, before anything is sent."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """For the HTTP requests of this call, over the server's own; of no effect where no HTTP is used."""
    context: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the framework knows of the call; see the framework package. Empty for plain Python."""
    annotations: ToolAnnotations = field(default_factory=ToolAnnotations)
    """What the server says about the tool's behaviour; untrusted."""

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            if not _is_header(name, value):
                raise ValueError(f"the header {name!r} has a name or a value that HTTP cannot carry")

    def override(
        self,
        *,
        arguments: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> CallRequest:
        """Make a request for the same tool with other arguments or more headers.

        Args:
            arguments: All arguments; None keeps them.
            headers: Added to what is there; a name that is there, in whatever case, is replaced.

        """
        given = dict(headers or {})
        replaced = {name.lower() for name in given}
        kept = {name: value for name, value in self.headers.items() if name.lower() not in replaced}
        return replace(
            self,
            arguments=self.arguments if arguments is None else dict(arguments),
            headers={**kept, **given},
        )


def _is_header(name: object, value: object) -> bool:
    return (
        isinstance(name, str)
        and isinstance(value, str)
        and _HEADER_NAME.fullmatch(name) is not None
        and _HEADER_VALUE.fullmatch(value) is not None
    )


CallNext: TypeAlias = Callable[[CallRequest], ToolResult]
"""The rest of the way: makes the call and returns its result."""
AsyncCallNext: TypeAlias = Callable[[CallRequest], Awaitable[ToolResult]]
"""The rest of the way, to be awaited."""
SyncInterceptor: TypeAlias = Callable[[CallRequest, CallNext], ToolResult]
"""A function around a call; it may block."""
AsyncInterceptor: TypeAlias = Callable[[CallRequest, AsyncCallNext], Awaitable[ToolResult]]
"""The same with `async def`."""
Interceptor: TypeAlias = SyncInterceptor | AsyncInterceptor
"""A function, or an object with `__call__`; asynchronous when defined with `async def`."""
