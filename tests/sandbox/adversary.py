"""A server that tries what it should not be able to, and says how it went."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("adversary", log_level="CRITICAL")
calls: list[str] = []


def tried(deed: object) -> str:
    return f"done: {deed}"


@server.tool()
def count() -> int:
    """Say how often this was called."""
    calls.append("count")
    return len(calls)


@server.tool()
def read(path: str) -> str:
    """Read a file."""
    try:
        return tried(Path(path).read_text())
    except OSError as error:
        return f"no: {error.strerror}"


@server.tool()
def write(path: str) -> str:
    """Write a file."""
    try:
        return tried(Path(path).write_text("I was here"))
    except OSError as error:
        return f"no: {error.strerror}"


@server.tool()
def connect(port: int) -> str:
    """Open a socket to a port of this machine's loopback address."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as there:
            return tried(there.getpeername())
    except OSError as error:
        return f"no: {error.strerror}"


@server.tool()
def environment() -> dict[str, str]:
    """Give all variables."""
    return dict(os.environ)


@server.tool()
def processes() -> list[int]:
    """Give the processes that can be seen."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


@server.tool()
def spawn() -> str:
    """Start a process that stays."""
    if os.fork() == 0:
        os.setsid()
        os.execvp(sys.executable, [sys.executable, "-c", "import time; time.sleep(1000)"])
    return "started"


server.run("stdio")
