"""MCP tools for agent frameworks, notebooks and plain Python.

    from mcp_adapters import Toolbox as Toolbox

    with Toolbox("mcp.json") as toolbox:
        tools = toolbox.to("langchain")

Everything public is named here and loaded at first use, so that importing the package is cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_adapters._context import call_headers as call_headers
    from mcp_adapters._keeping import Kept as Kept
    from mcp_adapters._supervision import ServerStatus as ServerStatus
    from mcp_adapters._supervision import Statuses as Statuses
    from mcp_adapters._tokens import (
        FileTokenStore as FileTokenStore,
    )
    from mcp_adapters._tokens import (
        KeyringTokenStore as KeyringTokenStore,
    )
    from mcp_adapters._tokens import (
        MemoryTokenStore as MemoryTokenStore,
    )
    from mcp_adapters._tokens import (
        TokenStore as TokenStore,
    )
    from mcp_adapters._toolbox import Toolbox as Toolbox
    from mcp_adapters.asking import (
        ElicitationAnswer as ElicitationAnswer,
    )
    from mcp_adapters.asking import (
        ElicitationCompleted as ElicitationCompleted,
    )
    from mcp_adapters.asking import (
        ElicitationRequest as ElicitationRequest,
    )
    from mcp_adapters.asking import (
        Pause as Pause,
    )
    from mcp_adapters.asking import (
        Root as Root,
    )
    from mcp_adapters.asking import (
        SamplingAnswer as SamplingAnswer,
    )
    from mcp_adapters.asking import (
        SamplingMessage as SamplingMessage,
    )
    from mcp_adapters.asking import (
        SamplingRefusal as SamplingRefusal,
    )
    from mcp_adapters.asking import (
        SamplingRequest as SamplingRequest,
    )
    from mcp_adapters.asking import (
        SamplingTool as SamplingTool,
    )
    from mcp_adapters.asking import (
        ToolResultPart as ToolResultPart,
    )
    from mcp_adapters.asking import (
        ToolUsePart as ToolUsePart,
    )
    from mcp_adapters.config import (
        ApiKeyAuth as ApiKeyAuth,
    )
    from mcp_adapters.config import (
        BasicAuth as BasicAuth,
    )
    from mcp_adapters.config import (
        BearerAuth as BearerAuth,
    )
    from mcp_adapters.config import (
        Bubblewrap as Bubblewrap,
    )
    from mcp_adapters.config import (
        ClientCredentials as ClientCredentials,
    )
    from mcp_adapters.config import (
        Container as Container,
    )
    from mcp_adapters.config import (
        HttpServer as HttpServer,
    )
    from mcp_adapters.config import (
        Install as Install,
    )
    from mcp_adapters.config import (
        OAuth as OAuth,
    )
    from mcp_adapters.config import (
        SseServer as SseServer,
    )
    from mcp_adapters.config import (
        StdioServer as StdioServer,
    )
    from mcp_adapters.config import (
        load_servers as load_servers,
    )
    from mcp_adapters.elicitation import (
        PendingCall as PendingCall,
    )
    from mcp_adapters.elicitation import (
        ask_on_terminal as ask_on_terminal,
    )
    from mcp_adapters.errors import (
        AuthError as AuthError,
    )
    from mcp_adapters.errors import (
        ConfigError as ConfigError,
    )
    from mcp_adapters.errors import (
        ConnectError as ConnectError,
    )
    from mcp_adapters.errors import (
        ConnectionLostError as ConnectionLostError,
    )
    from mcp_adapters.errors import (
        DiscoveryError as DiscoveryError,
    )
    from mcp_adapters.errors import (
        DriftError as DriftError,
    )
    from mcp_adapters.errors import (
        DuplicateFrameworkError as DuplicateFrameworkError,
    )
    from mcp_adapters.errors import (
        FrameworkError as FrameworkError,
    )
    from mcp_adapters.errors import (
        FrameworkNotInstalledError as FrameworkNotInstalledError,
    )
    from mcp_adapters.errors import (
        HandshakeError as HandshakeError,
    )
    from mcp_adapters.errors import (
        InputRequiredError as InputRequiredError,
    )
    from mcp_adapters.errors import (
        InvalidArgumentsError as InvalidArgumentsError,
    )
    from mcp_adapters.errors import (
        InvalidResultError as InvalidResultError,
    )
    from mcp_adapters.errors import (
        McpAdaptersError as McpAdaptersError,
    )
    from mcp_adapters.errors import (
        PromptNotFoundError as PromptNotFoundError,
    )
    from mcp_adapters.errors import (
        ProtocolError as ProtocolError,
    )
    from mcp_adapters.errors import (
        RequestError as RequestError,
    )
    from mcp_adapters.errors import (
        RequestTimeoutError as RequestTimeoutError,
    )
    from mcp_adapters.errors import (
        ResourceNotFoundError as ResourceNotFoundError,
    )
    from mcp_adapters.errors import (
        SandboxError as SandboxError,
    )
    from mcp_adapters.errors import (
        ServerError as ServerError,
    )
    from mcp_adapters.errors import (
        ServerStartError as ServerStartError,
    )
    from mcp_adapters.errors import (
        SyncCallInEventLoopError as SyncCallInEventLoopError,
    )
    from mcp_adapters.errors import (
        ToolboxClosedError as ToolboxClosedError,
    )
    from mcp_adapters.errors import (
        ToolboxLoadError as ToolboxLoadError,
    )
    from mcp_adapters.errors import (
        ToolCancelledError as ToolCancelledError,
    )
    from mcp_adapters.errors import (
        ToolError as ToolError,
    )
    from mcp_adapters.errors import (
        ToolExecutionError as ToolExecutionError,
    )
    from mcp_adapters.errors import (
        ToolNotFoundError as ToolNotFoundError,
    )
    from mcp_adapters.errors import (
        ToolTimeoutError as ToolTimeoutError,
    )
    from mcp_adapters.errors import (
        UnknownFrameworkError as UnknownFrameworkError,
    )
    from mcp_adapters.filtering import ToolFilter as ToolFilter
    from mcp_adapters.frameworks import Framework as Framework
    from mcp_adapters.handlers import (
        Handlers as Handlers,
    )
    from mcp_adapters.handlers import (
        LogMessage as LogMessage,
    )
    from mcp_adapters.handlers import (
        StateChange as StateChange,
    )
    from mcp_adapters.handlers import (
        ToolsChange as ToolsChange,
    )
    from mcp_adapters.interception import (
        AsyncCallNext as AsyncCallNext,
    )
    from mcp_adapters.interception import (
        CallNext as CallNext,
    )
    from mcp_adapters.interception import (
        CallRequest as CallRequest,
    )
    from mcp_adapters.interception import (
        Interceptor as Interceptor,
    )
    from mcp_adapters.lockfile import (
        Drift as Drift,
    )
    from mcp_adapters.lockfile import (
        Lock as Lock,
    )
    from mcp_adapters.naming import NamePolicy as NamePolicy
    from mcp_adapters.policy import (
        ApprovalPolicy as ApprovalPolicy,
    )
    from mcp_adapters.policy import (
        ask_first as ask_first,
    )
    from mcp_adapters.prompts import (
        Completion as Completion,
    )
    from mcp_adapters.prompts import (
        Prompt as Prompt,
    )
    from mcp_adapters.prompts import (
        PromptArgument as PromptArgument,
    )
    from mcp_adapters.prompts import (
        PromptMessage as PromptMessage,
    )
    from mcp_adapters.prompts import (
        PromptResult as PromptResult,
    )
    from mcp_adapters.resources import (
        Resource as Resource,
    )
    from mcp_adapters.resources import (
        ResourceContents as ResourceContents,
    )
    from mcp_adapters.resources import (
        ResourceTemplate as ResourceTemplate,
    )
    from mcp_adapters.resources import (
        ResourceUpdated as ResourceUpdated,
    )
    from mcp_adapters.results import (
        StructuredMode as StructuredMode,
    )
    from mcp_adapters.results import (
        from_artifact as from_artifact,
    )
    from mcp_adapters.results import (
        placeholder as placeholder,
    )
    from mcp_adapters.results import (
        shorten as shorten,
    )
    from mcp_adapters.results import (
        to_artifact as to_artifact,
    )
    from mcp_adapters.schema import SchemaLimits as SchemaLimits
    from mcp_adapters.spec import (
        AudioPart as AudioPart,
    )
    from mcp_adapters.spec import (
        BlobResourcePart as BlobResourcePart,
    )
    from mcp_adapters.spec import (
        CallAnswers as CallAnswers,
    )
    from mcp_adapters.spec import (
        Caller as Caller,
    )
    from mcp_adapters.spec import (
        ImagePart as ImagePart,
    )
    from mcp_adapters.spec import (
        Loss as Loss,
    )
    from mcp_adapters.spec import (
        OnProgress as OnProgress,
    )
    from mcp_adapters.spec import (
        Part as Part,
    )
    from mcp_adapters.spec import (
        Progress as Progress,
    )
    from mcp_adapters.spec import (
        ResourceLinkPart as ResourceLinkPart,
    )
    from mcp_adapters.spec import (
        SkippedTool as SkippedTool,
    )
    from mcp_adapters.spec import (
        SkippedTools as SkippedTools,
    )
    from mcp_adapters.spec import (
        TextPart as TextPart,
    )
    from mcp_adapters.spec import (
        TextResourcePart as TextResourcePart,
    )
    from mcp_adapters.spec import (
        Tool as Tool,
    )
    from mcp_adapters.spec import (
        ToolAnnotations as ToolAnnotations,
    )
    from mcp_adapters.spec import (
        ToolResult as ToolResult,
    )
    from mcp_adapters.spec import (
        ToolSpec as ToolSpec,
    )
    from mcp_adapters.spec import (
        UnknownPart as UnknownPart,
    )
    from mcp_adapters.tasks import (
        OnTask as OnTask,
    )
    from mcp_adapters.tasks import (
        TaskEnding as TaskEnding,
    )
    from mcp_adapters.tasks import (
        TaskState as TaskState,
    )
    from mcp_adapters.wording import (
        error_text as error_text,
    )
    from mcp_adapters.wording import (
        failed_result as failed_result,
    )

_HOME = {
    "mcp_adapters._keeping": ("Kept",),
    "mcp_adapters._supervision": ("ServerStatus", "Statuses"),
    "mcp_adapters._context": ("call_headers",),
    "mcp_adapters._tokens": ("FileTokenStore", "KeyringTokenStore", "MemoryTokenStore", "TokenStore"),
    "mcp_adapters._toolbox": ("Toolbox",),
    "mcp_adapters.asking": (
        "ElicitationAnswer",
        "ElicitationCompleted",
        "ElicitationRequest",
        "Pause",
        "Root",
        "SamplingAnswer",
        "SamplingMessage",
        "SamplingRefusal",
        "SamplingRequest",
        "SamplingTool",
        "ToolResultPart",
        "ToolUsePart",
    ),
    "mcp_adapters.config": (
        "ApiKeyAuth",
        "BasicAuth",
        "BearerAuth",
        "Bubblewrap",
        "ClientCredentials",
        "Container",
        "Install",
        "HttpServer",
        "OAuth",
        "SseServer",
        "StdioServer",
        "load_servers",
    ),
    "mcp_adapters.elicitation": ("PendingCall", "ask_on_terminal"),
    "mcp_adapters.errors": (
        "AuthError",
        "ConfigError",
        "ConnectError",
        "ConnectionLostError",
        "DiscoveryError",
        "DriftError",
        "DuplicateFrameworkError",
        "FrameworkError",
        "FrameworkNotInstalledError",
        "HandshakeError",
        "InputRequiredError",
        "InvalidArgumentsError",
        "InvalidResultError",
        "McpAdaptersError",
        "PromptNotFoundError",
        "ProtocolError",
        "RequestError",
        "RequestTimeoutError",
        "ResourceNotFoundError",
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
    "mcp_adapters.handlers": ("Handlers", "LogMessage", "StateChange", "ToolsChange"),
    "mcp_adapters.interception": ("AsyncCallNext", "CallNext", "CallRequest", "Interceptor"),
    "mcp_adapters.lockfile": ("Drift", "Lock"),
    "mcp_adapters.naming": ("NamePolicy",),
    "mcp_adapters.policy": ("ApprovalPolicy", "ask_first"),
    "mcp_adapters.prompts": ("Completion", "Prompt", "PromptArgument", "PromptMessage", "PromptResult"),
    "mcp_adapters.resources": ("Resource", "ResourceContents", "ResourceTemplate", "ResourceUpdated"),
    "mcp_adapters.results": ("StructuredMode", "from_artifact", "placeholder", "shorten", "to_artifact"),
    "mcp_adapters.schema": ("SchemaLimits",),
    "mcp_adapters.spec": (
        "AudioPart",
        "BlobResourcePart",
        "CallAnswers",
        "Caller",
        "ImagePart",
        "Loss",
        "OnProgress",
        "Part",
        "Progress",
        "ResourceLinkPart",
        "SkippedTool",
        "SkippedTools",
        "TextPart",
        "TextResourcePart",
        "Tool",
        "ToolAnnotations",
        "ToolResult",
        "ToolSpec",
        "UnknownPart",
    ),
    "mcp_adapters.tasks": ("OnTask", "TaskEnding", "TaskState"),
    "mcp_adapters.wording": ("error_text", "failed_result"),
}
"""Where each public name lives."""

_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = tuple(sorted(_MODULE))


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE})
