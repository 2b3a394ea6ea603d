"""Where the installed real servers are, and how tests reach them.

In: what `scripts/install_servers.py` put into `.servers/`. Out: servers for a Toolbox, and one
process that serves over HTTP. A server that is not installed skips the test, and the reason says
how to get it.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcp_adapters import StdioServer

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVERS = Path(__file__).resolve().parent.parent / ".servers"


def everything() -> StdioServer:
    """The reference server that shows every feature; over stdio."""
    return _node("node", "everything")


def filesystem(root: Path) -> StdioServer:
    """Files below one folder."""
    return _node("node", "filesystem", str(root))


def memory(file: Path) -> StdioServer:
    """A graph of entities and observations, kept in one file."""
    return _node("node", "memory", env={"MEMORY_FILE_PATH": str(file)})


def gitlab() -> StdioServer:
    """GitLab's projects; nine tools, each with an input schema that says nothing.

    Its address is a port of this machine where nobody listens, so that no call leaves it.
    """
    env = {"GITLAB_PERSONAL_ACCESS_TOKEN": "none", "GITLAB_API_URL": "http://127.0.0.1:9"}
    return _node("node-gitlab", "gitlab", env=env)


def git(repository: Path) -> StdioServer:
    """One git repository."""
    return _python("mcp-server-git", "--repository", str(repository))


def clock() -> StdioServer:
    """The reference server `time`, for a machine whose own time zone is UTC."""
    return _python("mcp-server-time", "--local-timezone", "UTC")


def _node(folder: str, name: str, *args: str, env: dict[str, str] | None = None) -> StdioServer:
    script = (
        SERVERS / folder / "node_modules" / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    )
    return StdioServer(command=_node_command(script), args=[str(script), *args], env=env or {})


def _node_command(script: Path) -> str:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node was not found: install Node 20 or later with npm, then run `make servers`")
    _require(script)
    return node


def _python(package: str, *args: str) -> StdioServer:
    command = SERVERS / package / "bin" / package
    _require(command)
    return StdioServer(command=str(command), args=list(args))


def _require(file: Path) -> None:
    if not file.is_file():
        pytest.skip(f"{file.relative_to(SERVERS.parent)} is not installed: run `make servers`")


@contextmanager
def everything_over_http(*, patience_s: float = 60.0, port: int | None = None) -> Iterator[str]:
    """Run the reference server over streamable HTTP; its URL, until the block is left.

    On a free port, unless one is named.

    Raises:
        RuntimeError: The server ended by itself, or took no connection within `patience_s` seconds;
            the message holds what it printed.

    """
    server = everything()
    port = port or _free_port()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [server.command, *server.args, "streamableHttp"],
            env={**os.environ, "PORT": str(port)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            if not _accepts(port, process, patience_s=patience_s):
                output.seek(0)
                raise RuntimeError(f"no server on port {port}:\n{output.read().decode(errors='replace')}")
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            _end(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _accepts(port: int, process: subprocess.Popen[bytes], *, patience_s: float) -> bool:
    """Wait until the port takes connections; False when the process ends or time is up before."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
        except OSError:
            if _ended(process, within_s=0.05):
                return False
        else:
            return process.poll() is None
    return False


def _ended(process: subprocess.Popen[bytes], *, within_s: float) -> bool:
    try:
        process.wait(timeout=within_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    if not _ended(process, within_s=5.0):
        process.kill()
        process.wait()
