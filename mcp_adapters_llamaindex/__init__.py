"""MCP tools as LlamaIndex tools: `toolbox.to("llamaindex")`, `McpTool` and `McpToolSpec`."""

from __future__ import annotations

from mcp_adapters_llamaindex._framework import LlamaIndexFramework, framework
from mcp_adapters_llamaindex._progress import McpProgressEvent
from mcp_adapters_llamaindex._tool import McpTool, McpToolMetadata, McpToolSpec

__all__ = (
    "LlamaIndexFramework",
    "McpProgressEvent",
    "McpTool",
    "McpToolMetadata",
    "McpToolSpec",
    "framework",
)
