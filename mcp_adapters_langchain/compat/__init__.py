"""The interfaces of langchain-mcp-adapters and `langchain.mcp`, over a toolbox: one import line changes.

    from mcp_adapters_langchain.compat import MultiServerMCPClient
    from mcp_adapters_langchain.compat import MCPAdapter

In: what those packages take. Out: what they give, from servers that stay connected. What differs is listed
in docs/migration-langchain.md. New code uses `mcp_adapters.Toolbox`.
"""

from __future__ import annotations

from mcp_adapters_langchain.compat._adapter import MCPAdapter
from mcp_adapters_langchain.compat._callbacks import (
    CallbackContext,
    Callbacks,
    ElicitationCallback,
    ElicitRequestParams,
    LoggingMessageCallback,
    ProgressCallback,
)
from mcp_adapters_langchain.compat._client import MultiServerMCPClient
from mcp_adapters_langchain.compat._interceptors import (
    MCPToolCallRequest,
    MCPToolCallResult,
    ToolCallInterceptor,
)
from mcp_adapters_langchain.compat._loading import (
    get_mcp_resource,
    load_mcp_prompt,
    load_mcp_resources,
    load_mcp_server_info,
    load_mcp_tools,
)
from mcp_adapters_langchain.compat._sessions import McpSession
from mcp_adapters_langchain.compat._tools import MCPToolArtifact

__all__ = (
    "CallbackContext",
    "Callbacks",
    "ElicitRequestParams",
    "ElicitationCallback",
    "LoggingMessageCallback",
    "MCPAdapter",
    "MCPToolArtifact",
    "MCPToolCallRequest",
    "MCPToolCallResult",
    "McpSession",
    "MultiServerMCPClient",
    "ProgressCallback",
    "ToolCallInterceptor",
    "get_mcp_resource",
    "load_mcp_prompt",
    "load_mcp_resources",
    "load_mcp_server_info",
    "load_mcp_tools",
)
