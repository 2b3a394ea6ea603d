"""What travels with a call from the caller to the place where its request is sent.

In: what a caller sets around its calls. Out: the same values, seen on the background loop. Nothing
here is shared between callers: every call carries the context that it was made in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ("call_headers", "mirrored_headers", "mirroring", "sending")

call_headers: ContextVar[Mapping[str, str] | None] = ContextVar("mcp_adapters_call_headers", default=None)
"""HTTP headers for the calls made in this context; None for none. Other transports ignore them."""

mirrored_headers: ContextVar[Mapping[str, str]] = ContextVar("mcp_adapters_mirrored_headers", default={})  # noqa: B039 - never changed
"""HTTP headers that repeat arguments of the call; see `_mirrors`."""


@contextmanager
def sending(headers: Mapping[str, str] | None) -> Iterator[None]:
    """Give the messages that are sent inside the block these headers, over those of the context.

    A connection must not be made inside: it would keep one call's headers for all.
    """
    if not headers:
        yield
        return
    token = call_headers.set({**(call_headers.get() or {}), **headers})
    try:
        yield
    finally:
        call_headers.reset(token)


@contextmanager
def mirroring(headers: Mapping[str, str]) -> Iterator[None]:
    """Give the call that is sent inside the block headers that repeat its arguments."""
    token = mirrored_headers.set(headers)
    try:
        yield
    finally:
        mirrored_headers.reset(token)
