"""The values that all other modules speak in, and the contract of whoever carries out calls.

In: nothing. Out: frozen values for a tool, its result and the parts of a result, and `Caller`.
Nothing here does I/O or knows a framework; nothing decodes one name from another.

Schemas are held as JSON text: it is small, immutable and hashable, and every access gives a
fresh copy that nobody else can change.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from mcp_adapters.views import result_view, skipped_view, tool_view

__all__ = (
    "AudioPart",
    "BlobResourcePart",
    "Caller",
    "Dialect",
    "ImagePart",
    "ListedTool",
    "Loss",
    "OnProgress",
    "OnToolError",
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
)

_SHOWN_CHARS = 200
"""Of a result's text in its `repr`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a call has come."""

    server: str
    tool: str
    """The server's own name for the tool."""
    progress: float
    """In the server's own unit; grows with each report."""
    total: float | None
    """Of the whole, in the same unit; None when the server does not say."""
    message: str | None
    """For people; untrusted. None when the server says nothing."""


OnProgress: TypeAlias = Callable[[Progress], Awaitable[None] | None]
"""A function of the user's, synchronous or asynchronous; what it raises is logged and harms nobody."""

OnToolError: TypeAlias = Literal["return", "raise"]
"""What a call does when the tool says that it failed: return the result, or raise ToolExecutionError."""


Dialect: TypeAlias = Literal["portable", "openai-strict", "gemini", "raw"]
"""Which models a projection is for; "portable" is for all but those that need one of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """One thing that a projection does not say as the server's schema does."""

    pointer: str
    """JSON pointer of the place in the server's schema (RFC 6901)."""
    keyword: str
    """The keyword that is changed or missing there."""
    reason: str
    """What is said instead, or why nothing is: one phrase."""
    narrows: bool = False
    """True when the projection refuses something there that the server accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnnotations:
    """What a server says about a tool's behaviour; untrusted unless the user trusts the server.

    Every field is None when the server did not say.

    Source: MCP 2025-11-25, schema, "ToolAnnotations".
    """

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """One entry of a server's `tools/list`, before anything was decided about it."""

    server: str
    """The server's key in the configuration."""
    name: str
    """The server's own name for the tool, byte for byte."""
    definition: Mapping[str, Any]
    """The entry as it came over the wire; nothing in it is trusted or known to be well-formed."""
    problem: str | None = None
    """Why the transport's rules forbid the tool; None when they do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedTool:
    """A tool that a server offers and the toolbox leaves out, and why."""

    server: str
    name: str
    reason: str
    """One sentence."""
    pointer: str = ""
    """JSON pointer into the tool's definition (RFC 6901); empty when no place is meant."""
    remedy: str = ""
    """What the user can do about it; empty when there is nothing to do."""

    def __str__(self) -> str:
        place = f" (at {self.pointer})" if self.pointer else ""
        return f"{self.server}:{self.name}: {self.reason}{place}{f' {self.remedy}' if self.remedy else ''}"


class SkippedTools(tuple[SkippedTool, ...]):
    """What is left out; a tuple that prints as lines and looks like a table in a notebook."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "nothing is left out"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return skipped_view([(one.server, one.name, one.reason, one.pointer, one.remedy) for one in self])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One callable tool as every framework package sees it.

    The model reads `exposed_name` and `model_schema`; the call uses `server`, `remote_name` and
    `input_schema`. Neither is ever decoded from the other.
    """

    exposed_name: str
    server: str
    remote_name: str
    title: str | None = None
    description: str
    """Never empty: the server's description, else the title, else the tool's name; then the note, if any."""
    plain_description: str = ""
    """The description without the projection's note; empty when there is no note."""
    annotations: ToolAnnotations = ToolAnnotations()
    input_json: str
    """The server's own input schema as JSON text."""
    model_json: str
    """The schema that models get, as JSON text: a projection of the server's own."""
    dialect: Dialect = "portable"
    """Which projection `model_json` is."""
    strict: bool = False
    """Whether `model_json` keeps the rules of OpenAI's strict mode."""
    losses: tuple[Loss, ...] = ()
    """What `model_json` does not say as the server's schema does."""
    output_json: str | None = None
    """The server's output schema as JSON text; None when it declares none."""
    wraps_result: bool = False
    """Whether the server's SDK wraps the tool's values as `{"result": value}`."""
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The tool's `_meta` as the server sent it."""

    @property
    def id(self) -> str:
        """`server:tool`; for people and logs, never parsed back."""
        return f"{self.server}:{self.remote_name}"

    @property
    def input_schema(self) -> dict[str, Any]:
        """The server's own input schema, unchanged; a fresh copy."""
        return _loaded(self.input_json)

    @property
    def model_schema(self) -> dict[str, Any]:
        """The projection that models get; a fresh copy with `type` and `properties`."""
        return _loaded(self.model_json)

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The server's output schema, unchanged; a fresh copy, or None."""
        return None if self.output_json is None else _loaded(self.output_json)


