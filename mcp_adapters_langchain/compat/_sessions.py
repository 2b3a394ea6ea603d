"""Toolboxes of servers as langchain-mcp-adapters describes them, and one server for the time of a block.

In: servers and what was decided about them. Out: a toolbox, LangChain's tools of one server in it, and
`McpSession`, in the place of the SDK's `ClientSession`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.tools import BaseTool

from mcp_adapters import (
    NamePolicy,
    Prompt,
    PromptResult,
    Resource,
    ResourceContents,
    ServerStatus,
    Tool,
    Toolbox,
    ToolNotFoundError,
)
from mcp_adapters.official import to_official
from mcp_adapters_langchain.compat._callbacks import Callbacks, handlers_of
from mcp_adapters_langchain.compat._connections import readable
from mcp_adapters_langchain.compat._interceptors import around
from mcp_adapters_langchain.compat._tools import CompatTool, Ways

__all__ = ("McpSession", "natives", "new_toolbox", "texts")


def new_toolbox(
    connections: Mapping[str, Any], callbacks: Callbacks, names: NamePolicy, **options: Any
) -> Toolbox:
    """Make a toolbox for servers as langchain-mcp-adapters describes them; not opened yet."""
    options.setdefault("log_level", None if callbacks.on_logging_message is None else "debug")
    options.setdefault("structured", "never")  # it is for the program there, in the artifact
    return Toolbox(
        {name: readable(name, connection) for name, connection in connections.items()},
        names=names,
        handlers=handlers_of(callbacks),
        interceptors=(around,),
        **options,
    )


def natives(tools: Iterable[Tool], toolbox: Toolbox, ways: Ways) -> list[BaseTool]:
    """LangChain's tools of one server's tools."""

    def find(name: str, /) -> Tool | None:
        same = (tool for tool in toolbox.tools if (tool.server, tool.remote_name) == (server, name))
        return next(same, None)

    tools = list(tools)
    server = tools[0].server if tools else ""
    return [CompatTool.made(tool, ways, find) for tool in tools]


def texts(arguments: Mapping[str, Any] | None) -> dict[str, str] | None:
    """A prompt's arguments as the protocol has them."""
    return None if arguments is None else {name: str(value) for name, value in arguments.items()}


class McpSession:
    """A connection to one server; made by `MultiServerMCPClient.session`.

    Args:
        server_name: The server's key.
        toolbox: A toolbox of this server alone.

    """

    def __init__(self, server_name: str, toolbox: Toolbox) -> None:
        self.server_name = server_name
        self.toolbox = toolbox

    async def initialize(self) -> ServerStatus:
        """Connect; harmless when it is done already.

        Raises:
            ServerError, ToolboxLoadError: As `Toolbox.open`.

        """
        await self.toolbox.aopen()
        return self.toolbox.status[self.server_name]

    async def list_tools(self) -> tuple[Tool, ...]:
        """List the server's tools again."""
        await self.toolbox.arefresh()
        return self.toolbox.tools

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Call a tool by the server's own name for it.

        Returns:
            The SDK's `CallToolResult`.

        Raises:
            ToolNotFoundError: The server does not offer it.
            ToolError, ServerError: As `Tool.call`.

        """
        for tool in self.toolbox.tools:
            if tool.remote_name == name:
                return to_official(await tool.acall(arguments))
        raise ToolNotFoundError(
            f"server {self.server_name!r} offers no tool {name!r}", server=self.server_name, tool=name
        )

    async def list_resources(self) -> list[Resource]:
        """List the server's resources, all pages."""
        return await self.toolbox.alist_resources()

    async def read_resource(self, uri: str) -> ResourceContents:
        """Read a resource; errors as `Toolbox.read_resource`."""
        return await self.toolbox.aread_resource(str(uri), server=self.server_name)

    async def list_prompts(self) -> list[Prompt]:
        """List the server's prompts, all pages."""
        return await self.toolbox.alist_prompts()

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        """Get a prompt; errors as `Toolbox.get_prompt`."""
        return await self.toolbox.aget_prompt(name, arguments, server=self.server_name)
