"""Functions that load one server's tools, prompts and resources, as langchain-mcp-adapters has them.

In: an `McpSession`, a session of the official SDK that the program connected, or a server. Out: LangChain's
tools, messages and blobs. A session of the SDK stays its owner's; what is connected here for anything but
tools is closed again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from langchain_core.documents.base import Blob
from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from mcp_adapters import Kept, NamePolicy, ServerStatus, Tool
from mcp_adapters.naming import assign_names
from mcp_adapters_langchain._prompts import aprompt_messages
from mcp_adapters_langchain._resources import aload_blobs
from mcp_adapters_langchain.compat._callbacks import Callbacks
from mcp_adapters_langchain.compat._interceptors import ToolCallInterceptor
from mcp_adapters_langchain.compat._sessions import McpSession, natives, new_toolbox, texts
from mcp_adapters_langchain.compat._tools import Ways

__all__ = (
    "get_mcp_resource",
    "load_mcp_prompt",
    "load_mcp_resources",
    "load_mcp_server_info",
    "load_mcp_tools",
)

Session: TypeAlias = Any
"""An `McpSession`, or a connected `ClientSession` or `Client` of the official SDK."""


@asynccontextmanager
async def _open(
    session: Session | None, connection: Any, callbacks: Callbacks | None, server_name: str | None
) -> AsyncGenerator[McpSession]:
    """A session for the time of the block, over whatever was given."""
    if isinstance(session, McpSession):
        await session.initialize()
        yield session
        return
    name = server_name or "mcp"
    server = _given(session, connection)
    async with new_toolbox({name: server}, callbacks or Callbacks(), NamePolicy()) as toolbox:
        yield McpSession(name, toolbox)


def _given(session: Session | None, connection: Any) -> Any:
    if session is None and connection is None:
        raise ValueError("give a session or a connection")
    return connection if session is None else session


async def load_mcp_tools(
    session: Session | None,
    *,
    connection: Any = None,
    callbacks: Callbacks | None = None,
    tool_interceptors: Sequence[ToolCallInterceptor] | None = None,
    server_name: str | None = None,
    tool_name_prefix: bool = False,
    handle_tool_errors: bool = True,
) -> list[BaseTool]:
    """Load a server's tools.

    Args:
        session: A session; its tools work as long as it does. None: `connection` is used, and connected
            as long as one of the tools is held.
        connection: A server, as `MultiServerMCPClient` takes it.
        callbacks: Hear of the calls' progress; of a connection, of all else too.
        tool_interceptors: Functions around every call, the first one outermost.
        server_name: What the server is called in names, callbacks and interceptors.
        tool_name_prefix: Whether `server_name` is in front of the tools' names.
        handle_tool_errors: Whether models are told of failures; False raises `ToolException`.

    Raises:
        ValueError: There is neither a session nor a connection.
        ConfigError, ServerError, ToolboxLoadError: As `Toolbox` and `Toolbox.open`.

    """
    heard = callbacks or Callbacks()
    policy = NamePolicy(prefix="always" if tool_name_prefix and server_name else "never")
    kept = None
    if not isinstance(session, McpSession):
        server = {server_name or "mcp": _given(session, connection)}
        kept = Kept(new_toolbox(server, heard, policy))
        toolbox = await kept.toolbox.aopen()
    else:
        await session.initialize()
        toolbox = session.toolbox
    ways = Ways(
        kept=kept,
        server_name=server_name or "unknown",
        interceptors=tuple(tool_interceptors or ()),
        on_progress=heard.on_progress,
        raises=not handle_tool_errors,
    )
    tools = natives(toolbox.tools, toolbox, ways)
    if isinstance(session, McpSession) and policy.prefix == "always":
        _rename(tools, toolbox.tools, str(server_name), policy)
    return tools


def _rename(natives: Sequence[BaseTool], tools: Sequence[Tool], server: str, policy: NamePolicy) -> None:
    """Put another server's name in front of tools than their toolbox does."""
    names = assign_names([(server, tool.remote_name) for tool in tools], policy).exposed
    for native, tool in zip(natives, tools, strict=True):
        native.name = names[server, tool.remote_name]


async def load_mcp_prompt(
    session: Session, name: str, *, arguments: Mapping[str, Any] | None = None
) -> list[BaseMessage]:
    """Get a prompt as messages; values of arguments become text. Errors as `Toolbox.get_prompt`."""
    async with _open(session, None, None, None) as one:
        return await aprompt_messages(one.toolbox, name, texts(arguments), server=one.server_name)


async def get_mcp_resource(session: Session, uri: str) -> list[Blob]:
    """Read one resource; errors as `Toolbox.read_resource`."""
    return await load_mcp_resources(session, uris=uri)


async def load_mcp_resources(session: Session, *, uris: str | Sequence[str] | None = None) -> list[Blob]:
    """Read resources as blobs.

    Args:
        session: The session.
        uris: An address or several; None means all that the server lists, on all pages.

    Raises:
        ResourceNotFoundError and others: As `Toolbox.read_resource` and `Toolbox.list_resources`.

    """
    async with _open(session, None, None, None) as one:
        return await aload_blobs(one.toolbox, uris, server=one.server_name)


async def load_mcp_server_info(
    session: Session | None,
    *,
    connection: Any = None,
    callbacks: Callbacks | None = None,
    server_name: str | None = None,
) -> ServerStatus:
    """What is known of a server: name, version, instructions, protocol; arguments as `load_mcp_tools`."""
    async with _open(session, connection, callbacks, server_name) as one:
        return one.toolbox.status[one.server_name]
