"""LlamaIndex's side of the framework contract."""

from __future__ import annotations

from typing import Any

from mcp_adapters import Tool
from mcp_adapters_llamaindex._tool import McpTool

__all__ = ("LlamaIndexFramework", "framework")


class LlamaIndexFramework:
    """Makes LlamaIndex tools."""

    name = "llamaindex"

    def wrap(self, tool: Tool, **options: Any) -> McpTool:
        """Make a LlamaIndex tool of an MCP tool.

        Args:
            tool: A tool of an open toolbox.
            options: `return_direct`, `stream_progress`, `partial_params` and `approval`; see `McpTool`.

        """
        return McpTool(tool, **options)


framework = LlamaIndexFramework()
"""What the entry point names."""
