"""The part of a toolbox that lives on the background loop: servers in, a catalog out.

In: servers, what the user decided, and who wants to hear of changes. Out: connections that are
looked after and a catalog that is replaced by one assignment whenever something changes. What is
offered is decided by `catalog`, what a connection does by `_connection`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from mcp_adapters._connection import Connection
from mcp_adapters._handlers import Messenger
from mcp_adapters._questions import Questions
from mcp_adapters._resource_tools import Reader, Readers, with_resource_tools
from mcp_adapters._supervision import ServerState, Statuses, Supervision
from mcp_adapters.asking import ElicitationCompleted
from mcp_adapters.catalog import Catalog, Listing, OnBadTool, build, read_listing
from mcp_adapters.errors import ConfigError, McpAdaptersError, ToolboxClosedError, ToolboxLoadError
from mcp_adapters.filtering import ToolFilter, missing, missing_error, parse_filter
from mcp_adapters.handlers import Handlers, LogMessage, StateChange, ToolsChange
from mcp_adapters.lockfile import Drift, Lock, OnDrift, lock_tools
from mcp_adapters.naming import Identity, NamePolicy
from mcp_adapters.policy import ApprovalPolicy
from mcp_adapters.providers import ProviderProfile
from mcp_adapters.schema import Dialect, SchemaLimits
from mcp_adapters.spec import ListedTool, Progress
from mcp_adapters.tasks import TaskState

__all__ = ("Engine", "OnServerFailure", "Rules", "combined")

logger = logging.getLogger(__name__)

OnServerFailure: TypeAlias = Literal["fail", "skip"]
"""What a server that cannot be used does: keep the toolbox from opening, or be left out."""

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the user decided about a toolbox; see `Toolbox` for each."""

    tools: ToolFilter | Mapping[str, ToolFilter] | None
    require: tuple[str, ...]
    names: NamePolicy
    dialect: Dialect
    provider: ProviderProfile | None
    on_bad_tool: OnBadTool
    on_server_failure: OnServerFailure
    schema_limits: SchemaLimits
    resources_as_tools: bool = False
    policy: ApprovalPolicy | None = None
    read_only: bool = False
    lock: Lock | None = None
    on_drift: OnDrift = "fail"


