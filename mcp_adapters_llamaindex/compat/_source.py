"""One server behind a toolbox that is opened when it is first needed, and kept.

In: a server as a toolbox takes it. Out: the open toolbox, and something to hold on to it.
"""

from __future__ import annotations

from typing import Any, Self

from mcp_adapters import Kept, NamePolicy, Tool, Toolbox, ToolNotFoundError
from mcp_adapters.official import to_official_tools

__all__ = ("SERVER", "Source")

SERVER = "mcp"
"""The server's key in the toolbox."""


class Source:
    """A server; it stops with `close`, or when neither this nor one of its tools is held any more.

    Args:
        server: Anything that a toolbox takes as a server.
        options: Further options of `Toolbox`.

    """

    def __init__(self, server: Any, **options: Any) -> None:
        options.setdefault("names", NamePolicy(prefix="never"))
        self.kept = Kept(Toolbox({SERVER: server}, **options))

    @property
    def toolbox(self) -> Toolbox:
        """The toolbox behind it; it is open after the first request."""
        return self.kept.toolbox

    async def listed(self) -> Toolbox:
        """Connect, or list the tools again where that was done before.

        Raises:
            ServerError, ToolboxLoadError: As `Toolbox.open`.

        """
        if self.toolbox.is_closed:
            return await self.toolbox.aopen()
        await self.toolbox.arefresh()
        return self.toolbox

    def listed_now(self) -> Toolbox:
        """Connect or list again, and wait; as `listed`."""
        if self.toolbox.is_closed:
            return self.toolbox.open()
        self.toolbox.refresh()
        return self.toolbox

    async def list_tools(self) -> Any:
        """List the server's tools again, all pages, as the SDK's `ListToolsResult`."""
        return to_official_tools((await self.listed()).listings()[SERVER])

    async def tool(self, name: str) -> Tool:
        """The tool that the server, or else a model, knows by `name`.

        Raises:
            ToolNotFoundError: The server does not offer it.
            ServerError, ToolboxLoadError: As `Toolbox.open`.

        """
        tools = (await self.toolbox.aopen()).tools
        found = [tool for tool in tools if tool.remote_name == name] or [
            tool for tool in tools if tool.name == name
        ]
        if not found:
            raise ToolNotFoundError(f"the server offers no tool {name!r}", server=SERVER, tool=name)
        return found[0]

    def close(self) -> None:
        """Stop the server; the next request starts it again."""
        self.toolbox.close()

    async def aclose(self) -> None:
        """Stop the server; as `close`."""
        await self.toolbox.aclose()

    async def __aenter__(self) -> Self:
        await self.toolbox.aopen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
