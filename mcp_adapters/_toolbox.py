"""Many servers, one set of tools: open, list, call, close.

In: servers and what the user decided about them. Out: a `Toolbox`. It owns no decision of its own:
what is offered is decided by `catalog`, what a result says by `results`, what a connection does by
`_connection`. Everything may be used from any thread and any event loop.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, Self

from mcp_adapters._calls import CallOptions, Calls
from mcp_adapters._connection import Connection, ServerStatus
from mcp_adapters._portal import portal
from mcp_adapters.catalog import Catalog, Listing, OnBadTool, build, read_listing
from mcp_adapters.config import load_servers
from mcp_adapters.errors import (
    McpAdaptersError,
    ToolboxClosedError,
    ToolboxLoadError,
)
from mcp_adapters.filtering import ToolFilter, missing, missing_error, parse_filter
from mcp_adapters.frameworks import RESERVED_NAMES, load
from mcp_adapters.interception import Interceptor
from mcp_adapters.naming import Identity, NamePolicy, Names
from mcp_adapters.outputs import OutputSchemaMode
from mcp_adapters.providers import profile
from mcp_adapters.results import StructuredMode
from mcp_adapters.schema import Dialect, SchemaLimits
from mcp_adapters.spec import OnToolError, SkippedTool, Tool, ToolResult

__all__ = ("OnServerFailure", "Toolbox")

logger = logging.getLogger(__name__)

OnServerFailure = Literal["fail", "skip"]
"""What a server that cannot be used does: keep the toolbox from opening, or be left out."""


class Toolbox:
    """The tools of one or more MCP servers, ready for plain Python and for agent frameworks.

    Use it as `with Toolbox(...) as toolbox:` or `async with Toolbox(...) as toolbox:`, or call
    `open` and `close`. While it is open its tools work from any thread and any event loop, over one
    connection for each server.

    Args:
        servers: The path of a JSON file; a parsed configuration; or a mapping from your own key for
            each server to a `StdioServer`, `HttpServer` or `SseServer`, a config dict, an http(s)
            URL, or a server object of the MCP SDK. The keys become the prefixes of the tools' names.
        tools: Which tools to offer: one filter for all servers, or a mapping by server key. Filters
            see the servers' own names. None means all.
        require: Tools that must be there, as `tool` or `server:tool`.
        names: How the names that models see are made.
        dialect: For which kind of model the schemas are projected.
        provider: The model provider whose limits hold, such as "openai" or "anthropic": more tools than
            it takes keep the toolbox from opening, and longer descriptions are cut. None sets no limits.
        on_bad_tool: "fail": a tool with an unusable schema keeps the toolbox from opening, and the
            error names every such tool; "skip": it is left out, with an entry in `skipped`.
        on_server_failure: "fail": a server that cannot be used keeps the toolbox from opening;
            "skip": it is left out, with its error in `status`.
        on_tool_error: "return": a tool that says it failed gives a result with `is_error`; "raise":
            it raises ToolExecutionError.
        connect_timeout: Seconds for one server to start and to answer.
        call_timeout: Seconds without a sign of life from the server during a call; progress counts
            as one. A server's own `timeout` in its configuration comes before it.
        schema_limits: How large a tool's schema may be.
        structured: Whether models read structured content beside content that does not say it:
            "auto": when it adds something; "always"; "never".
        output_schema: What a result that breaks the tool's output schema does: "strict": raise
            InvalidResultError, with the result in it; "warn": one warning for each tool; "off".
        max_result_chars: Characters of a result's text that a model gets: its head and its tail, with
            a line that says how much is missing and where it is. None means all. `ToolResult.text`
            is always whole.
        max_identical_failures: After so many failures in a row of one tool with the same arguments,
            the same call is not sent again: ToolExecutionError, until the tool is called otherwise.
            None means any number.
        interceptors: Functions around every call, the first one outermost; see
            `mcp_adapters.interception`.

    """

    def __init__(
        self,
        servers: str | os.PathLike[str] | Mapping[str, Any],
        *,
        tools: ToolFilter | Mapping[str, ToolFilter] | None = None,
        require: Sequence[str] = (),
        names: NamePolicy | None = None,
        dialect: Dialect = "portable",
        provider: str | None = None,
        on_bad_tool: OnBadTool = "fail",
        on_server_failure: OnServerFailure = "fail",
        on_tool_error: OnToolError = "return",
        connect_timeout: float = 60.0,
        call_timeout: float = 300.0,
        schema_limits: SchemaLimits | None = None,
        structured: StructuredMode = "auto",
        output_schema: OutputSchemaMode = "warn",
        max_result_chars: int | None = 400_000,
        max_identical_failures: int | None = None,
        interceptors: Sequence[Interceptor] = (),
    ) -> None:
        self._servers = load_servers(servers, environ=os.environ)
        self._filters = _filters(tools, self._servers)
        self._require = tuple(require)
        policy = names or NamePolicy()
        self._policy = replace(policy, reserved=(*policy.reserved, *RESERVED_NAMES))
        self._dialect: Dialect = dialect
        self._provider = None if provider is None else profile(provider)
        self._on_bad_tool: OnBadTool = on_bad_tool
        self._on_server_failure: OnServerFailure = on_server_failure
        self._connect_timeout = connect_timeout
        self._call_options = CallOptions(
            timeout=call_timeout,
            on_tool_error=on_tool_error,
            structured=structured,
            output_schema=output_schema,
            max_result_chars=max_result_chars,
            max_identical_failures=max_identical_failures,
            interceptors=tuple(interceptors),
        )
        self._calls = Calls(self._call_options)
        self._limits = schema_limits or SchemaLimits()
        self._connections: Mapping[str, Connection] = {}
        self._catalog: Catalog | None = None
        self._kept: Mapping[Identity, str] = {}
        self._by_name: dict[str, Tool] = {}
        self._turn = asyncio.Lock()

    # -- life ---------------------------------------------------------------------------------

    def open(self) -> Self:
        """Start every server and list its tools; harmless when it is open already.

        Returns:
            The toolbox itself.

        Raises:
            ServerError: One server cannot be used and `on_server_failure` is "fail".
            ToolboxLoadError: Several servers cannot be used, tools have unusable definitions, or
                required tools are missing; the message names all of them.

        """
        portal().run(self._open)
        return self

    async def aopen(self) -> Self:
        """Start every server and list its tools; as `open`."""
        await portal().arun(self._open)
        return self

    def close(self) -> None:
        """Stop every server; bounded in time, harmless when repeated."""
        portal().run(self._close)

    async def aclose(self) -> None:
        """Stop every server; as `close`."""
        await portal().arun(self._close)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return await self.aopen()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _open(self) -> None:
        async with self._turn:
            if self._catalog is not None:
                return
            self._connections = {
                key: Connection(key, server, connect_timeout=self._connect_timeout)
                for key, server in self._servers.items()
                if not getattr(server, "disabled", False)
            }
            try:
                await self._load()
            except BaseException:
                await self._end()
                raise

    async def _close(self) -> None:
        # Not in turn: closing must not wait for a server that does not come up.
        await self._end()

    async def _end(self) -> None:
        self._catalog = None
        self._by_name = {}
        self._calls.end()
        await asyncio.gather(*(connection.close() for connection in self._connections.values()))

    # -- discovery ----------------------------------------------------------------------------

    def refresh(self) -> None:
        """List every server's tools again; tools keep the names that they once got.

        Raises:
            ServerError, ToolboxLoadError: As `open`; the tools then stay as they were.
            ToolboxClosedError: The toolbox is not open.

        """
        portal().run(self._refresh)

    async def arefresh(self) -> None:
        """List every server's tools again; as `refresh`."""
        await portal().arun(self._refresh)

    async def _refresh(self) -> None:
        async with self._turn:
            self._opened()
            await self._load()

    async def _load(self) -> None:
        answers = await asyncio.gather(*map(self._listing, self._connections.values()))
        failures = [answer for answer in answers if isinstance(answer, McpAdaptersError)]
        if failures and self._on_server_failure == "fail":
            raise _combined(failures)
        listings = [answer for answer in answers if isinstance(answer, Listing)]
        offered = [tool for listing in listings for tool in listing.tools]
        if absent := missing(self._require, offered):
            raise missing_error(absent, offered)
        catalog = build(
            listings,
            filters=self._filters,
            names=self._policy,
            kept=self._kept,
            dialect=self._dialect,
            provider=self._provider,
            limits=self._limits,
            on_bad_tool=self._on_bad_tool,
        )
        for warning in (*catalog.warnings, *map(str, failures)):
            logger.warning("%s", warning)
        self._adopt(catalog)

    def _adopt(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._kept = catalog.names.given
        self._calls.begin(catalog.codecs, self._connections)
        options = self._call_options
        self._by_name = {
            spec.exposed_name: Tool(
                spec,
                self._calls,
                on_tool_error=options.on_tool_error,
                max_result_chars=options.max_result_chars,
            )
            for spec in catalog.specs
        }

    async def _listing(self, connection: Connection) -> Listing | McpAdaptersError:
        try:
            await connection.open()
            pages = await connection.list_pages(timeout=self._call_options.timeout)
            return read_listing(connection.key, pages)
        except McpAdaptersError as error:
            return error

    # -- what there is ------------------------------------------------------------------------

    def _opened(self) -> Catalog:
        if self._catalog is None:
            raise ToolboxClosedError(
                "the toolbox is not open; use 'with Toolbox(...) as toolbox:' or call open()"
            )
        return self._catalog

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order of the servers and of their listings."""
        self._opened()
        return tuple(self._by_name.values())

    @property
    def skipped(self) -> tuple[SkippedTool, ...]:
        """What the servers offer and the toolbox leaves out, each with the reason."""
        return self._opened().skipped

    @property
    def names(self) -> Names:
        """Which tool has which name, and which had it before; for `rename_map` and stored conversations."""
        return self._opened().names

    @property
    def status(self) -> Mapping[str, ServerStatus]:
        """What is known of each server right now."""
        counts = dict.fromkeys(self._connections, 0)
        for tool in self._by_name.values():
            counts[tool.server] += 1
        return {key: connection.status(tools=counts[key]) for key, connection in self._connections.items()}

    def __getitem__(self, name: str) -> Tool:
        """The tool that models know by `name`.

        Raises:
            ToolNotFoundError: There is none; the message lists the closest.
            ToolboxClosedError: The toolbox is not open.

        """
        names = self._opened().names
        return self._by_name[names.exposed[names.find(name)]]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __repr__(self) -> str:
        state = "closed" if self._catalog is None else f"{len(self)} tools"
        return f"<Toolbox of {', '.join(self._servers) or 'no servers'}: {state}>"

    def to(self, framework: str, **options: Any) -> list[Any]:
        """The tools as native tools of a framework.

        Args:
            framework: "langchain", "llamaindex", or any name that an installed package offers.
            options: What the framework's package takes for each tool.

        Raises:
            FrameworkError: The framework cannot be used; the subclass says why.

        """
        made = load(framework)
        return [made.wrap(tool, **options) for tool in self.tools]

    # -- calls --------------------------------------------------------------------------------

    def call(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> ToolResult:
        """Call a tool by the name that models know; see `Tool.call`."""
        return self[name].call(arguments, timeout=timeout)

    async def acall(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> ToolResult:
        """Call a tool by the name that models know; see `Tool.acall`."""
        return await self[name].acall(arguments, timeout=timeout)


def _filters(
    tools: ToolFilter | Mapping[str, ToolFilter] | None, servers: Mapping[str, Any]
) -> Mapping[str, ToolFilter] | ToolFilter | None:
    """The user's filters, with those of the configuration where the user gave none."""
    if isinstance(tools, ToolFilter):
        return tools
    configured = {
        key: parse_filter(server.tools)
        for key, server in servers.items()
        if getattr(server, "tools", None) is not None
    }
    return {**configured, **(tools or {})} or None


def _combined(failures: Sequence[McpAdaptersError]) -> McpAdaptersError:
    """The one failure as it is, or one error that names all."""
    if len(failures) == 1:
        return failures[0]
    lines = [f"{len(failures)} servers cannot be used:", *(f"- {failure}" for failure in failures)]
    return ToolboxLoadError("\n".join(lines), failures=tuple(failures))
