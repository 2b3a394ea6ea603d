"""Every error that this package raises on purpose.

In: the facts of a failure. Out: an exception whose message names the thing, the reason and the
way out, and whose facts are attributes. Nothing here reads the world, and no error holds a secret:
whoever raises one passes names, never values of headers or environment variables.

The tree:

    McpAdaptersError
    |-- ConfigError                     a configuration that cannot be used
    |-- ServerError                     one server failed
    |   |-- ConnectError                no usable connection could be made
    |   |   |-- ServerStartError        the process or the address did not come up
    |   |   |-- HandshakeError          something answered, but not as an MCP server
    |   |   `-- AuthError               the server refused the credentials
    |   |-- ConnectionLostError         the connection ended while it was in use
    |   `-- DiscoveryError              the server's listing could not be read
    |-- ToolboxLoadError                tools or servers that keep a toolbox from opening
    |   `-- DriftError                  tools are not what the lock file says
    |-- ToolError                       one tool call failed
    |   |-- ToolNotFoundError           no such tool
    |   |-- InvalidArgumentsError       the arguments break the tool's schema; nothing was sent
    |   |-- InvalidResultError          the result breaks the tool's output schema
    |   |-- ToolExecutionError          the server answered the call with an error
    |   |-- InputRequiredError          the call waits for answers of a person
    |   |-- ToolTimeoutError            no answer in time; the outcome is unknown
    |   `-- ToolCancelledError          the call was cancelled
    |-- RequestError                    a resource, prompt, completion or subscription was refused
    |   |-- ResourceNotFoundError       no such resource
    |   |-- PromptNotFoundError         no such prompt
    |   `-- RequestTimeoutError         no answer in time
    |-- ProtocolError                   the server broke the protocol
    |-- SandboxError                    a server could not be sandboxed as asked
    |-- FrameworkError
    |   |-- UnknownFrameworkError       nobody offers that framework
    |   |-- FrameworkNotInstalledError  its package is there, the framework is not
    |   `-- DuplicateFrameworkError     two distributions offer one name
    |-- ToolboxClosedError              used after close
    |-- SyncCallInEventLoopError        a blocking call that would block itself for ever
    `-- UnexpectedRequestError          a server of a test was asked for what it has no answer to

"""

from __future__ import annotations

from typing import Any, Literal

__all__ = (
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
    "Phase",
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
    "UnexpectedRequestError",
    "UnknownFrameworkError",
)

Phase = Literal["connect", "list", "call", "read", "close"]
"""What was being done with the server when it failed."""


class McpAdaptersError(Exception):
    """Base of every error this package raises on purpose.

    Args:
        message: One sentence: what failed, on which thing, why, and what to do.
        facts: Attributes for programs. Each must pickle if the error is to cross processes.

    """

    server: str | None = None
    """Key of the server in the configuration; None when no single server is concerned."""
    tool: str | None = None
    """Name of the tool as its server knows it; None when no single tool is concerned."""
    phase: Phase | None = None
    """What was being done; None when no server was involved."""
    retriable: bool = False
    """True when the same request may be sent again without doing anything twice."""

    def __init__(self, message: str, /, **facts: Any) -> None:
        super().__init__(message)
        self.__dict__.update(facts)

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions rebuild from args alone; keep the facts when crossing processes.
        return _rebuild, (type(self), str(self), dict(self.__dict__))


def _rebuild(cls: type[McpAdaptersError], message: str, facts: dict[str, Any]) -> McpAdaptersError:
    return cls(message, **facts)


class ConfigError(McpAdaptersError):
    """A configuration that cannot be used; the message names the place and the way out."""

    problems: tuple[Any, ...] = ()
    """Everything that is wrong, as `ConfigProblem` values in the order of the configuration."""


class ServerError(McpAdaptersError):
    """One server failed."""

    status: int | None = None
    """The HTTP status that the server answered with; None when HTTP had no part in it."""
    retry_after: float | None = None
    """Seconds that the server asks to wait before another try; None when it did not say."""


class ConnectError(ServerError):
    """No usable connection to the server could be made."""

    phase: Phase | None = "connect"
    stderr: str = ""
    """The last lines that the server's process wrote to standard error; empty when it has none."""


class ServerStartError(ConnectError):
    """The server's process or address did not come up."""

    exit_code: int | None = None
    """How the process ended: its status, a negative signal number, or None if it did not end."""


class HandshakeError(ConnectError):
    """Something answered, or nothing in time, but not as an MCP server."""


class AuthError(ConnectError):
    """The server refused the credentials."""


class ConnectionLostError(ServerError):
    """The connection ended while it was in use."""

    outcome: Literal["unknown", "not_sent"] = "unknown"
    """Whether the request can have had an effect: "unknown", or "not_sent" when it never left."""
    stderr: str = ""
    """The last lines that the server's process wrote to standard error; empty when it has none."""


