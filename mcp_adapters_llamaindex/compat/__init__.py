"""The interface of llama-index-tools-mcp, over a toolbox: one import line changes.

    from mcp_adapters_llamaindex.compat import BasicMCPClient, McpToolSpec

In: what that package takes. Out: what it gives, from a server that stays connected. What differs is listed
in docs/migration-llamaindex.md. New code uses `mcp_adapters.Toolbox`.
"""

from __future__ import annotations

from mcp_adapters_llamaindex.compat._client import BasicMCPClient
from mcp_adapters_llamaindex.compat._spec import McpToolSpec, aget_tools_from_mcp_url, get_tools_from_mcp_url

__all__ = ("BasicMCPClient", "McpToolSpec", "aget_tools_from_mcp_url", "get_tools_from_mcp_url")
