"""What an HTTP response, or the exception instead of one, means for the message that was sent.

In: responses and exceptions of `httpx2` and of authentication objects. Out: a `Fault`, or None for a
response that the SDK's transports should see. Nothing here sends.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from mcp_adapters._faults import Fault, FaultError

__all__ = ("failure_of", "verdict")

_SESSION = "mcp-session-id"
_MOST_WORDS = 300
"""Characters of a server's own words that go into a message."""
_PROXY_HINT = (
    "; the proxy wants a user and password, which go into its address: http://user:password@host:port"
)
_NEVER_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)


def failure_of(error: Exception, *, advice: str, authenticates: bool, in_session: bool) -> Fault:
    """The fault that an exception stands for.

    Args:
        error: What sending raised.
        advice: What to do about credentials.
        authenticates: Whether an authentication object had a part in it, which may raise anything.
        in_session: Whether the request belonged to a session of the handshake versions; when nobody
            listens any more, such a session is gone with its server.

    """
    words = str(error) or type(error).__name__
    match error:
        case FaultError(fault=fault):
            return fault
        case httpx2.TransportError() if isinstance(error, _NEVER_SENT):
            return Fault(kind="unreachable", detail=f"{words}{_hint(words)}", ends=in_session, cause=error)
        case httpx2.HTTPError() | httpx2.StreamError():
            return Fault(kind="broken", detail=words, cause=error)
    if not authenticates:
        # Such as a guard in somebody's tests that lets nothing out of the process.
        cause = _first(error)
        return Fault(kind="broken", detail=f"{type(cause).__name__} was raised", cause=cause)
    return Fault(
        kind="auth",
        detail=f"got no credentials to show: {type(error).__name__} was raised; {advice}",
        cause=error,
    )


def _first(error: Exception) -> Exception:
    """The error inside of groups, into which trying several addresses puts it."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _hint(words: str) -> str:
    """What to do about a connection that did not come about, where that is known."""
    if "CERTIFICATE" in words:
        return "; a certificate of your own goes into SSL_CERT_FILE"
    return _PROXY_HINT if words.startswith("407") else ""


async def verdict(
    request: httpx2.Request,
    response: httpx2.Response,
    *,
    advice: str,
    redact: Callable[[str], str],
    shown: Callable[[httpx2.URL], str],
) -> Fault | None:
    """The fault that a response stands for; None when the transports should see it.

    Args:
        request: What was sent.
        response: What came back; its body is read when it is needed.
        advice: What to do about refused credentials.
        redact: Takes secrets out of a server's words.
        shown: An address without its secrets.

    Source: MCP 2025-11-25, basic/transports, "Session Management"; MCP 2026-07-28, basic/transports.

    """
    status = response.status_code
    if response.has_redirect_location:
        return _redirected(request, response, shown)
    if status < 400:
        return None
    await response.aread()
    told, is_rpc = _words(response)
    words = f": {redact(told)}" if told else ""
    if status in (401, 403):
        return Fault(kind="auth", status=status, detail=_refusal(response, words, advice))
    if _SESSION in request.headers and (status == 404 or (status == 400 and "session" in told.lower())):
        return Fault(
            kind="session",
            status=status,
            ends=True,
            detail=f"the server no longer knows the session (HTTP {status}{words}); "
            "the next use begins a new one",
        )
    if is_rpc and status < 500 and status != 429:
        return None
    return Fault(
        kind="status",
        status=status,
        retry_after=_retry_after(response),
        detail=f"HTTP {status} {response.reason_phrase}{words}{_way_out(response)}",
    )


def _redirected(
    request: httpx2.Request, response: httpx2.Response, shown: Callable[[httpx2.URL], str]
) -> Fault | None:
    """A redirect that keeps the origin and the method is the transport's to follow."""
    status, following = response.status_code, response.next_request
    if following is None:
        return Fault(kind="status", status=status, detail=f"HTTP {status} leads to no usable address")
    target, sent = following.url, request.url
    same = (target.scheme, target.host, target.port) == (sent.scheme, sent.host, sent.port)
    if same and following.method == request.method and not target.userinfo:
        return None
    return Fault(
        kind="status",
        status=status,
        detail=f"HTTP {status} redirects to {shown(target)}, which was not followed; use that address "
        "if it is the intended server",
    )


def _words(response: httpx2.Response) -> tuple[str, bool]:
    """What a server says about its refusal, and whether it says it as a JSON-RPC error."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/plain":
        return _cut(response.text), False
    with suppress(ValueError):
        body: Any = json.loads(response.content) if kind.endswith("json") else None
        if isinstance(body, dict):
            error = body.get("error")
            if isinstance(error, dict) and isinstance(error.get("message"), str):
                return _cut(error["message"]), "jsonrpc" in body
            found = (body.get(name) for name in ("error_description", "detail", "message", "error"))
            return _cut(next((text for text in found if isinstance(text, str)), "")), False
    return "", False


def _cut(text: str) -> str:
    return " ".join(text.split())[:_MOST_WORDS]


def _refusal(response: httpx2.Response, words: str, advice: str) -> str:
    challenge = ", ".join(response.headers.get_list("www-authenticate"))
    if response.status_code == 401:
        return f"refused the credentials (HTTP 401{words}); {advice}"
    wanted = re.search(r'scope="([^"]*)"', challenge)
    scopes = f"; it wants the scopes {_cut(wanted[1])!r}" if wanted else ""
    return f"does not allow this (HTTP 403{words}){scopes}; the credentials lack a right, or {advice}"


def _retry_after(response: httpx2.Response) -> float | None:
    """Seconds to wait from now on; None when the server does not say.

    A date counts from the moment that the server itself takes for now, where it says so: clocks differ.

    Source: RFC 9110, section 10.2.3.
    """
    value = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    if (date := _timestamp(value)) is None:
        return None
    now = _timestamp(response.headers.get("date", ""))
    return max(0.0, date - (time.time() if now is None else now))


def _timestamp(date: str) -> float | None:
    """The seconds that one of HTTP's three forms of a date stands for; all of them are in UTC.

    Source: RFC 9110, section 5.6.7.
    """
    try:
        parsed: datetime = parsedate_to_datetime(date)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _way_out(response: httpx2.Response) -> str:
    status = response.status_code
    if (after := _retry_after(response)) is not None:
        return f"; it asks to wait {after:g} s"
    if status in (404, 405):
        return "; is the address right? A server of the older SSE kind needs type 'sse'"
    if status == 407:
        return _PROXY_HINT
    return "; it has too much to do, try later" if status in (429, 503) else ""