class DiscoveryError(ServerError):
    """The server's listing could not be read."""

    phase: Phase | None = "list"


class ToolboxLoadError(McpAdaptersError):
    """Tools or servers that keep a toolbox from opening, every one of them named."""

    tools: tuple[Any, ...] = ()
    """The tools that were refused, as `SkippedTool` values."""
    failures: tuple[McpAdaptersError, ...] = ()
    """The errors of the servers that could not be used."""


class DriftError(ToolboxLoadError):
    """Tools are not what the lock file says, every one of them named; `tools` is empty."""

    drifts: tuple[Any, ...] = ()
    """What is different, as `Drift` values."""


class ToolError(McpAdaptersError):
    """One tool call failed."""

    phase: Phase | None = "call"


class ToolNotFoundError(ToolError):
    """No tool has that name; the message lists the closest."""

    closest: tuple[str, ...] = ()
    """Names that were probably meant, best first."""


class InvalidArgumentsError(ToolError):
    """The arguments break the tool's input schema; nothing was sent to the server."""

    problems: tuple[Any, ...] = ()
    """What is wrong, each with the place in the arguments and the form that is accepted."""
    retriable: bool = True


class InvalidResultError(ToolError):
    """The result breaks the protocol or the tool's own output schema."""

    result: Any = None
    """The ToolResult as far as it could be read; None when nothing could."""
    problems: tuple[Any, ...] = ()
    """What in the structured content breaks the output schema, each with its place."""


class ToolExecutionError(ToolError):
    """The server answered the call with an error."""

    result: Any = None
    """The ToolResult, when the server answered with one (`isError`); None for a JSON-RPC error."""
    code: int | None = None
    """The JSON-RPC error code; None when the server answered with a result or an HTTP status alone."""
    status: int | None = None
    """The HTTP status that the server answered with; None when HTTP had no part in it."""
    retry_after: float | None = None
    """Seconds that the server asks to wait before another try; None when it did not say."""


class InputRequiredError(ToolError):
    """The call waits for answers of a person; nothing is lost, it goes on as soon as they are given."""

    pending: Any = None
    """The `PendingCall`, with the questions and the way to go on."""


class ToolTimeoutError(ToolError):
    """The call got no answer in time; whether it had an effect is unknown."""

    timeout: float = 0.0
    """The time that was waited, in seconds."""
    limit: Literal["idle", "total"] = "idle"
    """Which limit was reached: that on silence, or that on the whole call."""


class ToolCancelledError(ToolError):
    """The call was cancelled; whether it had an effect is unknown."""


class RequestError(McpAdaptersError):
    """A server did not give a resource, a prompt, a completion or a subscription."""

    phase: Phase | None = "read"
    method: str | None = None
    """The protocol's name of what was asked, such as "resources/read"."""
    uri: str | None = None
    """The address of the resource, or the template; None when there is none in the request."""
    prompt: str | None = None
    """The name of the prompt; None when there is none in the request."""
    code: int | None = None
    """The JSON-RPC error code; None when the server answered with an HTTP status, or not at all."""
    status: int | None = None
    """The HTTP status that the server answered with; None when HTTP had no part in it."""
    retry_after: float | None = None
    """Seconds that the server asks to wait before another try; None when it did not say."""


class ResourceNotFoundError(RequestError):
    """No server has a resource of that address."""


class PromptNotFoundError(RequestError):
    """No server has a prompt of that name; the message lists the closest."""

    closest: tuple[str, ...] = ()
    """Names that were probably meant, best first."""


class RequestTimeoutError(RequestError):
    """The server did not answer in time."""

    timeout: float = 0.0
    """The time that was waited, in seconds."""
    retriable: bool = True


class ProtocolError(McpAdaptersError):
    """The server broke the protocol."""


class SandboxError(McpAdaptersError):
    """A server could not be sandboxed as asked."""

    server: str | None = None
    """The server's key in the configuration."""


class FrameworkError(McpAdaptersError):
    """A framework package could not be used."""

    framework: str | None = None
    """The framework's name, as it was asked for."""


class UnknownFrameworkError(FrameworkError):
    """No installed distribution offers a framework of that name."""

    available: tuple[str, ...] = ()
    """The names that are offered, sorted."""


class FrameworkNotInstalledError(FrameworkError):
    """The framework's package is known, but the framework itself is not installed."""


class DuplicateFrameworkError(FrameworkError):
    """Two installed distributions offer a framework under one name."""


class ToolboxClosedError(McpAdaptersError):
    """A toolbox, or a tool of it, was used after it was closed or before it was opened."""


class SyncCallInEventLoopError(McpAdaptersError):
    """A blocking call on the thread of the background event loop, which would wait for itself."""


class UnexpectedRequestError(McpAdaptersError, AssertionError):
    """A server of a test was asked for what it has no answer to, or not for what was expected."""
