"""What servers ask back, and what is answered: values.

In: nothing. Out: frozen values, one for each kind of question and of answer, and the types of the
functions that answer. Whether an answer fits its question is decided elsewhere.

Source: MCP 2025-11-25 and 2026-07-28, client/elicitation, client/sampling and client/roots.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from mcp_adapters.spec import AudioPart, ImagePart, Part, TextPart, UnknownPart

__all__ = (
    "ElicitationAction",
    "ElicitationAnswer",
    "ElicitationCompleted",
    "ElicitationMode",
    "ElicitationRequest",
    "OnElicitation",
    "OnSampling",
    "Pause",
    "Root",
    "Roots",
    "SamplingAnswer",
    "SamplingContent",
    "SamplingMessage",
    "SamplingRefusal",
    "SamplingRequest",
    "SamplingTool",
    "ToolResultPart",
    "ToolUsePart",
)

ElicitationMode: TypeAlias = Literal["form", "url"]
"""A form to fill in, or an address to visit."""
ElicitationAction: TypeAlias = Literal["accept", "decline", "cancel"]
"""What a person does: answers, says no, or turns away without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElicitationRequest:
    """One question of a server to the person who uses the program; every text in it is the server's."""

    server: str
    """The server's key in the configuration: show it, so that the person knows who asks."""
    message: str
    mode: ElicitationMode = "form"
    """"form": fields to fill in; "url": a page to visit, whose content stays between person and page."""
    schema: Mapping[str, Any] | None = None
    """A form's fields: a JSON Schema object whose properties are texts, numbers, booleans and choices."""
    url: str | None = None
    """The page to visit. Show the whole of it and ask before anything opens it."""
    tool: str | None = None
    """The server's own name for the tool that is being called; None when that cannot be told."""
    elicitation_id: str | None = None
    """By this the server later says that the person is done with the page; None where it will not."""

    @property
    def host(self) -> str:
        """The host that the page belongs to, in ASCII, since letters of other scripts can look the same.

        Empty without a page.
        """
        host = urlsplit(self.url or "").hostname or ""
        try:
            return host.encode("idna").decode()
        except UnicodeError:
            return ascii(host)

    @property
    def fields(self) -> Mapping[str, Mapping[str, Any]]:
        """The form's fields by name, in the server's order; empty for a page."""
        fields = (self.schema or {}).get("properties")
        found = fields.items() if isinstance(fields, Mapping) else ()
        return {name: schema for name, schema in found if isinstance(schema, Mapping)}

    @property
    def required(self) -> tuple[str, ...]:
        """The fields that an accepted form must have."""
        required = (self.schema or {}).get("required")
        return tuple(name for name in required if isinstance(name, str)) if isinstance(required, list) else ()

    @property
    def defaults(self) -> dict[str, Any]:
        """What the server proposes for the fields that it has a proposal for."""
        return {name: schema["default"] for name, schema in self.fields.items() if "default" in schema}


@dataclass(frozen=True, slots=True, kw_only=True)
class ElicitationAnswer:
    """What the person said."""

    action: ElicitationAction
    """"accept": yes, with the content; "decline": no; "cancel": no choice was made."""
    content: Mapping[str, Any] | None = None
    """The fields of an accepted form; None for everything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElicitationCompleted:
    """A server says that the person is done with the page of an earlier question."""

    server: str
    elicitation_id: str


OnElicitation: TypeAlias = Callable[[ElicitationRequest], Awaitable[ElicitationAnswer] | ElicitationAnswer]
"""Answers a server's question. It may take as long as a person takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Let a question end the call, so that it can be answered later, also in another process.

    Servers of protocol 2026-07-28 ask by an answer of their own and then wait for nothing: the call
    raises `InputRequiredError`, whose `pending` has the questions and goes on with their answers. In an
    agent, LangGraph's graph is interrupted and LlamaIndex's workflow waits for an event.
    """

    otherwise: OnElicitation | None = None
    """Answers servers of earlier protocols, which keep the call open while they wait. None: they are
    told that nobody is there to be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUsePart:
    """A model wants to use one of the tools that the server offered it."""

    id: str
    """Ties the result to it."""
    name: str
    input: Mapping[str, Any]
    kind: Literal["tool_use"] = "tool_use"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultPart:
    """What came of the use of a tool."""

    tool_use_id: str
    parts: tuple[Part, ...] = ()
    structured: Any = None
    """Any JSON value; None without any."""
    is_error: bool = False
    kind: Literal["tool_result"] = "tool_result"


SamplingContent: TypeAlias = TextPart | ImagePart | AudioPart | ToolUsePart | ToolResultPart | UnknownPart
"""One entry of a message to or from a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingMessage:
    """One message of the conversation that a model is to go on with."""

    role: Literal["user", "assistant"]
    parts: tuple[SamplingContent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingTool:
    """A tool that the server lets the model use; it is run by the server."""

    name: str
    description: str | None = None
    input_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingRequest:
    """A server wants the word of a model; every text in it is the server's."""

    server: str
    """The server's key in the configuration."""
    messages: tuple[SamplingMessage, ...]
    max_tokens: int
    """How many tokens the server wants at most."""
    system_prompt: str | None = None
    temperature: float | None = None
    """As the model's provider understands it; None when the server does not say."""
    stop_sequences: tuple[str, ...] = ()
    tools: tuple[SamplingTool, ...] = ()
    tool_choice: Literal["auto", "required", "none"] = "auto"
    model_hints: tuple[str, ...] = ()
    """Names, or parts of names, of models that the server would like, best first."""
    tool: str | None = None
    """The server's own name for the tool that is being called; None when that cannot be told."""
    number: int = 1
    """How many times the server has asked for a model during this call, this one included. Where the call
    cannot be told: since the last time that no call was in flight."""
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The parameters as they came over the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingAnswer:
    """What the model said."""

    content: str | tuple[SamplingContent, ...]
    """Text, or parts: text, images, sounds and, where tools were offered, uses of them."""
    model: str
    """The model's name."""
    stop_reason: str | None = "endTurn"
    """"endTurn", "stopSequence", "maxTokens", "toolUse" or the provider's own word; None when unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingRefusal:
    """The model is not asked, or its word is not given."""

    reason: str = "the request was refused"
    """Why, for the server."""


OnSampling: TypeAlias = Callable[
    [SamplingRequest],
    Awaitable[SamplingAnswer | SamplingRefusal] | SamplingAnswer | SamplingRefusal,
]
"""Answers for a model. An attribute `takes_tools` that is true tells servers that it takes tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A folder or file that servers may work on.

    Raises:
        ValueError: The address is not one of a file.

    """

    uri: str
    """Begins with "file://"."""
    name: str | None = None
    """For people."""

    def __post_init__(self) -> None:
        if not self.uri.startswith("file://"):
            raise ValueError(f"the root {self.uri!r} does not begin with 'file://'")


Roots: TypeAlias = Sequence[str | os.PathLike[str] | Root]
"""Paths, `file://` addresses and `Root` values; a relative path starts at the current folder."""
