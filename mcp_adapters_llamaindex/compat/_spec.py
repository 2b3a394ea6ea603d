"""`McpToolSpec`, and the functions that make tools of an address, over a connection that is kept.

In: a client, and which of its tools with which fixed arguments. Out: LlamaIndex tools. They hold the
connection: the server stops when neither the client nor one of its tools is held any more.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from llama_index.core.tools import FunctionTool
from llama_index.core.tools.tool_spec.base import BaseToolSpec

from mcp_adapters import Kept, Resource, ResourceTemplate, Tool, Toolbox
from mcp_adapters.naming import NamePolicy, assign_names
from mcp_adapters_llamaindex._tool import McpTool
from mcp_adapters_llamaindex.compat._client import BasicMCPClient
from mcp_adapters_llamaindex.compat._source import SERVER, Source

__all__ = ("McpToolSpec", "aget_tools_from_mcp_url", "get_tools_from_mcp_url")

logger = logging.getLogger(__name__)

Readable: TypeAlias = Resource | ResourceTemplate


class KeptTool(McpTool):
    """A tool that holds the connection of its server."""

    def __init__(self, tool: Tool, *, kept: Kept, partial_params: Mapping[str, Any]) -> None:
        super().__init__(tool, partial_params=partial_params)
        self._kept = kept


class McpToolSpec(BaseToolSpec):
    """The tools of one server as LlamaIndex tools, with the interface of llama-index-tools-mcp.

    Args:
        client: A `BasicMCPClient`, or a connected `ClientSession` or `Client` of the official SDK, which
            stays its owner's.
        allowed_tools: The server's own names of the tools (and resources) to offer; None means all. A
            name that the server does not offer is told in a warning.
        global_partial_params: Arguments that every tool which has them always gets, and that models are
            not shown.
        partial_params_by_tool: The same for single tools, by the server's name; comes before the global
            ones. The value None takes a global one away.
        include_resources: Whether each resource is a tool too, and each resource template one that
            takes the address to read.

    """

    spec_functions: list[Any] = []  # noqa: RUF012 - the base class's own declaration; unused, the tools come from the server

    def __init__(
        self,
        client: Any,
        allowed_tools: Sequence[str] | None = None,
        global_partial_params: Mapping[str, Any] | None = None,
        partial_params_by_tool: Mapping[str, Mapping[str, Any]] | None = None,
        include_resources: bool = False,
    ) -> None:
        self.client = client
        self.allowed_tools = allowed_tools
        self.global_partial_params = global_partial_params
        self.partial_params_by_tool = partial_params_by_tool
        self.include_resources = include_resources
        self._source = client if isinstance(client, Source) else Source(client)

    async def fetch_tools(self) -> list[Any]:
        """List the tools that are offered, as the SDK's `Tool`."""
        listed = (await self._source.list_tools()).tools
        return [tool for tool in listed if self._allows(tool.name)]

    async def fetch_resources(self) -> list[Readable]:
        """List the resources and resource templates that are offered."""
        toolbox = await self._source.toolbox.aopen()
        both: list[Readable] = list(await toolbox.alist_resources())
        both += await toolbox.alist_resource_templates()
        return [one for one in both if self._allows(one.name)]

    async def to_tool_list_async(self, *_: Any, **__: Any) -> list[FunctionTool]:
        """List the server's tools and make LlamaIndex tools of them.

        Raises:
            ServerError, ToolboxLoadError: As `Toolbox.open`.

        """
        toolbox = await self._source.listed()
        if not self.include_resources:
            return self._made(toolbox, [])
        both: list[Readable] = list(await toolbox.alist_resources())
        both += await toolbox.alist_resource_templates()
        return self._made(toolbox, both)

    def to_tool_list(self, *_: Any, **__: Any) -> list[FunctionTool]:
        """List the server's tools and make LlamaIndex tools of them; works while a loop runs too."""
        toolbox = self._source.listed_now()
        if not self.include_resources:
            return self._made(toolbox, [])
        return self._made(toolbox, [*toolbox.list_resources(), *toolbox.list_resource_templates()])

    def _made(self, toolbox: Toolbox, resources: Sequence[Readable]) -> list[FunctionTool]:
        offered = [tool for tool in toolbox.tools if self._allows(tool.remote_name)]
        readable = [one for one in resources if self._allows(one.name)]
        self._warn_of_unknown({tool.remote_name for tool in toolbox.tools} | {one.name for one in resources})
        natives: list[FunctionTool] = [
            KeptTool(tool, kept=self._source.kept, partial_params=self._partial(tool)) for tool in offered
        ]
        names = assign_names(
            [(SERVER, one.name) for one in readable],
            NamePolicy(prefix="never", reserved=tuple(str(native.metadata.name) for native in natives)),
        )
        for one in readable:
            name = names.exposed[SERVER, one.name]
            if isinstance(one, Resource):
                natives.append(_reader(self._source.kept, one, name))
            else:
                natives.append(_filler(self._source.kept, one, name))
        return natives

    def _allows(self, name: str) -> bool:
        return self.allowed_tools is None or name in self.allowed_tools

    def _warn_of_unknown(self, known: set[str]) -> None:
        unknown = [name for name in self.allowed_tools or () if name not in known]
        if unknown:
            logger.warning("the server offers no %s", ", ".join(map(repr, unknown)))

    def _partial(self, tool: Tool) -> dict[str, Any]:
        """The arguments that a tool always gets."""
        own = (self.partial_params_by_tool or {}).get(tool.remote_name, {})
        properties = tool.model_schema["properties"]
        everywhere = {
            name: value for name, value in (self.global_partial_params or {}).items() if name in properties
        }
        return {name: value for name, value in {**everywhere, **own}.items() if value is not None}


