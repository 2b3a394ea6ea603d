"""A small MCP server over HTTP, for tests: it says what it was sent, headers included."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Seen:
    """The requests that the server got: method of the protocol, and headers with lower-case names."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        """With any other, every request is refused with it."""
        self.requests: list[tuple[str, dict[str, str]]] = []

    def headers(self, method: str, name: str) -> list[str | None]:
        """What each request of a method had in one header, in order."""
        return [headers.get(name) for seen, headers in self.requests if seen == method]


@contextmanager
def http_server(tools: list[dict[str, Any]], *, status: int = 200) -> Iterator[Seen]:
    """Serve tools that echo their arguments, over the years' handshake."""
    seen = Seen()
    seen.status = status

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen.requests.append((message.get("method", ""), headers))
            if seen.status != 200:
                self._reply(seen.status, None)
            elif "id" not in message:
                self._reply(202, None)
            else:
                self._reply(200, {"jsonrpc": "2.0", "id": message["id"], **_answer(message, tools)})

        def do_GET(self) -> None:
            self._reply(405, None)

        do_DELETE = do_GET

        def _reply(self, code: int, body: Any) -> None:
            text = b"" if body is None else json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    seen.url = f"http://127.0.0.1:{server.server_port}/mcp"
    try:
        yield seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(message: dict[str, Any], tools: list[dict[str, Any]]) -> dict[str, Any]:
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        return {
            "result": {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "http", "version": "1"},
            }
        }
    if method == "tools/list":
        return {"result": {"tools": tools}}
    if method == "tools/call":
        return {"result": {"content": [{"type": "text", "text": json.dumps(params.get("arguments") or {})}]}}
    return {"error": {"code": -32601, "message": f"Method not found: {method}"}}