def _loaded(text: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(text)
    return schema


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Text for the model."""

    text: str
    annotations: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """An image."""

    data: str
    """Base64 as the server sent it, without line breaks."""
    mime_type: str
    annotations: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    kind: Literal["image"] = "image"


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioPart:
    """A sound."""

    data: str
    """Base64 as the server sent it, without line breaks."""
    mime_type: str
    annotations: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    kind: Literal["audio"] = "audio"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextResourcePart:
    """The text of a resource that the server put into the result."""

    uri: str
    text: str
    mime_type: str | None = None
    annotations: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    kind: Literal["text_resource"] = "text_resource"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobResourcePart:
    """The bytes of a resource that the server put into the result."""

    uri: str
    blob: str
    """Base64 as the server sent it, without line breaks."""
    mime_type: str | None = None
    annotations: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    kind: Literal["blob_resource"] = "blob_resource"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLinkPart:
    """A resource that the server points to, without its content."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    """In bytes, as the server says; None when it does not."""
    annotations: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None
    kind: Literal["resource_link"] = "resource_link"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownPart:
    """Content that is not well-formed or of a kind that this version does not know."""

    raw: Any
    """The content as the server sent it."""
    problem: str
    """Why it could not be read: one short phrase."""
    kind: Literal["unknown"] = "unknown"


Part: TypeAlias = (
    TextPart | ImagePart | AudioPart | TextResourcePart | BlobResourcePart | ResourceLinkPart | UnknownPart
)
"""One entry of a result's content."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolResult:
    """What a server answered to one call, with everything it said."""

    text: str
    """What a model reads: never empty."""
    parts: tuple[Part, ...] = ()
    """The content in the server's order."""
    structured: Any = None
    """The structured content, without the wrapper that some servers' SDKs add; None without any."""
    is_error: bool = False
    """True when the tool says that it failed."""
    meta: Mapping[str, Any] | None = None
    """The result's `_meta`; None without one."""
    raw: Mapping[str, Any] = field(default_factory=dict)
    """The result as it came over the wire."""

    def __repr__(self) -> str:
        more = len(self.text) - _SHOWN_CHARS
        text = f"{self.text[:_SHOWN_CHARS]!r}{f' and {more} more characters' if more > 0 else ''}"
        kinds = ", ".join(part.kind for part in self.parts)
        structured = "" if self.structured is None else ", structured"
        return f"<ToolResult{' with an error' if self.is_error else ''}: {text} ({kinds}{structured})>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        files = [(one.mime_type, one.data) for one in self.parts if isinstance(one, ImagePart | AudioPart)]
        return result_view(text=self.text, files=files, structured=self.structured, is_error=self.is_error)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAnswers:
    """What a call goes on with after its server asked; `PendingCall.answered` makes it."""

    state: str | None = field(default=None, repr=False)
    """The server's own state, as it came."""
    responses: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    """The answers by the server's names for its questions, as JSON."""
    rounds: int = 0
    """How many times the server has asked so far."""
    task: str | None = field(default=None, repr=False)
    """The task that the server made of the call; None where it made none."""


class Caller(Protocol):
    """Whoever carries out the calls of a tool."""

    def call(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any] | None,
        *,
        timeout: float | None = None,
        context: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        resume: CallAnswers | None = None,
    ) -> ToolResult:
        """Call and wait, from any thread but the background loop's own.

        Args:
            spec: The tool.
            arguments: As the model gave them; None means none.
            timeout: Seconds without a sign of life; None means the setting of the server or the toolbox.
            context: What interceptors get as `CallRequest.context`; None for nothing.
            on_progress: Told of progress while the call runs.
            resume: Goes on with a call that waits; None for a new call.

        Raises:
            McpAdaptersError: As `Tool.call`.

        """
        ...

    async def acall(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any] | None,
        *,
        timeout: float | None = None,
        context: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        resume: CallAnswers | None = None,
    ) -> ToolResult:
        """Call and await, from any asyncio event loop; as `call`."""
        ...


