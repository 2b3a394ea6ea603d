"""LangChain's side of the framework contract."""

from __future__ import annotations

from typing import Any

from mcp_adapters import Tool
from mcp_adapters_langchain._tool import McpTool

__all__ = ("LangChainFramework", "framework")


class LangChainFramework:
    """Makes LangChain tools."""

    name = "langchain"

    def wrap(self, tool: Tool, **options: Any) -> McpTool:
        """Make a LangChain tool of an MCP tool.

        Args:
            tool: A tool of an open toolbox.
            options: Fields of `BaseTool`, such as `return_direct`, `tags` or `metadata`.

        """
        return McpTool.of(tool, **options)


framework = LangChainFramework()
"""What the entry point names."""
