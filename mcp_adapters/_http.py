"""The HTTP client of one server: its failures stay with the request that they hit.

In: a server's address, headers and authentication, and the requests of the SDK's transports. Out:
responses; where there is none to be had, a stand-in that carries the reason to whoever asked, since an
exception would end the SDK's transport and every other call with it. Requests go to the configured
origin alone, and no address with its query gets into a log.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import anyio
import httpx2

from mcp_adapters._context import call_headers
from mcp_adapters._faults import Fault, FaultError, sealed
from mcp_adapters._tls import tls_context
from mcp_adapters._verdicts import failure_of, verdict
from mcp_adapters.config import (
    ApiKeyAuth,
    BasicAuth,
    BearerAuth,
    HttpServer,
    SseServer,
    reserved_headers,
)

__all__ = ("Deliver", "ServerClient", "bare_address")

Deliver = Callable[[dict[str, Any]], None]
"""Hands a JSON-RPC answer to the session beside the server's own stream."""

_CONNECT_S = 30.0
"""Limit for opening and writing; answers are bounded by the call."""
_SESSION = "mcp-session-id"
_RESERVED = re.compile(
    r"host|accept|connection|content-(length|type)|transfer-encoding|last-event-id|mcp-.*", re.IGNORECASE
)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_ONE_HEADER = (ApiKeyAuth, BasicAuth, BearerAuth)
"""Forms of authentication that put a header on a request and never fail."""
_ABOUT_THE_REQUEST = re.compile(r".*(trace|span|baggage|correlation|request-id|idempotency).*", re.IGNORECASE)
"""Headers that say nothing about who asks."""


class _Discreet(httpx2.URL):
    """An address that shows itself in logs and errors without its query."""

    def __str__(self) -> str:
        return str(httpx2.URL(self, query=None))