class Tool:
    """One tool of an open toolbox, callable from anywhere.

    Framework packages wrap it; plain Python calls it. It stays usable as long as its toolbox is
    open, from any thread and from any event loop.
    """

    __slots__ = ("_caller", "max_result_chars", "on_tool_error", "pauses", "spec")

    def __init__(
        self,
        spec: ToolSpec,
        caller: Caller,
        *,
        on_tool_error: OnToolError = "return",
        max_result_chars: int | None = None,
        pauses: bool = False,
    ) -> None:
        self.spec = spec
        self._caller = caller
        self.on_tool_error: OnToolError = on_tool_error
        self.max_result_chars = max_result_chars
        self.pauses = pauses
        """Whether a call may end with `InputRequiredError` and go on later."""

    @property
    def id(self) -> str:
        """`server:tool`; for people and logs, never parsed back."""
        return self.spec.id

    @property
    def name(self) -> str:
        """The name that models see."""
        return self.spec.exposed_name

    @property
    def server(self) -> str:
        """The server's key in the configuration."""
        return self.spec.server

    @property
    def remote_name(self) -> str:
        """The server's own name for the tool, byte for byte."""
        return self.spec.remote_name

    @property
    def title(self) -> str | None:
        """A name for people, when the server gives one."""
        return self.spec.title

    @property
    def description(self) -> str:
        """What the tool does; never empty."""
        return self.spec.description

    @property
    def annotations(self) -> ToolAnnotations:
        """What the server says about the tool's behaviour."""
        return self.spec.annotations

    @property
    def input_schema(self) -> dict[str, Any]:
        """The server's own input schema, unchanged; a fresh copy."""
        return self.spec.input_schema

    @property
    def model_schema(self) -> dict[str, Any]:
        """The schema that models get; a fresh copy with `type` and `properties`."""
        return self.spec.model_schema

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What `model_schema` does not say as `input_schema` does; empty when it says it all."""
        return self.spec.losses

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The server's output schema, unchanged; a fresh copy, or None."""
        return self.spec.output_schema

    def call(
        self,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        context: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        resume: CallAnswers | None = None,
    ) -> ToolResult:
        """Call the tool and wait for its result.

        Args:
            arguments: By the tool's `input_schema`; None means no arguments.
            timeout: Seconds without a sign of life from the server; None means the toolbox's
                `call_timeout`.
            context: What interceptors get as `CallRequest.context`; None for nothing.
            on_progress: Told of progress while the call runs, in a worker thread.
            resume: Answers to what the server asked when the same call was made before: the call goes
                on where it waits. None makes a new call.

        Returns:
            The result, also when the tool says that it failed (`is_error`).

        Raises:
            InvalidArgumentsError: The arguments break the schema; nothing was sent.
            ToolExecutionError: The server refused the call, or `on_tool_error` is "raise" and
                the tool failed, or the same call failed too often (`max_identical_failures`).
            InputRequiredError: The server asks the person and `Handlers.elicitation` is a `Pause`.
            ToolTimeoutError: No answer in time.
            ConnectionLostError: The connection ended; `outcome` says whether it was sent.
            ConnectError: The server was gone and could not be reached again.
            InvalidResultError: The answer is not a tool result, or breaks the tool's output schema
                and `output_schema` is "strict"; `result` then has the whole of it.
            ToolboxClosedError: The toolbox is closed.
            SyncCallInEventLoopError: Called on the thread of the background event loop.

        """
        return self._caller.call(
            self.spec, arguments, timeout=timeout, context=context, on_progress=on_progress, resume=resume
        )

    async def acall(
        self,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        context: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        resume: CallAnswers | None = None,
    ) -> ToolResult:
        """Call the tool and await its result; as `call`, from any asyncio event loop.

        Cancelling the awaiting task cancels the call at the server too. `on_progress` is told on the
        calling loop.
        """
        return await self._caller.acall(
            self.spec, arguments, timeout=timeout, context=context, on_progress=on_progress, resume=resume
        )

    def __repr__(self) -> str:
        return f"<Tool {self.name!r} of {self.server!r}>"

    def _repr_html_(self) -> str:
        return tool_view(
            name=self.name,
            identity=self.id,
            description=self.description,
            hints=asdict(self.annotations),
            schema=self.input_schema,
        )
