"""`MultiServerMCPClient`, over one toolbox whose connections are kept.

In: the same dict of servers and the same options as in langchain-mcp-adapters. Out: tools, messages and
blobs. Servers are started when they are first asked for something, and stop with `aclose`, at the end of
`async with`, or when neither the client nor one of its tools is held any more.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

from langchain_core.documents.base import Blob
from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from mcp_adapters import ConfigError, Kept, NamePolicy, ServerStatus, Toolbox
from mcp_adapters_langchain._prompts import aprompt_messages
from mcp_adapters_langchain._resources import aload_blobs
from mcp_adapters_langchain.compat._callbacks import Callbacks
from mcp_adapters_langchain.compat._connections import readable
from mcp_adapters_langchain.compat._interceptors import ToolCallInterceptor
from mcp_adapters_langchain.compat._sessions import McpSession, natives, new_toolbox, texts
from mcp_adapters_langchain.compat._tools import Ways

__all__ = ("MultiServerMCPClient",)


class MultiServerMCPClient:
    """Several MCP servers for LangChain, with the interface of langchain-mcp-adapters.

    Args:
        connections: Servers by name: dicts as there, or anything that `Toolbox` takes. The dict may
            change later; what changed takes effect with the next method.
        callbacks: Hear of log messages and progress, and answer servers' questions.
        tool_interceptors: Functions around every call, the first one outermost.
        tool_name_prefix: Whether the server's name is in front of every tool's name. Without it, it is
            in front of those that several servers have.
        handle_tool_errors: Whether models are told of failures; False raises `ToolException`.
        options: Further options of `Toolbox`, such as `call_timeout`.

    """

    def __init__(
        self,
        connections: dict[str, Any] | None = None,
        *,
        callbacks: Callbacks | None = None,
        tool_interceptors: Sequence[ToolCallInterceptor] | None = None,
        tool_name_prefix: bool = False,
        handle_tool_errors: bool = True,
        **options: Any,
    ) -> None:
        self.connections: dict[str, Any] = {} if connections is None else connections
        self.callbacks = callbacks or Callbacks()
        self.tool_interceptors = list(tool_interceptors or ())
        self.tool_name_prefix = tool_name_prefix
        self.handle_tool_errors = handle_tool_errors
        self._options = options
        self._kept: Kept | None = None
        self._held: dict[str, Any] = {}

    # -- life ---------------------------------------------------------------------------------

    @property
    def toolbox(self) -> Toolbox | None:
        """The toolbox behind the client; None before it is needed and after `aclose`."""
        return None if self._kept is None else self._kept.toolbox

    async def aclose(self) -> None:
        """Stop every server; the tools that were given out do not work any more."""
        kept, self._kept = self._kept, None
        if kept is not None:
            await kept.toolbox.aclose()

    async def __aenter__(self) -> Self:
        await self._following(list(self.connections))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _following(self, names: Sequence[str]) -> tuple[Kept, set[str]]:
        """The open toolbox with these servers as `connections` has them now, and those just started."""
        wanted = {name: self.connections[name] for name in names}
        if self._kept is None:  # no await from here to the assignment: two tasks must not make two
            policy = NamePolicy(prefix="always" if self.tool_name_prefix else "on_clash")
            self._kept = Kept(new_toolbox(wanted, self.callbacks, policy, **self._options))
            self._held = _copied(wanted)
        kept = self._kept
        started = set(wanted) if kept.toolbox.is_closed else set()
        try:
            await kept.toolbox.aopen()
        except BaseException:
            self._kept = None if self._kept is kept else self._kept
            raise
        return kept, started | await self._changed(kept.toolbox, wanted)

    async def _changed(self, toolbox: Toolbox, wanted: Mapping[str, Any]) -> set[str]:
        """Bring the toolbox in line with `connections`; give the servers that were started."""
        for name in [name for name in self._held if name not in self.connections]:
            del self._held[name]
            await toolbox.aremove(name)
        different = {name: one for name, one in wanted.items() if self._held.get(name) != one}
        for name, connection in different.items():
            change = toolbox.aupdate if name in toolbox.status else toolbox.aadd
            await change(name, readable(name, connection))
            self._held |= _copied({name: connection})
        return set(different)

    def _names(self, server_name: str | None) -> list[str]:
        if server_name is None:
            return list(self.connections)
        if server_name not in self.connections:
            known = ", ".join(map(repr, self.connections)) or "none"
            raise ConfigError(f"there is no server {server_name!r}; there are: {known}", server=server_name)
        return [server_name]

    # -- what there is ------------------------------------------------------------------------

    async def get_tools(self, *, server_name: str | None = None) -> list[BaseTool]:
        """List the tools of all servers, or of one.

        Returns:
            In the order of `connections` and of the servers' listings. Each time the servers are listed
            anew; their connections are kept.

        Raises:
            ConfigError: There is no such server, or it cannot be described so.
            ServerError, ToolboxLoadError: As `Toolbox.open`.

        """
        names = self._names(server_name)
        kept, started = await self._following(names)
        for name in names:
            if name not in started:
                await kept.toolbox.arefresh(server=name)
        return [native for name in names for native in self._natives(kept, name)]

    def _natives(self, kept: Kept, name: str) -> list[BaseTool]:
        ways = Ways(
            kept=kept,
            server_name=name,
            interceptors=tuple(self.tool_interceptors),
            on_progress=self.callbacks.on_progress,
            raises=not self.handle_tool_errors,
        )
        return natives((tool for tool in kept.toolbox.tools if tool.server == name), kept.toolbox, ways)

    @asynccontextmanager
    async def session(self, server_name: str, *, auto_initialize: bool = True) -> AsyncGenerator[McpSession]:
        """Connect to one server for the time of the block, beside the kept connection.

        Args:
            server_name: Which.
            auto_initialize: Whether to connect at once, or with `initialize`.

        Raises:
            ConfigError, ServerError, ToolboxLoadError: As `get_tools`.

        """
        [name] = self._names(server_name)
        wanted = {name: self.connections[name]}
        toolbox = new_toolbox(wanted, self.callbacks, NamePolicy(prefix="never"), **self._options)
        session = McpSession(name, toolbox)
        try:
            if auto_initialize:
                await session.initialize()
            yield session
        finally:
            await toolbox.aclose()

    async def get_server_info(self, *, server_name: str | None = None) -> dict[str, ServerStatus]:
        """What is known of each server: name and version, instructions, protocol version; errors as above."""
        names = self._names(server_name)
        kept, _ = await self._following(names)
        status = kept.toolbox.status
        return {name: status[name] for name in names}

    async def get_prompt(
        self, server_name: str, prompt_name: str, *, arguments: Mapping[str, Any] | None = None
    ) -> list[BaseMessage]:
        """Get a prompt as messages; errors as `Toolbox.get_prompt` and `get_tools`."""
        kept, _ = await self._following(self._names(server_name))
        return await aprompt_messages(kept.toolbox, prompt_name, texts(arguments), server=server_name)

    async def get_resources(
        self, server_name: str | None = None, *, uris: str | Sequence[str] | None = None
    ) -> list[Blob]:
        """Read resources as blobs.

        Args:
            server_name: Whose; None means all servers, or for each address the one that has it.
            uris: An address or several; None means all that are listed.

        Raises:
            ResourceNotFoundError and others: As `Toolbox.read_resource` and `get_tools`.

        """
        kept, _ = await self._following(self._names(server_name))
        return await aload_blobs(kept.toolbox, uris, server=server_name)


def _copied(connections: Mapping[str, Any]) -> dict[str, Any]:
    """Connections as they are now, to be compared with what they will be."""
    return {name: dict(one) if isinstance(one, Mapping) else one for name, one in connections.items()}