class ServerClient(httpx2.AsyncClient):
    """The HTTP client for one life of the connection to one server.

    Args:
        server: Where to, and with which headers.
        auth: Shows who asks; None shows nothing.
        advice: What to do when the credentials are refused: the end of a sentence.
        deliver: How a failed message is answered when the answers do not come with the response (the
            SSE transport); None answers in the response.

    """

    def __init__(
        self,
        server: HttpServer | SseServer,
        *,
        auth: httpx2.Auth | None,
        advice: str,
        deliver: Deliver | None = None,
    ) -> None:
        address = httpx2.URL(server.url)
        self._address = httpx2.URL(address, userinfo=b"", fragment=None)
        self._server = server
        self._advice = advice
        self._authenticates = auth is not None and not isinstance(server.auth, _ONE_HEADER)
        self._deliver = deliver
        self._reserved = reserved_headers(server.auth)
        self._principal: Mapping[str, str] | None = None
        super().__init__(
            headers=server.plain_headers(),
            auth=_shown_by_address(address) if auth is None else auth,
            timeout=httpx2.Timeout(_CONNECT_S, read=server.read_timeout),
            # Calls wait at the server, never in a queue of ours that would time out.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
            verify=tls_context(),
        )

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Send a request of the SDK's transports; see the module for what comes back."""
        try:
            if self.is_closed:
                raise httpx2.ConnectError("the connection was closed")
            await self._prepare(request)
            response = await super().send(request, stream=True, **{**options, "follow_redirects": False})
            try:
                fault = await self._judged(request, response, stream=stream)
            except BaseException:
                await response.aclose()
                raise
        except Exception as error:  # noqa: BLE001 - also what the user's own objects raise
            fault = failure_of(
                error,
                advice=self._advice,
                authenticates=self._authenticates,
                in_session=_SESSION in request.headers,
            )
        if fault is None:
            return response
        return self._stand_in(request, fault)

    # -- before -------------------------------------------------------------------------------

    async def _prepare(self, request: httpx2.Request) -> None:
        if _origin(request.url) != _origin(self._address):
            detail = f"the server wants messages sent to {_shown(request.url)}, which is another origin"
            raise FaultError(Fault(kind="status", detail=f"{detail}; they were not sent"))
        query = request.url.query
        if request.url.path == self._address.path and not query:
            query = self._address.query
        request.url = _Discreet(request.url, query=query or None)
        extra = await self._call_headers()
        self._check_principal(request, extra)
        request.headers.update(extra)

    async def _call_headers(self) -> dict[str, str]:
        """What this call adds, by the server's provider and by the context; the context wins."""
        provided: Any = {}
        if (provider := self._server.headers_provider) is not None:
            try:
                provided = await _called(provider)
            except Exception as error:
                raise _bad_headers(f"its headers_provider raised {type(error).__name__}", error) from error
        extra: dict[Any, Any] = {}
        for source in (provided, call_headers.get()):
            if source is not None and not isinstance(source, Mapping):
                raise _bad_headers("the headers for a call must be a mapping")
            extra.update(source or {})
        for name, value in extra.items():
            if not (isinstance(name, str) and _NAME.fullmatch(name)):
                raise _bad_headers(f"{name!r} cannot be the name of a header")
            if not (isinstance(value, str) and value.isascii() and value.isprintable()):
                raise _bad_headers(f"the header {name!r} for a call must be a line of ASCII text")
            if _RESERVED.fullmatch(name) or name.lower() in self._reserved:
                raise _bad_headers(f"the header {name!r} is not for single calls; leave it out")
        return extra

    def _check_principal(self, request: httpx2.Request, extra: Mapping[str, str]) -> None:
        """Let nobody speak in a session that somebody else opened.

        Servers may look at the credentials of a session's first message alone.
        """
        who = {name.lower(): value for name, value in extra.items() if not _ABOUT_THE_REQUEST.fullmatch(name)}
        opens = request.method == "GET" if self._deliver else _SESSION not in request.headers
        if opens:
            self._principal = who
        elif who != self._principal:
            raise FaultError(
                Fault(
                    kind="principal",
                    detail="the session belongs to whoever opened it, and this call has other headers; "
                    "nothing was sent. Use a toolbox for each user, or 'auth' for tokens that change",
                )
            )

    # -- after --------------------------------------------------------------------------------

    async def _judged(
        self, request: httpx2.Request, response: httpx2.Response, *, stream: bool
    ) -> Fault | None:
        if request.method != "POST" and (self._deliver is None or request.method != "GET"):
            fault = _over(request, response)
        else:
            fault = await verdict(
                request, response, advice=self._advice, redact=self._server.redact, shown=_shown
            )
        is_json = response.headers.get("content-type", "").lower().startswith("application/json")
        if fault is not None:
            await response.aclose()
        elif is_json or not stream:
            # Here, where a broken connection hits nobody else.
            await response.aread()
        return fault

    def _stand_in(self, request: httpx2.Request, fault: Fault) -> httpx2.Response:
        if request.method == "DELETE":
            return httpx2.Response(405, request=request)
        if request.method != "POST":
            raise FaultError(fault)
        answer = {"jsonrpc": "2.0", "id": None, "error": sealed(fault)}
        if self._deliver is None:
            return httpx2.Response(503, json=answer, request=request)
        number = _request_id(request)
        if number is not None:
            self._deliver({**answer, "id": number})
        return httpx2.Response(202, request=request)


def bare_address(url: str) -> str:
    """An address without user, query and fragment: what the SDK gets, which logs it."""
    return _shown(httpx2.URL(url))


def _over(request: httpx2.Request, response: httpx2.Response) -> Fault | None:
    """A session that the server no longer knows needs no ending, and nobody needs to hear of it."""
    if request.method == "DELETE" and response.status_code == 404:
        return Fault(kind="session", status=404, detail="the session had ended already")
    return None


def _shown_by_address(address: httpx2.URL) -> httpx2.Auth | None:
    return httpx2.BasicAuth(address.username, address.password) if address.userinfo else None


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _shown(url: httpx2.URL) -> str:
    """An address for messages: no user, no query."""
    return str(httpx2.URL(url, userinfo=b"", query=None, fragment=None))


def _request_id(request: httpx2.Request) -> Any:
    with suppress(ValueError):
        message = json.loads(request.content)
        if isinstance(message, dict) and "method" in message:
            return message.get("id")
    return None


def _bad_headers(detail: str, cause: BaseException | None = None) -> FaultError:
    return FaultError(Fault(kind="headers", detail=detail, cause=cause))


async def _called(provider: Callable[[], Any]) -> Any:
    """What a user's function gives, without letting it stop the loop."""
    if inspect.iscoroutinefunction(provider):
        return await provider()
    given = await anyio.to_thread.run_sync(provider)
    return await given if inspect.isawaitable(given) else given
