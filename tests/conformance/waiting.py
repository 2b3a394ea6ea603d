"""The client of the conformance suite, imported once and forked for each scenario.

The suite runs its client's command anew for each scenario, and most of a scenario's time would go into
imports. `python waiting.py SOCKET` imports the client, prints "ready" and waits until it is terminated;
`python -SE waiting.py SOCKET URL`, which is quick, has a fork of it be the client for that server, with
the scenario of its own environment, and ends as the client would.
"""

from __future__ import annotations

import json
import os
import socket
import sys

__all__ = ()

_SILENT = '{"code": 1, "words": "the client ended without a word"}'


def wait(place: str) -> None:
    """Listen on a socket with this path, and be a client for everybody who asks."""
    import contextlib
    import io
    import socketserver

    import client

    class Asked(socketserver.StreamRequestHandler):
        """One request; it is handled in a process of its own, which then ends."""

        def handle(self) -> None:
            asked = json.loads(self.rfile.readline())
            os.environ.update(asked["environment"])
            words = io.StringIO()
            with contextlib.redirect_stderr(words):
                code = client.run(asked["url"])
            self.wfile.write(json.dumps({"code": code, "words": words.getvalue()}).encode())

    class Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
        """Forks for each request."""

    with Server(place, Asked) as server:
        print("ready", flush=True)
        server.serve_forever()


def ask(place: str, url: str) -> int:
    """Have the one that waits be the client for a server; the exit code."""
    environment = {name: value for name, value in os.environ.items() if name.startswith("MCP_CONFORMANCE_")}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place)
        connection.sendall(json.dumps({"url": url, "environment": environment}).encode() + b"\n")
        with connection.makefile() as answer:
            said = json.loads(answer.read() or _SILENT)
    print(said["words"], file=sys.stderr)
    code: int = said["code"]
    return code


if __name__ == "__main__":
    if len(sys.argv) == 2:
        wait(sys.argv[1])
    else:
        sys.exit(ask(*sys.argv[1:]))
