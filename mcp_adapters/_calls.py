"""The way of a call: arguments in, the server's answer out, on whatever thread or loop it is made.

In: a tool's spec and a model's arguments. Out: a `ToolResult`, or an error of the family. Arguments
are decoded and results are read where the caller is; only the request itself crosses to the
background loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_adapters._connection import Connection
from mcp_adapters._portal import portal
from mcp_adapters.errors import (
    InvalidArgumentsError,
    ToolboxClosedError,
    ToolExecutionError,
    ToolNotFoundError,
)
from mcp_adapters.naming import Identity
from mcp_adapters.results import read_result
from mcp_adapters.schema import ArgumentCodec, describe
from mcp_adapters.spec import OnToolError, ToolResult, ToolSpec

__all__ = ("Calls",)


class Calls:
    """Carries out the calls of one toolbox's tools; it is their `Caller`.

    Args:
        on_tool_error: What a tool that says it failed does to the caller.

    """

    def __init__(self, *, on_tool_error: OnToolError) -> None:
        self._on_tool_error: OnToolError = on_tool_error
        self._codecs: Mapping[Identity, ArgumentCodec] = {}
        self._connections: Mapping[str, Connection] | None = None

    def begin(self, codecs: Mapping[Identity, ArgumentCodec], connections: Mapping[str, Connection]) -> None:
        """Serve these tools over these connections from now on."""
        self._codecs, self._connections = codecs, connections

    def end(self) -> None:
        """Refuse every further call."""
        self._codecs, self._connections = {}, None

    def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any] | None, *, timeout: float | None = None
    ) -> ToolResult:
        """Call and wait; see `Tool.call`."""
        connection, sent = self._prepared(spec, arguments)
        connection.refuse_blocking()
        return self._read(spec, portal().run(self._send, connection, spec, sent, timeout))

    async def acall(
        self, spec: ToolSpec, arguments: Mapping[str, Any] | None, *, timeout: float | None = None
    ) -> ToolResult:
        """Call and await; see `Tool.acall`."""
        connection, sent = self._prepared(spec, arguments)
        return self._read(spec, await portal().arun(self._send, connection, spec, sent, timeout))

    def _prepared(
        self, spec: ToolSpec, arguments: Mapping[str, Any] | None
    ) -> tuple[Connection, dict[str, Any]]:
        """Where the call goes, and the arguments as the server wants them."""
        if self._connections is None:
            raise ToolboxClosedError(
                f"the toolbox of tool {spec.exposed_name!r} is closed; open it again or keep it open longer",
                server=spec.server,
                tool=spec.remote_name,
            )
        codec = self._codecs.get((spec.server, spec.remote_name))
        if codec is None:
            raise ToolNotFoundError(
                f"server {spec.server!r} no longer offers the tool {spec.remote_name!r}",
                server=spec.server,
                tool=spec.remote_name,
            )
        decoded = codec.decode(arguments)
        if decoded.problems:
            raise InvalidArgumentsError(
                describe(decoded.problems, spec.exposed_name),
                server=spec.server,
                tool=spec.remote_name,
                problems=decoded.problems,
            )
        return self._connections[spec.server], decoded.arguments

    async def _send(
        self, connection: Connection, spec: ToolSpec, arguments: dict[str, Any], timeout: float | None
    ) -> dict[str, Any]:
        return await connection.call(spec.remote_name, arguments, timeout=timeout)

    def _read(self, spec: ToolSpec, answer: Mapping[str, Any]) -> ToolResult:
        result = read_result(answer, wrapped=spec.wraps_result)
        if result.is_error and self._on_tool_error == "raise":
            raise ToolExecutionError(
                f"tool {spec.remote_name!r} of server {spec.server!r} failed: {result.text}",
                server=spec.server,
                tool=spec.remote_name,
                result=result,
            )
        return result
