"""MCP tools for agent frameworks, notebooks and plain Python.

    from mcp_adapters import Toolbox

    with Toolbox("mcp.json") as toolbox:
        tools = toolbox.to("langchain")

Everything public is named here and loaded at first use, so that importing the package is cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_adapters._connection import ServerStatus
    from mcp_adapters._toolbox import Toolbox
    from mcp_adapters.config import HttpServer, SseServer, StdioServer, load_servers
    from mcp_adapters.errors import (
        AuthError,
        ConfigError,
        ConnectError,
        ConnectionLostError,
        DiscoveryError,
        DuplicateFrameworkError,
        FrameworkError,
        FrameworkNotInstalledError,
        HandshakeError,
        InvalidArgumentsError,
        InvalidResultError,
        McpAdaptersError,
        ProtocolError,
        SandboxError,
        ServerError,
        ServerStartError,
        SyncCallInEventLoopError,
        ToolboxClosedError,
        ToolboxLoadError,
        ToolCancelledError,
        ToolError,
        ToolExecutionError,
        ToolNotFoundError,
        ToolTimeoutError,
        UnknownFrameworkError,
    )
    from mcp_adapters.filtering import ToolFilter
    from mcp_adapters.frameworks import Framework
    from mcp_adapters.naming import NamePolicy
    from mcp_adapters.results import StructuredMode, from_artifact, placeholder, shorten, to_artifact
    from mcp_adapters.schema import SchemaLimits
    from mcp_adapters.spec import (
        AudioPart,
        BlobResourcePart,
        Caller,
        ImagePart,
        Part,
        ResourceLinkPart,
        SkippedTool,
        TextPart,
        TextResourcePart,
        Tool,
        ToolAnnotations,
        ToolResult,
        ToolSpec,
        UnknownPart,
    )
    from mcp_adapters.wording import error_text

_HOME = {
    "mcp_adapters._connection": ("ServerStatus",),
    "mcp_adapters._toolbox": ("Toolbox",),
    "mcp_adapters.config": ("HttpServer", "SseServer", "StdioServer", "load_servers"),
    "mcp_adapters.errors": (
        "AuthError",
        "ConfigError",
        "ConnectError",
        "ConnectionLostError",
        "DiscoveryError",
        "DuplicateFrameworkError",
        "FrameworkError",
        "FrameworkNotInstalledError",
        "HandshakeError",
        "InvalidArgumentsError",
        "InvalidResultError",
        "McpAdaptersError",
        "ProtocolError",
        "SandboxError",
        "ServerError",
        "ServerStartError",
        "SyncCallInEventLoopError",
        "ToolCancelledError",
        "ToolError",
        "ToolExecutionError",
        "ToolNotFoundError",
        "ToolTimeoutError",
        "ToolboxClosedError",
        "ToolboxLoadError",
        "UnknownFrameworkError",
    ),
    "mcp_adapters.filtering": ("ToolFilter",),
    "mcp_adapters.frameworks": ("Framework",),
    "mcp_adapters.naming": ("NamePolicy",),
    "mcp_adapters.results": ("StructuredMode", "from_artifact", "placeholder", "shorten", "to_artifact"),
    "mcp_adapters.schema": ("SchemaLimits",),
    "mcp_adapters.spec": (
        "AudioPart",
        "BlobResourcePart",
        "Caller",
        "ImagePart",
        "Part",
        "ResourceLinkPart",
        "SkippedTool",
        "TextPart",
        "TextResourcePart",
        "Tool",
        "ToolAnnotations",
        "ToolResult",
        "ToolSpec",
        "UnknownPart",
    ),
    "mcp_adapters.wording": ("error_text",),
}
"""Where each public name lives."""

_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = tuple(sorted(_MODULE))  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE})
