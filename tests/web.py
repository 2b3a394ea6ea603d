"""Real servers on this machine's loopback address: the SDK's own, behind a front that tests can command.

`Web` runs an application with uvicorn in a thread. Its front writes down what every request brought
along, and may answer in the application's place. It can be stopped and started again on its port.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from starlette.responses import Response

from mcp_adapters.config import ProtocolChoice

ERAS: tuple[ProtocolChoice, ...] = ("legacy", "2026-07-28")


@dataclass(frozen=True)
class Seen:
    """One HTTP request as it arrived."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]

    @property
    def rpc(self) -> str | None:
        """The modern protocol says in a header what a message is."""
        return self.headers.get("mcp-method")


Script = Callable[[Seen], Response | None]


@dataclass
class Front:
    """What stands before the application."""

    app: Any
    seen: list[Seen] = field(default_factory=list)
    script: Script = lambda _: None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # A proxy is sent the whole address.
        path = "/" + scope["path"].split("/", 3)[3] if scope["path"].startswith("http://") else scope["path"]
        scope = {**scope, "path": path, "raw_path": path.encode()}
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        query = parse_qs(scope["query_string"].decode())
        seen = Seen(scope["method"], scope["path"], query, headers)
        self.seen.append(seen)
        await (self.script(seen) or self.app)(scope, receive, send)


class Web:
    """A server on a port of 127.0.0.1; use it with `with`.

    Args:
        make_app: Gets the server's address, gives the application.
        certificate: A file with a key and certificates: the server then speaks TLS.
        host: The name in the address; a test that uses another one sees to its being found.
        port: The port; 0 takes a free one.

    """

    def __init__(
        self,
        make_app: Callable[[str], Any],
        *,
        certificate: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self._make_app = make_app
        self._certificate = certificate
        self._socket: socket.socket | None = None
        self._bind(port)
        self.url = f"{'https' if certificate else 'http'}://{host}:{self.port}"
        self.front = Front(make_app(self.url))
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def _bind(self, port: int) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        # From here on connections wait in the queue: no test has to wait for a start.
        self._socket.listen(128)
        self.port: int = self._socket.getsockname()[1]

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp"

    @property
    def seen(self) -> list[Seen]:
        return self.front.seen

    def posts(self, path: str = "/mcp") -> list[Seen]:
        return [seen for seen in self.seen if seen.method == "POST" and seen.path == path]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Serve, on the port that it had before."""
        if self._socket is None:
            self._bind(self.port)
            self.front.app = self._make_app(self.url)
        config = uvicorn.Config(
            self.front,
            log_level="critical",
            lifespan="on",
            ws="none",
            date_header=False,
            timeout_graceful_shutdown=1,
            ssl_certfile=self._certificate,
        )
        self._server = uvicorn.Server(config)
        sockets = [self._socket]
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": sockets}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take no connections any more and drop those that are there."""
        if self._server is None or self._thread is None or self._socket is None:
            return
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()
        self._socket.close()
        self._server = self._thread = self._socket = None
        with warnings.catch_warnings():
            # The SDK's SSE server leaves streams open when it is cut off.
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


class Gate:
    """Lets calls pass only together: whoever comes waits until `wanted` are inside at once."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.inside, self.most = wanted, 0, 0
        self._open = asyncio.Event()
        self._entered = threading.Event()

    async def somebody_is_inside(self) -> None:
        """For another thread and loop than the server's."""
        assert await asyncio.to_thread(self._entered.wait, 20)

    async def pass_through(self) -> None:
        self.inside += 1
        self._entered.set()
        self.most = max(self.most, self.inside)
        if self.inside >= self.wanted:
            self._open.set()
        try:
            await self._open.wait()
        finally:
            self.inside -= 1


def tools_server(gate: Gate | None = None, **options: Any) -> MCPServer:
    """A server of the SDK whose tools tell what they were called with."""
    server = MCPServer("web", log_level="CRITICAL", **options)

    @server.tool(structured_output=False)
    async def echo(text: str) -> str:
        """Say it again."""
        return text

    @server.tool(structured_output=False)
    async def header(name: str, ctx: Context) -> str:
        """Tell what came in a header of this call."""
        return (ctx.headers or {}).get(name, "nothing")

    @server.tool(structured_output=False)
    async def meet(name: str, ctx: Context) -> str:
        """Wait for the others, then tell what came in a header of this call."""
        assert gate is not None
        await gate.pass_through()
        return (ctx.headers or {}).get(name, "nothing")

    @server.tool(structured_output=False)
    async def wait() -> str:
        """Wait until the call is cancelled or the server ends."""
        await anyio.sleep_forever()
        raise AssertionError

    return server


def tools_app(gate: Gate | None = None, **options: Any) -> Callable[[str], Any]:
    return lambda _: tools_server(gate).streamable_http_app(**options)
