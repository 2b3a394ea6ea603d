"""A forward proxy on this machine's loopback address, small but real: it tunnels and it forwards.

Every name leads to 127.0.0.1, so that tests can use names that nobody else finds. It writes down what
it was asked, and may want a password.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

__all__ = ("Proxy", "proxy")


@dataclass
class Proxy:
    """One that is running."""

    port: int = 0
    password: str | None = None
    """What users must give, with any name; None lets everybody through."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """The method and the target of each request."""
    heads: list[str] = field(default_factory=list)
    """The first lines and the headers of each request."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await self._served(reader, writer)
        writer.close()

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, target, _ = head.split("\r\n", 1)[0].split(" ")
        self.asked.append((method, target))
        self.heads.append(head)
        if not self._lets_through(head):
            await reader.readexactly(_body_length(head))  # what is left unread would reset the connection
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
        there = urlsplit(target if "://" in target else f"//{target}")
        from_there, to_there = await asyncio.open_connection("127.0.0.1", there.port)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            # One request for each connection: the answer ends where the connection does.
            kept = [line for line in head.split("\r\n")[1:-2] if not line.lower().startswith("connection:")]
            place = there.path + (f"?{there.query}" if there.query else "")
            lines = [f"{method} {place} HTTP/1.1", *kept, "Connection: close", "", ""]
            to_there.write("\r\n".join(lines).encode("latin-1"))
        ways = [_carry(reader, to_there), _carry(from_there, writer)]
        await asyncio.gather(*ways, return_exceptions=True)

    def _lets_through(self, head: str) -> bool:
        if self.password is None:
            return True
        given = [
            line for line in head.split("\r\n") if line.lower().startswith("proxy-authorization: basic ")
        ]
        return bool(given) and base64.b64decode(given[0].split(" ")[2]).decode().endswith(f":{self.password}")


def _body_length(head: str) -> int:
    lengths = [line[15:] for line in head.lower().split("\r\n") if line.startswith("content-length:")]
    return int(lengths[0]) if lengths else 0


async def _carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Carry bytes one way until the way ends, then end the other side too."""
    try:
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    finally:
        target.close()


@contextmanager
def proxy(password: str | None = None) -> Iterator[Proxy]:
    """Run a proxy until the block is left."""
    running = Proxy(password=password)
    ready, over = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        server = await asyncio.start_server(running.serve, "127.0.0.1", 0)
        running.port = server.sockets[0].getsockname()[1]
        ready.set()
        await over.wait()
        server.close()

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    assert ready.wait(20)
    try:
        yield running
    finally:
        loops[0].call_soon_threadsafe(over.set)
        thread.join(20)
        assert not thread.is_alive()
