"""`mcp-adapters doctor`: why a server does not start.

In: servers. Out: one step after another for each, with its time in seconds and what was found: the
sandbox, the program, its version, the environment by name, the network, the two ways to begin, the
tools. Values of variables and headers are never shown.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mcp_adapters import Container, HttpServer, McpAdaptersError, SseServer, StdioServer, Toolbox

from .screen import Screen
from .texts import line

__all__ = ("Step", "examine", "show")

_RUNTIMES = frozenset({"bun", "deno", "docker", "node", "npx", "podman", "python", "python3", "uv", "uvx"})
"""Programs whose `--version` says a version and does nothing else."""
_VERSION_S = 20.0
_REACH_S = 10.0
_ADVICE = {
    "npx": "npx comes with Node.js: install it, and open a new terminal",
    "node": "install Node.js, and open a new terminal",
    "uvx": "uvx comes with uv: pip install uv",
    "uv": "pip install uv",
    "bwrap": "install the package 'bubblewrap'",
    "docker": "install Docker, or use podman",
    "podman": "install Podman, or use docker",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that was looked at."""

    server: str
    name: str
    ok: bool
    seconds: float
    found: str


def examine(servers: Mapping[str, Any], *, timeout: float) -> Iterator[Step]:
    """Look at each server, one step after the other; stops at a server's first step that fails.

    Args:
        servers: As `load_servers` gives them.
        timeout: Seconds for a server to start and to answer.

    """
    for key, server in servers.items():
        for name, look in _looks(key, server, timeout):
            began = time.monotonic()
            ok, found = look()
            yield Step(server=key, name=name, ok=ok, seconds=time.monotonic() - began, found=found)
            if not ok and not name.startswith("handshake"):
                break


def _looks(key: str, server: Any, timeout: float) -> Iterator[tuple[str, Callable[[], tuple[bool, str]]]]:
    if isinstance(server, StdioServer):
        if server.sandbox is not None:
            yield "sandbox", lambda: _sandbox(server)
        if not isinstance(
            server.sandbox, Container
        ):  # the programs of an image are not those of this machine
            yield "command", lambda: _command(server)
            yield "version", lambda: _version(server)
        yield "environment", lambda: _environment(server)
        yield "folder", lambda: _folder(server)
    elif isinstance(server, HttpServer | SseServer):
        yield "network", lambda: _network(server)
    yield "handshake 2026-07-28", lambda: _handshake(key, server, "2026-07-28", timeout)
    yield "handshake before 2026", lambda: _handshake(key, server, "legacy", timeout)
    yield "tools", lambda: _handshake(key, server, "auto", timeout)


def _sandbox(server: StdioServer) -> tuple[bool, str]:
    sandbox = server.sandbox
    assert sandbox is not None
    path = shutil.which(sandbox.executable)
    if path is None:
        return False, f"{sandbox.executable!r} was not found; {_ADVICE.get(sandbox.executable, 'install it')}"
    places = f"reads {len(sandbox.read)} further places, writes {len(sandbox.write)}"
    return True, f"{path}, {places}, network: {'yes' if sandbox.network else 'no'}"


def _command(server: StdioServer) -> tuple[bool, str]:
    path = shutil.which(server.command, path=_environ(server).get("PATH"))
    if path is not None:
        return True, path
    advice = _ADVICE.get(Path(server.command).name, "is it installed, and is its folder in PATH?")
    return False, f"{server.command!r} was not found; {advice}"


def _version(server: StdioServer) -> tuple[bool, str]:
    if Path(server.command).name not in _RUNTIMES:
        return True, "not asked: only well-known programs are started for it"
    try:
        told = subprocess.run(  # noqa: S603 - the user's own command, without a shell
            [server.command, "--version"],
            env=_environ(server),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_VERSION_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, f"'{server.command} --version' failed: {type(error).__name__}"
    return told.returncode == 0, line(told.stdout or told.stderr, limit=80)


def _environment(server: StdioServer) -> tuple[bool, str]:
    empty = [name for name, value in server.environment().items() if not value]
    names = ", ".join(server.env) or "nothing beyond the minimal environment"
    return True, f"{names}; empty: {', '.join(empty)}" if empty else names


def _folder(server: StdioServer) -> tuple[bool, str]:
    if server.cwd is None or Path(server.cwd).is_dir():
        return True, server.cwd or str(Path.cwd())
    return False, f"{server.cwd!r} is no folder"


def _environ(server: StdioServer) -> dict[str, str]:
    return {**os.environ, **server.environment()}


def _network(server: HttpServer | SseServer) -> tuple[bool, str]:
    parts = urlsplit(server.url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_REACH_S).close()
    except OSError as error:
        return False, f"nobody answers on port {port} of {parts.hostname}: {error.strerror or error}"
    return True, f"port {port} of {parts.hostname} takes connections"


def _handshake(key: str, server: Any, protocol: str, timeout: float) -> tuple[bool, str]:
    asked = server.model_copy(update={"protocol": protocol, "connect_timeout": timeout, "disabled": False})
    toolbox = Toolbox({key: asked}, on_bad_tool="skip")
    try:
        with toolbox:
            status = toolbox.status[key]
            if protocol != "auto":
                return True, f"speaks {status.protocol_version}"
            return (
                True,
                f"{status.tools} tools, {len(toolbox.skipped)} left out; speaks {status.protocol_version}",
            )
    except McpAdaptersError as error:
        return False, str(error)


def show(step: Step, screen: Screen) -> None:
    """Show one step to people."""
    mark, style = ("ok  ", "green") if step.ok else ("FAIL", "red")
    screen.say(
        f"{mark} {step.server}: {step.name} ({step.seconds:.1f} s): {step.found}",
        style="" if step.ok else style,
    )
