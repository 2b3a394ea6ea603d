"""Results, listings and questions in the types of the official SDK, for code that was written for them.

In: a `ToolResult`, or the SDK's `CallToolResult`; what a server lists, as JSON; what a server asks of a
model. Out: the same in the other type. Nothing is lost on the way: what the SDK's types cannot hold of a
result is a line of text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcp_types import (
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    ReadResourceResult,
    TextContent,
)
from pydantic import ValidationError

from mcp_adapters.asking import SamplingAnswer, SamplingRequest
from mcp_adapters.prompts import Prompt
from mcp_adapters.resources import Resource, ResourceContents, ResourceTemplate
from mcp_adapters.results import StructuredMode, read_result
from mcp_adapters.sampling import read_answer
from mcp_adapters.spec import ToolResult

__all__ = (
    "from_official",
    "from_official_answer",
    "to_official",
    "to_official_contents",
    "to_official_prompts",
    "to_official_request",
    "to_official_resources",
    "to_official_templates",
    "to_official_tools",
)


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


def to_official_tools(listed: Iterable[Mapping[str, Any]]) -> ListToolsResult:
    """Make the SDK's listing of tools, from a server's entries of `Toolbox.listings`."""
    return ListToolsResult.model_validate({"tools": list(listed)})


def to_official_resources(listed: Iterable[Resource]) -> ListResourcesResult:
    """Make the SDK's listing of resources."""
    return ListResourcesResult.model_validate({"resources": [one.raw for one in listed]})


def to_official_templates(listed: Iterable[ResourceTemplate]) -> ListResourceTemplatesResult:
    """Make the SDK's listing of resource templates."""
    return ListResourceTemplatesResult.model_validate({"resourceTemplates": [one.raw for one in listed]})


def to_official_prompts(listed: Iterable[Prompt]) -> ListPromptsResult:
    """Make the SDK's listing of prompts."""
    return ListPromptsResult.model_validate({"prompts": [one.raw for one in listed]})


def to_official_contents(contents: ResourceContents) -> ReadResourceResult:
    """Make the SDK's answer to the reading of a resource."""
    return ReadResourceResult.model_validate(contents.raw)


def to_official_request(request: SamplingRequest) -> CreateMessageRequestParams:
    """Make the SDK's parameters of what a server asks of a model."""
    return CreateMessageRequestParams.model_validate(request.raw)


def from_official_answer(result: CreateMessageResult | CreateMessageResultWithTools) -> SamplingAnswer:
    """Read what a model said from the SDK's result."""
    return read_answer(result.model_dump(by_alias=True, mode="json", exclude_none=True))
