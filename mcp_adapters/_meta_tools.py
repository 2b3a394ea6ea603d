"""Two tools that stand for all of a toolbox's: one finds tools, the other calls them.

In: an open toolbox. Out: core tools that every framework package wraps like any other. A model then
pays for two definitions instead of hundreds, and reads those of the tools that it needs. The calls
themselves are the toolbox's own: nothing about them is decided here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from mcp_adapters.catalog import build, read_listing
from mcp_adapters.errors import InvalidArgumentsError
from mcp_adapters.naming import NamePolicy
from mcp_adapters.providers import ProviderProfile
from mcp_adapters.results import read_result
from mcp_adapters.schema import ArgumentCodec, Dialect, SchemaLimits, describe
from mcp_adapters.spec import CallAnswers, OnProgress, Tool, ToolResult, ToolSpec

__all__ = ("meta_tools",)

_SERVER = "toolbox"
_FIND, _CALL = "find_tools", "call_tool"
_MOST = 50
_DEFINITIONS: tuple[dict[str, Any], ...] = (
    {
        "name": _FIND,
        "title": "Find tools",
        "description": (
            "Find the tools that fit a task. Gives the name, the description and the parameters (JSON "
            f"Schema) of each, best first. Call them with {_CALL}."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "What the tool should do, in a few English words",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": _MOST,
                    "description": "How many tools at most; 5 when left out",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
    {
        "name": _CALL,
        "title": "Call a tool",
        "description": f"Call a tool that {_FIND} gave.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": f"The tool's name, as {_FIND} gave it"},
                "arguments": {
                    "type": "object",
                    "description": f"The tool's arguments, by the parameters that {_FIND} gave",
                },
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    },
)


class Searchable(Protocol):
    """A toolbox, as far as these two tools use it."""

    def search(self, query: str, *, limit: int = 10) -> tuple[Tool, ...]:
        """The tools that fit, best first."""
        ...

    def __getitem__(self, name: str) -> Tool:
        """The tool that models know by `name`."""
        ...


def meta_tools(
    toolbox: Searchable,
    *,
    names: NamePolicy,
    dialect: Dialect,
    provider: ProviderProfile | None,
    pauses: bool = False,
) -> tuple[Tool, ...]:
    """The tool that finds tools and the one that calls them, in this order.

    Args:
        toolbox: Whose tools are found and called.
        names: How exposed names are made; these two carry no prefix.
        dialect: For which kind of model the schemas are projected.
        provider: The provider whose limits hold; None means nobody's.
        pauses: Whether calls of the toolbox may end with `InputRequiredError`.

    """
    catalog = build(
        [read_listing(_SERVER, [{"tools": list(_DEFINITIONS)}])],
        filters=None,
        names=replace(names, prefix="never"),
        kept={},
        dialect=dialect,
        provider=provider,
        limits=SchemaLimits(),
        on_bad_tool="fail",
    )
    caller = _MetaCaller(toolbox, catalog.codecs)
    return tuple(Tool(spec, caller, pauses=pauses) for spec in catalog.specs)


class _MetaCaller:
    """Carries out the calls of both: a search here, everything else by the toolbox."""

    def __init__(self, toolbox: Searchable, codecs: Mapping[tuple[str, str], ArgumentCodec]) -> None:
        self._toolbox = toolbox
        self._codecs = codecs

    def call(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any] | None,
        *,
        timeout: float | None = None,
        context: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        resume: CallAnswers | None = None,
    ) -> ToolResult:
        given = self._decoded(spec, arguments)
        if spec.remote_name == _FIND:
            return self._find(given)
        tool = self._toolbox[given["name"]]
        return tool.call(
            given.get("arguments"), timeout=timeout, context=context, on_progress=on_progress, resume=resume
        )

    async def acall(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any] | None,
        *,
        timeout: float | None = None,
        context: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        resume: CallAnswers | None = None,
    ) -> ToolResult:
        given = self._decoded(spec, arguments)
        if spec.remote_name == _FIND:
            return self._find(given)
        tool = self._toolbox[given["name"]]
        return await tool.acall(
            given.get("arguments"), timeout=timeout, context=context, on_progress=on_progress, resume=resume
        )

    def _decoded(self, spec: ToolSpec, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        decoded = self._codecs[spec.server, spec.remote_name].decode({} if arguments is None else arguments)
        if decoded.problems:
            raise InvalidArgumentsError(
                describe(decoded.problems, spec.exposed_name),
                server=spec.server,
                tool=spec.remote_name,
                problems=decoded.problems,
            )
        return decoded.arguments

    def _find(self, given: Mapping[str, Any]) -> ToolResult:
        found = self._toolbox.search(given["query"], limit=given.get("limit", 5))
        return read_result(_told(found), structured="never")


def _told(tools: Sequence[Tool]) -> dict[str, Any]:
    """What was found, as a server would answer it."""
    found = [
        {"name": tool.name, "description": tool.description, "parameters": tool.model_schema}
        for tool in tools
    ]
    text = json.dumps(found, ensure_ascii=False) if found else "No tool has these words; try others."
    return {"content": [{"type": "text", "text": text}], "structuredContent": {"tools": found}}
