"""The servers of a toolbox while it is open: list again, add, replace, remove, stop, start.

In: a server's key, and its description where there is a new one. Out: what is different now for
whoever uses the tools. Each has a synchronous and an asynchronous form; what happens is decided by `_engine`.
"""

from __future__ import annotations

from typing import Any

from mcp_adapters._engine import Engine
from mcp_adapters._portal import portal
from mcp_adapters.handlers import ToolsChange

__all__ = ("Managing",)


class Managing:
    """The part of a toolbox that changes its servers."""

    _engine: Engine

    def _described(self, key: str, server: Any) -> Any:
        """A server as the engine takes it, from whatever form the user gave."""
        raise NotImplementedError

    def refresh(self, *, server: str | None = None) -> ToolsChange:
        """List servers' tools again; tools keep the names that they once got.

        Servers that announce changes are listed again by themselves.

        Args:
            server: The key of the only server to list; None means all.

        Returns:
            What is different now, by exposed name.

        Raises:
            ServerError, ToolboxLoadError: As `open`; the tools then stay as they were.
            ConfigError: There is no such server, or it is disabled.
            ToolboxClosedError: The toolbox is not open.

        """
        return portal().run(self._engine.refresh, self._only(server))

    async def arefresh(self, *, server: str | None = None) -> ToolsChange:
        """List servers' tools again; as `refresh`."""
        return await portal().arun(self._engine.refresh, self._only(server))

    def _only(self, server: str | None) -> list[str] | None:
        return None if server is None else [one.key for one in self._engine.chosen(server)]

    def add(self, key: str, server: Any) -> ToolsChange:
        """Start one more server; when it cannot be used, everything stays as it was.

        Args:
            key: A new key.
            server: As in the mapping that the toolbox was made with.

        Raises:
            ConfigError: The key is taken, or the description cannot be used.
            ServerError, ToolboxLoadError: As `open`.
            ToolboxClosedError: The toolbox is not open.

        """
        return portal().run(self._engine.add, key, self._described(key, server))

    async def aadd(self, key: str, server: Any) -> ToolsChange:
        """Start one more server; as `add`."""
        return await portal().arun(self._engine.add, key, self._described(key, server))

    def update(self, key: str, server: Any) -> ToolsChange:
        """Replace a server by another description; when that cannot be used, the old one goes on.

        Raises:
            ConfigError: There is no such key, or the description cannot be used.
            ServerError, ToolboxLoadError: As `open`.
            ToolboxClosedError: The toolbox is not open.

        """
        return portal().run(self._engine.update, key, self._described(key, server))

    async def aupdate(self, key: str, server: Any) -> ToolsChange:
        """Replace a server by another description; as `update`."""
        return await portal().arun(self._engine.update, key, self._described(key, server))

    def remove(self, key: str) -> ToolsChange:
        """Stop a server and take its tools away.

        Raises:
            ConfigError: There is no such key.
            ToolboxLoadError: A required tool would be missing.
            ToolboxClosedError: The toolbox is not open.

        """
        return portal().run(self._engine.remove, key)

    async def aremove(self, key: str) -> ToolsChange:
        """Stop a server and take its tools away; as `remove`."""
        return await portal().arun(self._engine.remove, key)

    def disable(self, key: str) -> ToolsChange:
        """Stop a server and take its tools away until `enable`; errors as `remove`."""
        return portal().run(self._engine.disable, key)

    async def adisable(self, key: str) -> ToolsChange:
        """Stop a server until `aenable`; as `disable`."""
        return await portal().arun(self._engine.disable, key)

    def enable(self, key: str) -> ToolsChange:
        """Start a server that is disabled; errors as `update`."""
        return portal().run(self._engine.enable, key)

    async def aenable(self, key: str) -> ToolsChange:
        """Start a server that is disabled; as `enable`."""
        return await portal().arun(self._engine.enable, key)

    def restart(self, key: str) -> ToolsChange:
        """Stop a server and start it again; errors as `update`. Calls in flight are lost."""
        return portal().run(self._engine.restart, key)

    async def arestart(self, key: str) -> ToolsChange:
        """Stop a server and start it again; as `restart`."""
        return await portal().arun(self._engine.restart, key)

    def roots_changed(self) -> None:
        """Tell the servers that the roots are others than before; they ask `Handlers.roots` again.

        Servers of protocol 2026-07-28 ask with every call and are told nothing.

        Raises:
            ToolboxClosedError: The toolbox is not open.

        """
        portal().run(self._engine.roots_changed)

    async def aroots_changed(self) -> None:
        """Tell the servers that the roots are others than before; as `roots_changed`."""
        await portal().arun(self._engine.roots_changed)