def _reader(kept: Kept, resource: Resource, name: str) -> FunctionTool:
    """A tool that reads one resource as text."""

    async def read_async() -> str:
        return (await kept.toolbox.aread_resource(resource)).text

    def read() -> str:
        return kept.toolbox.read_resource(resource).text

    described = _described(resource)
    return FunctionTool.from_defaults(fn=read, async_fn=read_async, name=name, description=described)


def _filler(kept: Kept, template: ResourceTemplate, name: str) -> FunctionTool:
    """A tool that reads a resource of a template as text, by its address."""

    async def read_async(uri: str) -> str:
        return (await kept.toolbox.aread_resource(uri, server=template.server)).text

    def read(uri: str) -> str:
        return kept.toolbox.read_resource(uri, server=template.server).text

    described = f"{_described(template)} The uri is of the form {template.uri_template}"
    return FunctionTool.from_defaults(fn=read, async_fn=read_async, name=name, description=described)


def _described(one: Readable) -> str:
    return one.description or f"Read {one.title or one.name}."


def get_tools_from_mcp_url(
    command_or_url: str,
    client: Any = None,
    allowed_tools: Sequence[str] | None = None,
    global_partial_params: Mapping[str, Any] | None = None,
    partial_params_by_tool: Mapping[str, Mapping[str, Any]] | None = None,
    include_resources: bool = False,
) -> list[FunctionTool]:
    """Make LlamaIndex tools of a server's tools.

    Args:
        command_or_url: A program or an address, as `BasicMCPClient` takes it; not looked at with a `client`.
        client: As `McpToolSpec` takes it; None makes one.
        allowed_tools: As `McpToolSpec` takes it.
        global_partial_params: As `McpToolSpec` takes it.
        partial_params_by_tool: As `McpToolSpec` takes it.
        include_resources: As `McpToolSpec` takes it.

    Raises:
        ConfigError, ServerError, ToolboxLoadError: As `BasicMCPClient` and `Toolbox.open`.

    """
    made = client if client is not None else BasicMCPClient(command_or_url)
    spec = McpToolSpec(made, allowed_tools, global_partial_params, partial_params_by_tool, include_resources)
    return spec.to_tool_list()


async def aget_tools_from_mcp_url(
    command_or_url: str,
    client: Any = None,
    allowed_tools: Sequence[str] | None = None,
    global_partial_params: Mapping[str, Any] | None = None,
    partial_params_by_tool: Mapping[str, Mapping[str, Any]] | None = None,
    include_resources: bool = False,
) -> list[FunctionTool]:
    """Make LlamaIndex tools of a server's tools; as `get_tools_from_mcp_url`."""
    made = client if client is not None else BasicMCPClient(command_or_url)
    spec = McpToolSpec(made, allowed_tools, global_partial_params, partial_params_by_tool, include_resources)
    return await spec.to_tool_list_async()
