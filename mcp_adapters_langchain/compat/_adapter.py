"""`MCPAdapter` as `langchain.mcp` has it, over a toolbox.

In: a target: an http(s) address, the path of a script, a configuration, or a server object. Out: LangChain
tools. They stay usable after the adapter's block, as there: the servers stop when neither the adapter nor
one of its tools is held any more.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from langchain_core.tools import BaseTool

from mcp_adapters import (
    ConfigError,
    Handlers,
    Kept,
    NamePolicy,
    Pause,
    StdioServer,
    Tool,
    Toolbox,
    load_servers,
)
from mcp_adapters_langchain.compat._interceptors import around
from mcp_adapters_langchain.compat._tools import CompatTool, Ways

__all__ = ("MCPAdapter",)

_RUNNERS = {".py": sys.executable, ".js": "node"}
"""What runs a script, by the end of its name."""


class MCPAdapter:
    """The tools of one target, with the interface of `langchain.mcp`.

    A question of a server interrupts the graph that the call runs in, see the page on servers that ask
    people; outside of a graph the model is told that the tool waits for a person.

    Args:
        target: An http(s) address; a `Path` of a Python or JavaScript server; a configuration with
            `mcpServers`, or a mapping of servers; a server object, transport or connected client of the
            official SDK. A text is never a command.
        options: Further options of `Toolbox`, such as `call_timeout`.

    Raises:
        ConfigError: The target cannot be used.

    """

    def __init__(self, target: Any, **options: Any) -> None:
        self._servers = _servers(target)
        handlers = Handlers(elicitation=Pause())
        self._options: dict[str, Any] = {"handlers": handlers, "structured": "never", **options}
        self._kept: Kept | None = None
        self._let_go: Callable[[], Kept | None] = _nothing
        """Gives what the adapter does not hold itself any more, as long as a tool does."""

    @property
    def client(self) -> Toolbox:
        """The toolbox behind the adapter."""
        return self._keep().toolbox

    def _keep(self) -> Kept:
        self._kept = self._kept or self._let_go()
        if self._kept is None:
            # One server's tools have their own names, as there.
            names = NamePolicy(prefix="always" if len(self._servers) > 1 else "never")
            options = {"names": names, "interceptors": (around,), **self._options}
            self._kept = Kept(Toolbox(self._servers, **options))
        return self._kept

    async def aclose(self) -> None:
        """Stop every server; the tools that were given out do not work any more."""
        kept, self._kept = self._kept or self._let_go(), None
        if kept is not None:
            await kept.toolbox.aclose()

    async def __aenter__(self) -> Self:
        await self._keep().toolbox.aopen()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the servers; they run as long as a tool of theirs is held."""
        if self._kept is not None:
            self._let_go, self._kept = weakref.ref(self._kept), None

    async def list_tools(self, *, cache_mode: Literal["use", "refresh", "bypass"] = "use") -> list[BaseTool]:
        """The tools as LangChain tools.

        Args:
            cache_mode: "use" gives what is known, which follows the servers' announcements; "refresh"
                and "bypass" list the servers again.

        Raises:
            ServerError, ToolboxLoadError: As `Toolbox.open`.

        """
        kept = self._keep()
        known = not kept.toolbox.is_closed
        toolbox = await kept.toolbox.aopen()
        if known and cache_mode != "use":
            await toolbox.arefresh()
        return [self._native(tool, kept) for tool in toolbox.tools]

    def _native(self, tool: Tool, kept: Kept) -> CompatTool:
        ways = Ways(kept=kept, server_name=tool.server, raises=tool.on_tool_error == "raise")
        about = {"mcp": {"tool": _about(tool), "server": kept.toolbox.status[tool.server].server_info}}
        return CompatTool.made(tool, ways, lambda _: None, metadata=about)


def _nothing() -> None:
    """There is nothing yet."""


def _servers(target: Any) -> dict[str, Any]:
    """The target's servers by key."""
    if isinstance(target, Path):
        if (runner := _RUNNERS.get(target.suffix)) is None:
            raise ConfigError(f"{str(target)!r} is not the path of a .py or .js server")
        target = {"mcp": StdioServer(command=runner, args=[str(target)])}
    elif not isinstance(target, Mapping):
        # An address object of any library is meant as its text.
        target = {"mcp": str(target) if hasattr(target, "scheme") else target}
    return load_servers(target, environ=os.environ)


def _about(tool: Tool) -> dict[str, Any]:
    hints = tool.annotations
    said = {
        "title": hints.title,
        "read_only_hint": hints.read_only,
        "destructive_hint": hints.destructive,
        "idempotent_hint": hints.idempotent,
        "open_world_hint": hints.open_world,
    }
    annotations = {name: value for name, value in said.items() if value is not None}
    about: dict[str, Any] = {"annotations": annotations} if annotations else {}
    return {**about, "_meta": dict(tool.spec.meta)} if tool.spec.meta else about
