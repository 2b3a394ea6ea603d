"""Many servers, one set of tools, for everybody: the synchronous and the asynchronous face.

In: servers and what the user decided about them. Out: a `Toolbox`, usable from any thread and any
event loop. It decides nothing itself: `_engine` looks after the servers, `catalog` decides what is
offered, `_calls` carries out calls, `frameworks` finds who makes native tools.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from weakref import WeakSet

from mcp_adapters._calls import CallOptions, Calls
from mcp_adapters._engine import Engine, OnServerFailure, Rules
from mcp_adapters._handlers import running_loop
from mcp_adapters._managing import Managing
from mcp_adapters._meta_tools import meta_tools
from mcp_adapters._offering import Offering
from mcp_adapters._portal import portal
from mcp_adapters._supervision import Reconnect, Statuses, Supervision
from mcp_adapters._tasking import Tasking
from mcp_adapters.asking import Pause
from mcp_adapters.catalog import Catalog, OnBadTool
from mcp_adapters.config import AskInput, load_servers, travelling
from mcp_adapters.declarations import PROVIDERS, declare
from mcp_adapters.errors import ConfigError, ToolNotFoundError
from mcp_adapters.filtering import ToolFilter
from mcp_adapters.frameworks import RESERVED_NAMES, load
from mcp_adapters.handlers import Handlers, LogLevel
from mcp_adapters.instructions import compose_instructions
from mcp_adapters.interception import Interceptor
from mcp_adapters.lockfile import Drift, Lock, OnDrift, parse_lock
from mcp_adapters.naming import NamePolicy, Names
from mcp_adapters.outputs import OutputSchemaMode
from mcp_adapters.policy import ApprovalPolicy
from mcp_adapters.providers import profile
from mcp_adapters.results import StructuredMode
from mcp_adapters.schema import Dialect, SchemaLimits
from mcp_adapters.searching import ToolIndex
from mcp_adapters.spec import CallAnswers, OnProgress, OnToolError, SkippedTools, Tool, ToolResult, ToolSpec
from mcp_adapters.views import servers_view, toolbox_view

__all__ = ("Toolbox",)


class Toolbox(Managing, Offering, Tasking):
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
        total_timeout: Seconds for a whole call, whatever the progress; None sets no such limit.
        max_concurrent_calls: How many calls one server gets at the same time; None sets no limit.
        reconnect: When a lost connection is made anew: "on_use", with the next request, or
            "background", at once and until it succeeds.
        log_level: From which level on servers are asked to log, such as "info"; None asks for nothing, and
            servers of protocol 2026-07-28 then log nothing.
        handlers: Functions that hear of states, log messages, changed tools and progress, and that
            answer what servers ask.
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
        retry_safe: Tools that may be called twice without harm, by your own word: a call of them whose
            outcome is unknown because the connection was lost is sent once more.
        trace_content: Whether OpenTelemetry spans of calls hold arguments and results, up to 16,384
            characters each.
        inputs: Gives the values of `${input:...}` in a configuration, see `load_servers`; None: such a
            variable is an error.
        listings: What servers list, by server key, as `listings` of an earlier toolbox gave it. Such a
            server is not started before one of its tools is called; its listing is then compared.
        resources_as_tools: Whether models can read resources: each server that has any then also has
            the tools `list_resources`, `read_resource` and one for each of its resource templates.
        policy: Which tools only read, and which are not offered at all ("deny"); `ask_first` makes of it
            an interceptor that asks a person. None believes no server and denies nothing.
        read_only: Whether only tools are offered that only read, as the policy says, or a server that it
            trusts.
        lock: What the tools were when somebody looked at them: a lock, or the path of a lock file as
            `mcp-adapters lock` writes it. Tools keep the names that they have in it.
        on_drift: What a tool does that is not as it was locked, at the start and whenever a server is
            listed again: "fail": the toolbox does not open with it, or goes on with what it had, and
            the error names every such tool; "warn": it is named in a warning and in `drifts`; "drop":
            it is also left out, with an entry in `skipped`.

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
        total_timeout: float | None = None,
        max_concurrent_calls: int | None = None,
        reconnect: Reconnect = "on_use",
        handlers: Handlers | None = None,
        log_level: LogLevel | None = None,
        schema_limits: SchemaLimits | None = None,
        structured: StructuredMode = "auto",
        output_schema: OutputSchemaMode = "warn",
        max_result_chars: int | None = 400_000,
        max_identical_failures: int | None = None,
        interceptors: Sequence[Interceptor] = (),
        retry_safe: ToolFilter | None = None,
        trace_content: bool = False,
        inputs: AskInput | None = None,
        listings: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        resources_as_tools: bool = False,
        policy: ApprovalPolicy | None = None,
        read_only: bool = False,
        lock: str | os.PathLike[str] | Lock | None = None,
        on_drift: OnDrift = "fail",
    ) -> None:
        # Everything that was given, for the same toolbox in another process.
        self._given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        naming = names or NamePolicy()
        limits = None if provider is None else profile(provider)
        self._rules = Rules(
            tools=tools,
            require=tuple(require),
            names=replace(naming, reserved=(*naming.reserved, *RESERVED_NAMES)),
            dialect=dialect,
            provider=limits,
            on_bad_tool=on_bad_tool,
            on_server_failure=on_server_failure,
            schema_limits=schema_limits or SchemaLimits(),
            resources_as_tools=resources_as_tools,
            policy=_policy(policy, read_only=read_only),
            read_only=read_only,
            lock=_read_lock(lock),
            on_drift=on_drift,
        )
        self._supervision = Supervision(
            connect_timeout=connect_timeout,
            call_timeout=call_timeout,
            total_timeout=total_timeout,
            max_concurrent_calls=max_concurrent_calls,
            reconnect=reconnect,
            log_level=log_level,
        )
        super().__init__()
        self._handlers = handlers or Handlers()
        self._servers = load_servers(servers, environ=os.environ, inputs=inputs)
        self._engine = self._make_engine()
        self._engine.remember(listings or {})
        self._description_max = None if limits is None else limits.description_max
        self._home = running_loop()
        self._call_options = CallOptions(
            on_tool_error=on_tool_error,
            structured=structured,
            output_schema=output_schema,
            max_result_chars=max_result_chars,
            max_identical_failures=max_identical_failures,
            interceptors=tuple(interceptors),
            retry_safe=retry_safe,
            trace_content=trace_content,
        )
        self._calls = Calls(self._call_options, progressed=lambda news: self._engine.progressed(news))
        self._calls.home = self
        self._calls.verify = lambda key: self._engine.verify(key)
        self._calls.reader = lambda server, tool: self._engine.reader(server, tool)
        self._by_name: dict[str, Tool] = {}
        self._index: tuple[Catalog, ToolIndex] | None = None
        _toolboxes.add(self)

    def _make_engine(self) -> Engine:
        return Engine(self._servers, self._rules, self._supervision, self._handlers, adopted=self._adopted)

    def _adopted(self, catalog: Catalog | None) -> None:
        """Offer what a new catalog says, by one assignment; unchanged tools stay the same objects."""
        if catalog is None:
            self._calls.end()
            self._by_name = {}
            return
        self._calls.begin(catalog.codecs, self._engine.connections)
        known = self._by_name
        self._by_name = {
            spec.exposed_name: tool
            if (tool := known.get(spec.exposed_name)) is not None and tool.spec == spec
            else self._tool(spec)
            for spec in catalog.specs
        }

    def _described(self, key: str, server: Any) -> Any:
        """A server as the engine takes it, from whatever form the user gave."""
        return load_servers({key: server}, environ=os.environ, inputs=self._given["inputs"])[key]

    def _tool(self, spec: ToolSpec) -> Tool:
        options = self._call_options
        return Tool(
            spec,
            self._calls,
            on_tool_error=options.on_tool_error,
            max_result_chars=options.max_result_chars,
            pauses=self._pauses,
        )

    @property
    def _pauses(self) -> bool:
        return isinstance(self._handlers.elicitation, Pause)

    # -- other processes ----------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        return _shared_toolbox, ({**self._given, "servers": travelling(self._given["servers"])},)

    def _open_on_demand(self) -> None:
        """Open at the first use: for a toolbox that came from another process or lives on in a fork."""
        self._calls.wake = lambda: self._engine.open(None)

    def _forked(self) -> None:
        """Leave the connections to the parent process; this one makes its own when it needs them."""
        was_open = self._engine.catalog is not None or self._calls.wake is not None
        listings = {} if self._engine.catalog is None else self._engine.listings()
        self._engine = self._make_engine()
        self._engine.remember(listings)
        self._calls.end()
        if was_open:
            self._open_on_demand()

    async def _opened(self) -> Engine:
        if self._engine.catalog is None and self._calls.wake is not None:
            await self._calls.wake()
        self._engine.opened()
        return self._engine

    def _ready(self) -> Engine:
        if self._engine.catalog is None and self._calls.wake is not None:
            portal().run(self._calls.wake)
        self._engine.opened()
        return self._engine

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
        portal().run(self._engine.open, self._home)
        return self

    async def aopen(self) -> Self:
        """Start every server and list its tools; as `open`. Handlers then run on the calling loop."""
        self._home = running_loop()
        await portal().arun(self._engine.open, self._home)
        return self

    def close(self) -> None:
        """Stop every server; bounded in time, harmless when repeated."""
        self._calls.wake = None
        portal().run(self._engine.close)

    async def aclose(self) -> None:
        """Stop every server; as `close`."""
        self._calls.wake = None
        await portal().arun(self._engine.close)

    @property
    def is_closed(self) -> bool:
        """Whether the toolbox is not open."""
        return self._engine.catalog is None

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

    # -- what there is ------------------------------------------------------------------------

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order of the servers and of their listings."""
        self._ready()
        return tuple(self._by_name.values())

    @property
    def skipped(self) -> SkippedTools:
        """What the servers offer and the toolbox leaves out, each with the reason."""
        return SkippedTools(self._ready().opened().skipped)

    @property
    def names(self) -> Names:
        """Which tool has which name, and which had it before; for `rename_map` and stored conversations."""
        return self._ready().opened().names

    @property
    def status(self) -> Statuses:
        """What is known of each server right now."""
        return self._engine.status()

    def instructions(self, *, max_chars: int = 8_000) -> str:
        """What the connected servers say about their use, as text for a system prompt.

        Args:
            max_chars: Characters of each server's words to keep; the middle of longer ones is left out.

        Returns:
            A fenced section for each server that says something, marked as the server's words; "" when
            none does.

        Raises:
            ToolboxClosedError: The toolbox is not open.

        """
        names: dict[str, dict[str, str]] = {}
        for tool in self.tools:
            names.setdefault(tool.server, {})[tool.remote_name] = tool.name
        said = {key: status.instructions for key, status in self.status.items()}
        return compose_instructions(said, names, max_chars=max_chars)

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """What is not as the lock file says; empty without one, and with `on_drift="fail"`."""
        return self._ready().opened().drifts

    def locked(self) -> Lock:
        """The tools that are offered, as they are now; `Lock.text` is the lock file."""
        return self._ready().lock()

    def listings(self) -> dict[str, list[Any]]:
        """What each server lists, as JSON: a later toolbox that gets it opens without starting a server."""
        return self._ready().listings()

    def __getitem__(self, name: str) -> Tool:
        """The tool that models know by `name`.

        Raises:
            ToolNotFoundError: There is none; the message lists the closest.
            ToolboxClosedError: The toolbox is not open.

        """
        names, tools = self._ready().opened().names, self._by_name
        found = tools.get(names.exposed[names.find(name)])
        if found is None:
            raise ToolNotFoundError(f"the tool {name!r} was just taken away")
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __repr__(self) -> str:
        state = "closed" if self.is_closed else f"{len(self)} tools"
        return f"<Toolbox of {', '.join(self._engine.servers) or 'no servers'}: {state}>"

    def _repr_html_(self) -> str:
        rows = [(tool.name, tool.id, tool.description) for tool in self._by_name.values()]
        catalog = self._engine.catalog
        left_out = 0 if catalog is None else len(catalog.skipped)
        return toolbox_view(
            repr(self).strip("<>"), servers_view(self._engine.status().rows()), rows, left_out
        )

    def search(self, query: str, *, limit: int = 10) -> tuple[Tool, ...]:
        """The tools whose names, descriptions and arguments share words with `query`, best first.

        Args:
            query: What a tool should do, in plain English words.
            limit: How many at most, from 1.

        Raises:
            ConfigError: The extra `search` is not installed, or `limit` is below 1.
            ToolboxClosedError: The toolbox is not open.

        """
        catalog = self._ready().opened()
        if self._index is None or self._index[0] is not catalog:
            self._index = catalog, ToolIndex(catalog.specs)
        found = self._index[1].search(query, limit=limit)
        return tuple(tool for spec in found if (tool := self._by_name.get(spec.exposed_name)) is not None)

    def meta_tools(self) -> tuple[Tool, ...]:
        """Two tools that stand for all: `find_tools`, which searches them, and `call_tool`.

        Give them to `to(..., tools=...)`: an agent can then use hundreds of tools at the price of two
        definitions. Calls go through the same checks and interceptors as those of the tools themselves.

        Raises:
            ToolboxClosedError: The toolbox is not open.

        """
        rules, taken = self._rules, tuple(tool.name for tool in self.tools)
        names = replace(rules.names, reserved=(*rules.names.reserved, *taken))
        return meta_tools(
            self, names=names, dialect=rules.dialect, provider=rules.provider, pauses=self._pauses
        )

    def to(self, framework: str, *, tools: Iterable[Tool] | None = None, **options: Any) -> list[Any]:
        """The tools as native tools of a framework, or as a model provider's API takes them.

        Args:
            framework: "langchain", "llamaindex", or any name that an installed package offers. Or
                "openai", "openai-responses", "anthropic" or "gemini" for JSON-able dicts; then
                `call` and `acall` carry out what the model asks for, by the name that it gives.
            tools: Which tools, in this order, such as what `search` or `meta_tools` gives; None means
                all of the toolbox.
            options: What the framework's package takes for each tool; `strict` for OpenAI, see
                `mcp_adapters.declarations.declare`.

        Raises:
            FrameworkError: The framework cannot be used; the subclass says why.
            ConfigError: The provider does not take an option.

        """
        wanted = self.tools if tools is None else tuple(tools)
        if framework in PROVIDERS:
            options.setdefault("description_max", self._description_max)
            return [declare(tool.spec, framework, **options) for tool in wanted]
        made = load(framework)
        return [made.wrap(tool, **options) for tool in wanted]

    # -- calls --------------------------------------------------------------------------------

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        resume: CallAnswers | None = None,
    ) -> ToolResult:
        """Call a tool by the name that models know; see `Tool.call`."""
        return self[name].call(arguments, timeout=timeout, on_progress=on_progress, resume=resume)

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        resume: CallAnswers | None = None,
    ) -> ToolResult:
        """Call a tool by the name that models know; see `Tool.acall`."""
        return await self[name].acall(arguments, timeout=timeout, on_progress=on_progress, resume=resume)


