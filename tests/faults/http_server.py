"""A fault server over streamable HTTP: `python -S -E http_server.py SCRIPT.json [PORT]`.

It writes the port that it listens on to its standard output, as soon as it listens. A legacy server
gives a session at `initialize` and answers 404 to sessions that it does not know, so a new process
knows none. Every request is answered in a thread of its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import socket
import struct
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer

from protocol import Json, Server, Step


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, faults: Server, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.faults = faults
        self.sessions: set[str] = set()

    def server_bind(self) -> None:
        # The base class asks for the host's full name, which can take long and is of no use.
        TCPServer.server_bind(self)

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients hang up on purpose here."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener
    _message: Json
    _streaming = False
    """Whether the head of an event stream has been sent for this request."""
    _answered = False
    """Whether a whole body has been sent for this request; HTTP has no place for a second one."""

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._status(405)

    def do_DELETE(self) -> None:
        self.server.sessions.discard(self.headers.get("Mcp-Session-Id", ""))
        self.server.faults.record("delete")
        self._status(200)

    def do_POST(self) -> None:
        faults = self.server.faults
        message = self._message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._streaming = self._answered = False
        if not self._knows_session():
            faults.record("rejected", method=message.get("method"), id=message.get("id"))
            return self._status(404)
        faults.receive(message, session=self.headers.get("Mcp-Session-Id"))
        if "id" not in message or "method" not in message:
            return self._status(202)
        for step in faults.steps(message):
            if not self._perform(step):
                self.close_connection = True
                return None
        if self._streaming:
            self._chunk(b"")
        return None

    def _knows_session(self) -> bool:
        if self.server.faults.modern or self._message.get("method") in ("initialize", "server/discover"):
            return True
        return self.headers.get("Mcp-Session-Id") in self.server.sessions

    def _perform(self, step: Step) -> bool:
        """Carry out one step; False when the connection is of no more use."""
        match step:
            case ("send", message):
                self._send(message)
            case ("raw", data):
                return self._raw(data)
            case ("wait", until):
                self._wait(until)
            case ("exit", code):
                os._exit(code)
            case ("kill",):
                os.kill(os.getpid(), signal.SIGKILL)
            case ("status", status):
                self._status(status)
            case (verb,):
                return bool(getattr(self, f"_{verb}")())
            case _:
                raise ValueError(f"HTTP cannot do {step!r}")
        return True

    def _html(self) -> bool:
        self._body(b"<html>Please log in.</html>", "text/html")
        return True

    def _comment(self) -> bool:
        """Begin a stream that says nothing yet."""
        self._begin_stream()
        self._chunk(b": the answer is on its way\n\n")
        return True

    def _hang_up(self) -> bool:
        self.connection.shutdown(socket.SHUT_RDWR)
        return False

    def _reset(self) -> bool:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # The file over the socket must go first, or closing it closes nothing.
        self.rfile.close()
        self.connection.close()
        self.wfile = io.BytesIO()
        return False

    def _lose_session(self) -> bool:
        self.server.sessions.clear()
        return True

    def _stop_listening(self) -> bool:
        self.server.shutdown()
        self.server.socket.close()
        return True

    def _wait(self, until: object) -> None:
        """Wait, and see whether the client hangs up meanwhile."""
        if not isinstance(until, int | float):
            threading.Thread(target=self._watch, daemon=True).start()
        self.server.faults.wait(until)

    def _watch(self) -> None:
        with contextlib.suppress(OSError):
            gone = not self.connection.recv(1, socket.MSG_PEEK)
            if gone:
                self.server.faults.aborted(self._message)

    def _send(self, message: Json) -> None:
        if "result" not in message and "error" not in message:
            self._begin_stream()
        if self.server.faults.script.get("answers") == "sse" or self._streaming:
            self._begin_stream()
            self._chunk(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")
        elif not self._answered:
            self._body(json.dumps(message).encode(), "application/json", self._new_session())

    def _raw(self, data: bytes) -> bool:
        """Send bytes as an event of their own, in front of the answer, or as the whole body."""
        if self.server.faults.script.get("answers") == "sse":
            self._begin_stream()
            self._chunk(b"event: message\ndata: " + data.replace(b"\n", b" ") + b"\n\n")
            return True
        self._body(data, "application/json")
        return False

    def _new_session(self) -> dict[str, str]:
        if self._message.get("method") != "initialize" or self.server.faults.modern:
            return {}
        session = uuid.uuid4().hex
        self.server.sessions.add(session)
        return {"Mcp-Session-Id": session}

    def _begin_stream(self) -> None:
        if not self._streaming:
            self._streaming = True
            self._head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, **(self._new_session() if self._streaming else {})}.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _body(self, data: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self._answered = True
        self._head(200, {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})})
        self.wfile.write(data)

    def _status(self, status: int) -> None:
        extra = {"Retry-After": "0"} if status in (429, 503) else {}
        self._head(status, {"Content-Length": "0", **extra})


def main() -> None:
    faults = Server(sys.argv[1])
    listener = Listener(faults, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(listener.server_address[1], flush=True)
    listener.serve_forever(poll_interval=0.02)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
