"""Which servers a command is about: a configuration, an address, or a command of one's own.

In: words of the command line. Out: what `Toolbox` takes as servers. Nothing is started here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mcp_adapters import ConfigError, HttpServer, SseServer, StdioServer
from mcp_adapters.naming import server_key

__all__ = ("DEFAULTS", "servers_of", "split_command")

DEFAULTS = ("mcp.json", ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json")
"""Files that are looked for in the current folder when no source is named, in this order."""


def split_command(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Take the words behind `--` apart: they are the command of a server, whatever they look like."""
    if "--" not in words:
        return list(words), []
    at = list(words).index("--")
    return list(words[:at]), list(words[at + 1 :])


def servers_of(source: str | None, command: Sequence[str]) -> str | Mapping[str, Any]:
    """The servers that are meant.

    Args:
        source: The path of a configuration, or an http(s) address; None for neither.
        command: The program of a server and its arguments; empty without one.

    Returns:
        A path, or one server by a key made of its program's or its host's name.

    Raises:
        ConfigError: Two sources are named, or none is and no file of a usual name is here.

    """
    if command and source:
        raise ConfigError(f"both {source!r} and a command after '--' are named; keep one")
    if command:
        return {_program(command): StdioServer(command=command[0], args=command[1:])}
    if source and urlsplit(source).scheme in ("http", "https"):
        kind = SseServer if urlsplit(source).path.rstrip("/").endswith("/sse") else HttpServer
        return {server_key(urlsplit(source).hostname): kind(url=source)}
    found = source or next((name for name in DEFAULTS if Path(name).is_file()), None)
    if found is None:
        raise ConfigError(
            "no servers are named and there is no mcp.json here; give a configuration file, an address, "
            "or a command after '--'"
        )
    return found


_RUNNERS = frozenset({"bunx", "deno", "node", "npx", "python", "python3", "uv", "uvx"})


def _program(command: Sequence[str]) -> str:
    """A key from the name of the program, or of what a runner of programs is told to run."""
    words = [word for word in command if not word.startswith("-")]
    named = words[1] if Path(command[0]).stem in _RUNNERS and len(words) > 1 else command[0]
    return server_key(Path(named).name.removesuffix(".js").removesuffix(".py"))
