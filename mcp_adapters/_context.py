"""What belongs to one call and reaches the place where its HTTP request is made.

In: the headers of a call. Out: a context variable, which the SDK carries along with each message
from the task that sends it to the task that makes the HTTP request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import httpx2

__all__ = ("add_call_headers", "call_headers", "sending")

call_headers: ContextVar[Mapping[str, str] | None] = ContextVar("mcp_adapters_call_headers", default=None)
"""Headers for the HTTP requests of the call that is being sent; None for none."""


@contextmanager
def sending(headers: Mapping[str, str] | None) -> Iterator[None]:
    """Give the messages that are sent inside the block these headers.

    A connection must not be made inside: it would keep one call's headers for all.
    """
    token = call_headers.set(headers or None)
    try:
        yield
    finally:
        call_headers.reset(token)


async def add_call_headers(request: httpx2.Request) -> None:
    """Put the call's headers into an HTTP request, over those that are there; a hook of the client."""
    request.headers.update(call_headers.get() or {})
