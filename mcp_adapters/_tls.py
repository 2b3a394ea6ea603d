"""The one TLS context of the process.

In: the environment at first use (`SSL_CERT_FILE`, `SSL_CERT_DIR`; else the system's certificates).
Out: a context that verifies. There is no way to switch verification off.
"""

from __future__ import annotations

import functools
import ssl

import httpx2

__all__ = ("plain_client", "tls_context")

_PATIENCE_S = 30.0


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Made once and shared: it costs more than everything else about a new connection."""
    return httpx2.create_ssl_context()


def plain_client() -> httpx2.AsyncClient:
    """A client for requests that are no MCP messages, such as those of a login; proxies by environment."""
    return httpx2.AsyncClient(verify=tls_context(), timeout=_PATIENCE_S)