def _policy(policy: ApprovalPolicy | None, *, read_only: bool) -> ApprovalPolicy | None:
    if read_only and not (policy and (policy.trusted or policy.reads_only)):
        raise ConfigError(
            "read_only=True needs to know what only reads: "
            "give policy=ApprovalPolicy(trusted=[...]) with the servers you trust, or reads_only=[...]"
        )
    return policy


def _read_lock(lock: str | os.PathLike[str] | Lock | None) -> Lock | None:
    if lock is None or isinstance(lock, Lock):
        return lock
    path = Path(lock)
    try:
        return parse_lock(path.read_text(encoding="utf-8"), source=str(path))
    except OSError as error:
        raise ConfigError(
            f"the lock file {path} cannot be read: {error.strerror}; write it with: mcp-adapters lock"
        ) from error


_toolboxes: WeakSet[Toolbox] = WeakSet()
"""Those of this process, for its end and for its forks."""
_shared: dict[bytes, Toolbox] = {}
"""Those that came from another process, by what they were made with."""


def _shared_toolbox(given: dict[str, Any]) -> Toolbox:
    """The toolbox of this process that stands for one of another process; not opened before it is used."""
    key = pickle.dumps(given)
    if key not in _shared:
        toolbox = Toolbox(**given)
        toolbox._open_on_demand()  # noqa: SLF001 - this module's own class
        _shared.setdefault(key, toolbox)
    return _shared[key]


def _forked() -> None:
    for toolbox in list(_toolboxes):
        toolbox._forked()  # noqa: SLF001 - this module's own class


def _at_exit() -> None:
    """Stop the servers of toolboxes that nobody closed; bounded in time, like every close."""
    for toolbox in list(_toolboxes):
        if not toolbox.is_closed:
            portal().hold()
            with contextlib.suppress(Exception):
                toolbox.close()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
