"""MCP tools as LangChain tools: `toolbox.to("langchain")`, `McpTool` and `McpToolkit`."""

from __future__ import annotations

from mcp_adapters_langchain._framework import LangChainFramework, framework
from mcp_adapters_langchain._tool import McpTool, McpToolkit

__all__ = ("LangChainFramework", "McpTool", "McpToolkit", "framework")
