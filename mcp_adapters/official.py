"""Results in the types of the official SDK, for code that was written for them.

In: a `ToolResult`, or the SDK's `CallToolResult`. Out: the same in the other type. Nothing is lost on the
way: what the SDK's types cannot hold is a line of text.
"""

from __future__ import annotations

from typing import Any

from mcp_types import CallToolResult, TextContent
from pydantic import ValidationError

from mcp_adapters.results import StructuredMode, read_result
from mcp_adapters.spec import ToolResult

__all__ = ("from_official", "to_official")


def to_official(result: ToolResult) -> CallToolResult:
    """Make the SDK's result of a result.

    Args:
        result: Any result. One that was made by hand, or has content that the SDK's types refuse, becomes
            one text with its structured content.

    """
    try:
        if result.raw:
            return CallToolResult.model_validate(result.raw)
    except ValidationError:
        pass  # a part that the protocol does not know; its line is in the text
    structured: Any = result.structured if isinstance(result.structured, dict) else None
    return CallToolResult(
        content=[TextContent(type="text", text=result.text)],
        structured_content=structured,
        is_error=result.is_error,
    )


def from_official(result: CallToolResult, *, structured: StructuredMode = "auto") -> ToolResult:
    """Read the SDK's result, such as one that an interceptor made; `structured` as in `read_result`."""
    return read_result(
        result.model_dump(by_alias=True, mode="json", exclude_none=True), structured=structured
    )