class Engine:
    """The servers of one toolbox; everything here runs on the background loop.

    Args:
        servers: By key, in order.
        rules: What the user decided.
        supervision: How connections are looked after.
        handlers: The user's functions.
        adopted: Is given each new catalog, and None when the toolbox closes; on the background loop.

    """

    def __init__(
        self,
        servers: Mapping[str, Any],
        rules: Rules,
        supervision: Supervision,
        handlers: Handlers,
        *,
        adopted: Callable[[Catalog | None], None],
    ) -> None:
        self.servers = dict(servers)
        self._rules = rules
        self._supervision = supervision
        self._handlers = handlers
        self._adopted = adopted
        self._messenger = Messenger(None)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turn = asyncio.Lock()
        self._listings: dict[str, Listing] = {}
        self._kept: Mapping[Identity, str] = {}
        self._stale: set[str] = set()
        self._unverified: set[str] = set()
        self._readers: dict[str, Readers] = {}
        self._refreshing: asyncio.Task[None] | None = None
        self.connections: dict[str, Connection] = {}
        self.catalog: Catalog | None = None
        """What is offered; None while the toolbox is closed. Replaced as a whole, never changed."""

    # -- stored listings ----------------------------------------------------------------------

    def remember(self, listings: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Take stored listings as they are: their servers are not started before they are called.

        Args:
            listings: Entries of `tools/list` by server key, as `listings` gave them.

        """
        for key, entries in listings.items():
            if key in self.servers:
                self._listings[key] = read_listing(key, [{"tools": list(entries)}])
        self._unverified = {key for key in listings if key in self.servers}

    def listings(self) -> dict[str, list[Any]]:
        """What each server lists, as JSON; for `remember`."""
        self.opened()
        return {key: [tool.definition for tool in listing.tools] for key, listing in self._listings.items()}

    def lock(self) -> Lock:
        """The tools that are offered, as they are now."""
        listed = {
            (tool.server, tool.name): tool for listing in self._listings.values() for tool in listing.tools
        }
        specs = self.opened().specs
        return lock_tools((listed[spec.server, spec.remote_name], spec.exposed_name) for spec in specs)

    async def verify(self, key: str) -> None:
        """Compare a stored listing with its server, once; what is offered follows the server.

        Raises:
            ServerError, ToolboxLoadError: As `refresh`.

        """
        if key in self._unverified:
            await self.refresh([key])

    # -- life ---------------------------------------------------------------------------------

    async def open(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Start every server and list its tools; harmless when it is open already.

        Args:
            loop: The user's event loop, on which handlers run and connected clients live.

        """
        async with self._turn:
            if self.catalog is not None:
                return
            self._loop, self._messenger = loop, Messenger(loop)
            try:
                self.connections = {key: self._connection(key) for key in self.servers}
                await self._load([key for key in self.connections if key not in self._unverified])
            except BaseException:
                await self._end()
                raise

    async def close(self) -> None:
        """Stop every server; not in turn, since closing must not wait for a server that does not start."""
        await self._end()

    async def _end(self) -> None:
        self.catalog = None
        self._adopted(None)
        self._listings = {key: self._listings[key] for key in self._unverified if key in self._listings}
        if self._refreshing is not None:
            self._refreshing.cancel()
        await asyncio.gather(*(connection.close() for connection in self.connections.values()))
        self._messenger.close()

    def opened(self) -> Catalog:
        """The catalog.

        Raises:
            ToolboxClosedError: The toolbox is not open.

        """
        if self.catalog is None:
            raise ToolboxClosedError(
                "the toolbox is not open; use 'with Toolbox(...) as toolbox:' or call open()"
            )
        return self.catalog

    def status(self) -> Statuses:
        """What is known of each server."""
        counts = dict.fromkeys(self.connections, 0)
        for spec in self.catalog.specs if self.catalog else ():
            counts[spec.server] += 1
        known = ((key, one.status(tools=counts[key])) for key, one in self.connections.items())
        return Statuses(known)

    @property
    def messenger(self) -> Messenger:
        """Brings news to where the toolbox was opened."""
        return self._messenger

    @property
    def fails_on_servers(self) -> bool:
        """Whether one server that cannot be used fails what concerns all."""
        return self._rules.on_server_failure == "fail"

    def chosen(self, key: str | None) -> list[Connection]:
        """The connections that a request concerns: that of one server, or all that are not disabled.

        Raises:
            ConfigError: There is no such server, or it is disabled.
            ToolboxClosedError: The toolbox is not open.

        """
        self.opened()
        if key is None:
            return [connection for connection in self.connections.values() if not connection.disabled]
        connection = self._known(key)
        if connection.disabled:
            raise ConfigError(f"server {key!r} is disabled; use enable() first", server=key)
        return [connection]

    def reader(self, server: str, tool: str) -> Reader | None:
        """What carries out a tool that stands for reading resources; None for the server's own tools."""
        return self._readers.get(server, {}).get(tool)

    def _connection(self, key: str) -> Connection:
        new = Connection(
            key,
            self.servers[key],
            supervision=self._supervision,
            observer=self,
            questions=Questions(key, self._handlers),
            loop=self._loop,
        )
        if (old := self.connections.get(key)) is not None:
            new.subscriptions.take(old.subscriptions)
        return new

    # -- what connections tell ----------------------------------------------------------------

    def state_changed(self, server: str, old: ServerState, new: ServerState) -> None:
        """Pass a change of state on."""
        self._messenger.tell(self._handlers.state_changed, StateChange(server=server, old=old, new=new))

    def logged(self, server: str, level: str, name: str | None, data: Any) -> None:
        """Put a server's log message into `logging` and pass it on."""
        number = _LEVELS.get(level, logging.CRITICAL)
        logging.getLogger(f"mcp_adapters.server.{server}").log(number, "%s", data)
        self._messenger.tell(
            self._handlers.log, LogMessage(server=server, level=level, logger=name, data=data)
        )

    def progressed(self, news: Progress) -> None:
        """Pass the progress of a call on."""
        self._messenger.tell(self._handlers.progress, news)

    def page_done(self, server: str, elicitation_id: str) -> None:
        """Pass on that a person is done with a page."""
        self._messenger.tell(
            self._handlers.elicitation_completed,
            ElicitationCompleted(server=server, elicitation_id=elicitation_id),
        )

    def task_changed(self, task: TaskState) -> None:
        """Pass on that a task began or has another status."""
        self._messenger.tell(self._handlers.task, task)

    def tools_changed(self, server: str) -> None:
        """List a server again soon; news that come while that is under way are one."""
        self._stale.add(server)
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._catch_up())

    async def _catch_up(self) -> None:
        while self._stale and self.catalog is not None:
            stale, self._stale = sorted(self._stale), set()
            try:
                await self.refresh(stale)
            except McpAdaptersError as error:
                logger.warning("the tools of %s could not be listed again: %s", stale, error)

    # -- discovery ----------------------------------------------------------------------------

    async def refresh(self, keys: Sequence[str] | None = None) -> ToolsChange:
        """List servers again; tools keep the names that they once got.

        Args:
            keys: The servers; None means all.

        Returns:
            What is different now.

        Raises:
            ServerError, ToolboxLoadError: As `open`; what is offered stays as it was.

        """
        async with self._turn:
            self.opened()
            return await self._load([key for key in keys or self.connections if key in self.connections])

    async def _load(self, keys: Sequence[str]) -> ToolsChange:
        wanted = [self.connections[key] for key in keys if not self.connections[key].disabled]
        answers = await asyncio.gather(*map(self._listing, wanted))
        failures = [answer for answer in answers if isinstance(answer, McpAdaptersError)]
        if failures and self._rules.on_server_failure == "fail":
            raise combined(failures)
        fresh = {answer.server: answer for answer in answers if isinstance(answer, Listing)}
        self._unverified -= fresh.keys()
        failed = {str(failure.server) for failure in failures}
        return self._adopt({**self._listings, **fresh}, failed, [str(failure) for failure in failures])

    async def _listing(self, connection: Connection) -> Listing | McpAdaptersError:
        try:
            await connection.open()
            pages = await connection.list_pages()
            listing = read_listing(connection.key, pages, forbidden=connection.mirrors.invalid)
            if not self._rules.resources_as_tools:
                return listing
            listing, self._readers[connection.key] = await with_resource_tools(connection, listing)
            return listing
        except McpAdaptersError as error:
            return error

    def _adopt(
        self, listings: Mapping[str, Listing], failed: set[str], warnings: Sequence[str] = ()
    ) -> ToolsChange:
        """Decide anew what is offered, and offer it by one assignment."""
        current = {key: listings[key] for key in self.connections if key in listings and key not in failed}
        offered = [tool for listing in current.values() for tool in listing.tools]
        if absent := missing(self._rules.require, offered):
            raise missing_error(absent, offered)
        catalog = build(
            list(current.values()),
            filters=_filters(self._rules.tools, self.servers),
            names=self._rules.names,
            kept=self._kept,
            dialect=self._rules.dialect,
            provider=self._rules.provider,
            limits=self._rules.schema_limits,
            on_bad_tool=self._rules.on_bad_tool,
            policy=self._rules.policy,
            read_only=self._rules.read_only,
            lock=self._rules.lock,
            on_drift=self._rules.on_drift,
        )
        if absent := missing(self._rules.require, _without(offered, catalog.drifts, self._rules.on_drift)):
            raise missing_error(absent, offered)
        for warning in (*catalog.warnings, *warnings):
            logger.warning("%s", warning)
        change = _difference(self.catalog, catalog)
        self._listings, self._kept, self.catalog = current, catalog.names.given, catalog
        self._adopted(catalog)
        if change:
            self._messenger.tell(self._handlers.tools_changed, change)
        return change

    async def roots_changed(self) -> None:
        """Tell the servers that the roots are others than before."""
        self.opened()
        await asyncio.gather(*(connection.roots_changed() for connection in self.connections.values()))

    # -- management ---------------------------------------------------------------------------

    async def add(self, key: str, server: Any) -> ToolsChange:
        """Start one more server; when it cannot be used, everything stays as it was."""
        async with self._turn:
            self.opened()
            if key in self.connections:
                raise ConfigError(
                    f"there is a server {key!r} already; use update() to replace it", server=key
                )
            return await self._with(key, server)

    async def update(self, key: str, server: Any) -> ToolsChange:
        """Replace a server by another description; when that cannot be used, the old one goes on."""
        async with self._turn:
            self._known(key)
            return await self._with(key, server)

    async def _with(self, key: str, server: Any) -> ToolsChange:
        servers, listings, catalog = dict(self.servers), self._listings, self.catalog
        old = self.connections.get(key)
        self.servers[key] = server
        new = self.connections[key] = self._connection(key)
        try:
            change = await self._load([key])
            if key not in self._listings and not new.disabled:
                # Left out by on_server_failure="skip"; but this one was asked for by name.
                raise new.last_error or ConfigError(f"server {key!r} cannot be used", server=key)
        except BaseException:
            self.servers = servers
            if old is not None:
                self.connections[key] = old
            else:
                del self.connections[key]
            if self.catalog is not catalog:
                self._adopt(listings, set())
            await new.close()
            raise
        if old is not None:
            await old.close()
        return change

    async def remove(self, key: str) -> ToolsChange:
        """Stop a server and take its tools away; nothing changes when a required tool would go."""
        async with self._turn:
            connection = self._known(key)
            change = self._adopt(self._listings, {key})
            del self.servers[key], self.connections[key]
            await connection.close()
            return change

    async def disable(self, key: str) -> ToolsChange:
        """Stop a server and take its tools away, until `enable`; as `remove`."""
        return await self._switched(key, disabled=True)

    async def enable(self, key: str) -> ToolsChange:
        """Start a disabled server."""
        return await self._switched(key, disabled=False)

    async def _switched(self, key: str, *, disabled: bool) -> ToolsChange:
        async with self._turn:
            old = self._known(key)
            if old.disabled == disabled:
                return ToolsChange()
            new = self._connection(key)
            if disabled:
                change = self._adopt(self._listings, {key})
                new.disable()
            else:
                new.enable()
            self.connections[key] = new
            await old.close()
            return change if disabled else await self._enabled(key, new)

    async def _enabled(self, key: str, new: Connection) -> ToolsChange:
        try:
            return await self._load([key])
        except BaseException:
            self.connections[key] = self._connection(key)
            self.connections[key].disable()
            await new.close()
            raise

    async def restart(self, key: str) -> ToolsChange:
        """Stop a server and start it again."""
        async with self._turn:
            old = self._known(key)
            self.connections[key] = self._connection(key)
            await old.close()
            return await self._load([key])

    def _known(self, key: str) -> Connection:
        self.opened()
        if key not in self.connections:
            known = ", ".join(map(repr, self.connections)) or "none"
            raise ConfigError(f"there is no server {key!r}; there are: {known}", server=key)
        return self.connections[key]


def _without(
    offered: Sequence[ListedTool], drifts: Sequence[Drift], on_drift: OnDrift
) -> Sequence[ListedTool]:
    """The tools without those that a drift leaves out."""
    left_out = {(drift.server, drift.name) for drift in drifts if on_drift == "drop"}
    return [tool for tool in offered if (tool.server, tool.name) not in left_out]


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


def combined(failures: Sequence[McpAdaptersError]) -> McpAdaptersError:
    """The one failure as it is, or one error that names all."""
    if len(failures) == 1:
        return failures[0]
    lines = [f"{len(failures)} servers cannot be used:", *(f"- {failure}" for failure in failures)]
    return ToolboxLoadError("\n".join(lines), failures=tuple(failures))


def _difference(old: Catalog | None, new: Catalog) -> ToolsChange:
    before = {spec.exposed_name: spec for spec in old.specs} if old is not None else {}
    after = {spec.exposed_name: spec for spec in new.specs}
    return ToolsChange(
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        changed=tuple(sorted(name for name in after.keys() & before.keys() if after[name] != before[name])),
    )
