"""What travels with a call from the caller to the place where its request is sent.

In: what a caller sets around its calls. Out: the same values, seen on the background loop. Nothing
here is shared between callers: every call carries the context that it was made in.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar

__all__ = ("call_headers",)

call_headers: ContextVar[Mapping[str, str] | None] = ContextVar("mcp_adapters_call_headers", default=None)
"""HTTP headers for the calls made in this context; None for none. Other transports ignore them."""
