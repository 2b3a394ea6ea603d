"""Tools in the form that langchain-mcp-adapters gives them: content as blocks, flat metadata, interceptors.

In: a core `Tool`, and what was decided about it. Out: an `McpTool` whose messages and metadata have that
form. Everything else is as `McpTool` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypedDict

from langchain_core.tools import ToolException
from pydantic import PrivateAttr

from mcp_adapters import Kept, OnProgress, TextPart, Tool, ToolResult
from mcp_adapters_langchain._tool import McpTool
from mcp_adapters_langchain.compat._callbacks import ProgressCallback, together
from mcp_adapters_langchain.compat._interceptors import CALLS, NativeResult, Onion, ToolCallInterceptor

__all__ = ("CompatTool", "MCPToolArtifact", "Ways")

_runtime: ContextVar[object | None] = ContextVar("mcp_adapters_langchain_runtime", default=None)
"""LangGraph's runtime of the tool call being run."""


class MCPToolArtifact(TypedDict, total=False):
    """The artifact of a tool message."""

    structured_content: Any
    """As the server sent it; not there when it sent none."""
    is_error: bool
    result: dict[str, Any]
    """The server's whole answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """What was decided about tools."""

    kept: Kept | None = None
    """What keeps the connection; None when somebody else does."""
    server_name: str
    interceptors: Sequence[ToolCallInterceptor] = ()
    on_progress: ProgressCallback | None = None
    raises: bool = False
    """Whether a failure is raised instead of told to the model."""


class CompatTool(McpTool):
    """A LangChain tool that calls an MCP tool; made by the functions of this package."""

    _ways: Ways = PrivateAttr()
    _find: Callable[[str], Tool | None] = PrivateAttr()

    @classmethod
    def made(cls, tool: Tool, ways: Ways, find: Callable[[str], Tool | None], **options: Any) -> CompatTool:
        """Make a tool.

        Args:
            tool: The tool.
            ways: What was decided about it.
            find: Gives the same server's tool of a name, for interceptors.
            options: Fields of `BaseTool`.

        """
        native = cls.of(tool, **{"metadata": flat_metadata(tool), **options})
        native._ways, native._find = ways, find  # noqa: SLF001 - this class
        return native

    @property
    def coroutine(self) -> Callable[..., Any] | None:
        """Tells LangGraph whether interceptors want its runtime; never called."""
        wanted = self._ways.interceptors and "runtime" not in self.args
        return _wants_runtime if wanted else None

    def run(self, tool_input: Any, *args: Any, **options: Any) -> Any:
        """Run the tool; as `BaseTool.run`."""
        with self._without_runtime(tool_input) as given:
            return super().run(given, *args, **options)

    async def arun(self, tool_input: Any, *args: Any, **options: Any) -> Any:
        """Run the tool; as `BaseTool.arun`."""
        with self._without_runtime(tool_input) as given:
            return await super().arun(given, *args, **options)

    @contextmanager
    def _without_runtime(self, tool_input: Any) -> Iterator[Any]:
        """Take what LangGraph put among the arguments out of them."""
        if self.coroutine is None or not isinstance(tool_input, dict):
            yield tool_input
            return
        token = _runtime.set(tool_input.get("runtime"))
        try:
            yield {name: value for name, value in tool_input.items() if name != "runtime"}
        finally:
            _runtime.reset(token)

    def _call_context(self) -> dict[str, Any]:
        context, ways = super()._call_context(), self._ways
        if not ways.interceptors:
            return context
        onion = Onion(
            interceptors=ways.interceptors,
            server_name=ways.server_name,
            find=self._find,
            runtime=_runtime.get(),
        )
        return {**context, CALLS: onion}

    def _reporter(self) -> OnProgress | None:
        return together(self._ways.on_progress, super()._reporter())

    def _areporter(self) -> OnProgress | None:
        return together(self._ways.on_progress, super()._areporter())

    @property
    def _raises(self) -> bool:
        return self._ways.raises

    def _answer(self, result: ToolResult) -> tuple[Any, Any]:
        if isinstance(result, NativeResult):
            return result.native, None
        if result.is_error and self._raises:
            raise ToolException(result.text)
        return super()._answer(result)

    def _content(self, result: ToolResult) -> list[dict[str, Any]]:
        content = super()._content(result)
        if not isinstance(content, str):
            blocks: list[dict[str, Any]] = content
            return blocks
        texts = [part.text for part in result.parts if isinstance(part, TextPart)]
        # One block for each of the server's texts, unless the text says more or less than they do.
        shown = texts if texts and "\n".join(texts) == content else [content]
        return [{"type": "text", "text": text} for text in shown]

    def _artifact(self, result: ToolResult) -> dict[str, Any]:
        artifact = super()._artifact(result)
        structured = artifact["result"].get("structuredContent")
        rest = {key: value for key, value in artifact.items() if key != "structured_content"}
        return rest if structured is None else {"structured_content": structured, **rest}


async def _wants_runtime(runtime: Any = None) -> None:
    """A signature for LangGraph to look at."""
    raise AssertionError("only its signature is used")


def flat_metadata(tool: Tool) -> dict[str, Any]:
    """A tool's annotations and `_meta` by the protocol's names, at the top of the metadata."""
    hints = tool.annotations
    said = {
        "title": hints.title,
        "readOnlyHint": hints.read_only,
        "destructiveHint": hints.destructive,
        "idempotentHint": hints.idempotent,
        "openWorldHint": hints.open_world,
    }
    flat = said if any(value is not None for value in said.values()) else {}
    return {**flat, **({"_meta": dict(tool.spec.meta)} if tool.spec.meta else {})}
