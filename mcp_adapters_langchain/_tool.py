"""An MCP tool as a LangChain tool: translation only, both ways.

In: a core `Tool`. Out: a `BaseTool` that models can be given and agents can call. What the model
can act on (a failed tool, wrong arguments, a lost connection, a timeout) comes back as a
`ToolMessage` with `status="error"`; everything else is raised.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Literal, Self

from langchain_core.messages import ToolMessage
from langchain_core.runnables import ensure_config
from langchain_core.tools import BaseTool, BaseToolkit, ToolException
from pydantic import ConfigDict, PrivateAttr

from mcp_adapters import (
    CallAnswers,
    InputRequiredError,
    McpAdaptersError,
    OnProgress,
    ProtocolError,
    ServerError,
    Tool,
    ToolError,
    ToolResult,
    error_text,
    failed_result,
    to_artifact,
)
from mcp_adapters_langchain._content import to_content
from mcp_adapters_langchain._interrupts import acompleted, completed, in_graph
from mcp_adapters_langchain._progress import areporter, reporter

__all__ = ("McpTool", "McpToolkit")

_FOR_THE_MODEL = (ToolError, ServerError, ProtocolError)
"""Failures that a model can read and act on."""

_call_id: ContextVar[str | None] = ContextVar("mcp_adapters_langchain_call_id", default=None)
"""The id of the tool call being run; LangChain tells it to `run`, not to `_run`."""


class McpTool(BaseTool):
    """A LangChain tool that calls an MCP tool, synchronously and asynchronously.

    Made by `toolbox.to("langchain")` or `McpTool.of(tool)`. The arguments go to the server exactly
    as the model gave them, whatever their names; the result's structured content and media are in
    the `artifact` of the ToolMessage.

    Interceptors find in the context of a call: `tool_call_id`, `run_id` (of the tool's run), `tags`,
    `metadata` and `configurable` of the RunnableConfig; ids are None outside a run.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    _tool: Tool = PrivateAttr()

    @classmethod
    def of(cls, tool: Tool, **options: Any) -> Self:
        """Make a LangChain tool of an MCP tool.

        Args:
            tool: A tool of an open toolbox.
            options: Fields of `BaseTool`; `metadata` is added to what is there.

        """
        options["metadata"] = {**_metadata(tool), **(options.get("metadata") or {})}
        native = cls(name=tool.name, description=tool.description, args_schema=tool.model_schema, **options)
        native._tool = tool
        return native

    @property
    def mcp_tool(self) -> Tool:
        """The MCP tool behind it."""
        return self._tool

    def run(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **options: Any) -> Any:
        """Run the tool; as `BaseTool.run`."""
        token = _call_id.set(tool_call_id)
        try:
            return super().run(tool_input, *args, tool_call_id=tool_call_id, **options)
        finally:
            _call_id.reset(token)

    async def arun(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **options: Any) -> Any:
        """Run the tool; as `BaseTool.arun`."""
        token = _call_id.set(tool_call_id)
        try:
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **options)
        finally:
            _call_id.reset(token)

    # Positional-only: a tool may have arguments called "self", "config" or "run_manager".
    def _run(self, /, **arguments: Any) -> tuple[Any, Any]:
        context, report = self._call_context(), self._reporter()

        def send(resume: CallAnswers | None) -> tuple[Any, Any]:
            try:
                return self._answer(
                    self._tool.call(arguments, context=context, on_progress=report, resume=resume)
                )
            except _FOR_THE_MODEL as error:
                return self._failure(error, waits=waits)

        waits = self._tool.pauses and in_graph()
        return completed(send, _call_id.get()) if waits else send(None)

    async def _arun(self, /, **arguments: Any) -> tuple[Any, Any]:
        context, report = self._call_context(), self._areporter()

        async def send(resume: CallAnswers | None) -> tuple[Any, Any]:
            try:
                return self._answer(
                    await self._tool.acall(arguments, context=context, on_progress=report, resume=resume)
                )
            except _FOR_THE_MODEL as error:
                return self._failure(error, waits=waits)

        waits = self._tool.pauses and in_graph()
        return await (acompleted(send, _call_id.get()) if waits else send(None))

    def _call_context(self) -> dict[str, Any]:
        return _context()

    def _reporter(self) -> OnProgress | None:
        return reporter()

    def _areporter(self) -> OnProgress | None:
        return areporter()

    @property
    def _raises(self) -> bool:
        return self._tool.on_tool_error == "raise"

    def _answer(self, result: ToolResult) -> tuple[Any, Any]:
        artifact = self._artifact(result)
        return self._error_message(result, artifact) if result.is_error else (self._content(result), artifact)

    def _content(self, result: ToolResult) -> Any:
        return to_content(result, max_chars=self._tool.max_result_chars)

    def _artifact(self, result: ToolResult) -> dict[str, Any]:
        return to_artifact(result)

    def _failure(self, error: McpAdaptersError, *, waits: bool) -> tuple[Any, Any]:
        if waits and isinstance(error, InputRequiredError):
            raise error
        if self._raises:
            raise ToolException(error_text(error)) from error
        result = failed_result(error)
        told = {"error": type(error).__name__, "message": result.text}
        return self._error_message(result, {**self._artifact(result), **told})

    def _error_message(self, result: ToolResult, artifact: dict[str, Any]) -> tuple[Any, Any]:
        """The failed call as LangChain knows it; without a call id there is no message to make."""
        call_id = _call_id.get()
        if call_id is None:
            return self._content(result), artifact
        message = ToolMessage(
            content=self._content(result),
            artifact=artifact,
            name=self.name,
            tool_call_id=call_id,
            status="error",
        )
        return message, None


class McpToolkit(BaseToolkit):
    """The tools of an open toolbox as a LangChain toolkit."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    toolbox: Any
    """An open `Toolbox`."""

    def get_tools(self) -> list[BaseTool]:
        """The toolbox's tools as they are now, as LangChain tools."""
        return [McpTool.of(tool) for tool in self.toolbox.tools]


def _context() -> dict[str, Any]:
    """What LangChain knows of the call that is being run."""
    config = ensure_config()
    return {
        "tool_call_id": _call_id.get(),
        # The tool's own run is the parent of whatever runs inside it.
        "run_id": getattr(config.get("callbacks"), "parent_run_id", None),
        "tags": tuple(config.get("tags") or ()),
        "metadata": dict(config.get("metadata") or {}),
        "configurable": dict(config.get("configurable") or {}),
    }


def _metadata(tool: Tool) -> dict[str, Any]:
    """What LangChain's callbacks and middleware may want to know, as JSON."""
    hints = tool.annotations
    known = {
        "title": hints.title,
        "read_only": hints.read_only,
        "destructive": hints.destructive,
        "idempotent": hints.idempotent,
        "open_world": hints.open_world,
    }
    annotations = {key: value for key, value in known.items() if value is not None}
    return {"mcp": {"server": tool.server, "tool": tool.remote_name, "annotations": annotations}}
