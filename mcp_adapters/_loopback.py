"""Where the browser comes back to after a login: a listener on this machine, for one answer.

In: an address, and the state that the answer must carry. Out: the parameters of the one answer that
carries it. It listens on 127.0.0.1 alone, answers nothing else, and is gone when the block is left.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from typing import Self
from urllib.parse import parse_qsl, urlsplit

__all__ = ("Loopback",)

_MOST_BYTES = 16 * 1024
_REQUEST_S = 10.0
_PATH = "/callback"
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>mcp-adapters</title>
<body style="font-family: sans-serif; margin: 4em"><h1>{title}</h1><p>{text}</p></body></html>"""


class Loopback:
    """Waits for one browser to come back; use it as `async with`.

    Args:
        uri: The address to listen on, `http://127.0.0.1:PORT/PATH`; None takes a free port.
        preferred_port: The port to take when `uri` is None and it is free.

    Raises:
        OSError: The port of `uri` is in use.

    """

    def __init__(self, *, uri: str | None = None, preferred_port: int | None = None) -> None:
        self._fixed = uri
        self._preferred = preferred_port
        self._path = (urlsplit(uri).path or "/") if uri else _PATH
        self._state: str | None = None
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[dict[str, str]]
        self.uri = uri or ""
        """Where the browser is to be sent back to."""

    async def __aenter__(self) -> Self:
        self._answer = asyncio.get_running_loop().create_future()
        fixed = urlsplit(self._fixed).port if self._fixed else None
        if fixed is None and self._preferred:
            with contextlib.suppress(OSError):
                self._server = await self._listen(self._preferred)
        if self._server is None:
            self._server = await self._listen(fixed or 0)
        if self._fixed is None:
            port = self._server.sockets[0].getsockname()[1]
            self.uri = f"http://127.0.0.1:{port}{self._path}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self._answer.cancel()

    async def _listen(self, port: int) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", port, limit=_MOST_BYTES)

    def expect(self, state: str) -> None:
        """Take the answer that carries this state, and no other."""
        self._state = state

    async def answer(self, timeout: float) -> dict[str, str]:
        """The parameters of the answer.

        Args:
            timeout: Seconds to wait.

        Raises:
            TimeoutError: Nobody came back in time.

        """
        async with asyncio.timeout(timeout):
            return await asyncio.shield(self._answer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(
                TimeoutError, OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError
            ):
                async with asyncio.timeout(_REQUEST_S):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._reply(head.decode("latin-1").split("\r\n", 1)[0]))
                    await writer.drain()
        finally:
            writer.close()

    def _reply(self, request_line: str) -> bytes:
        method, _, rest = request_line.partition(" ")
        parts = urlsplit(rest.partition(" ")[0])
        if method != "GET" or parts.path != self._path:
            return _page("404 Not Found", "Nothing here", "This address waits for the end of a login.")
        given = dict(parse_qsl(parts.query))
        if self._state is None or not hmac.compare_digest(
            given.get("state", "").encode(), self._state.encode()
        ):
            return _page(
                "400 Bad Request", "Not this login", "The answer belongs to no login that is waited for."
            )
        if self._answer.done():
            return _page("400 Bad Request", "Already done", "This login has its answer.")
        self._answer.set_result(given)
        if "error" in given:
            return _page(
                "200 OK", "The login failed", "You can close this window; the program knows the reason."
            )
        return _page("200 OK", "You are signed in", "You can close this window and go back to the program.")


def _page(status: str, title: str, text: str) -> bytes:
    body = _PAGE.format(title=title, text=text).encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Connection: close\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n\r\n"
    )
    return head.encode() + body
