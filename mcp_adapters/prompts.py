"""What servers offer to begin a conversation with: prompts, and completions of what is typed into them.

In: the pages of a listing and the answers of a server, as parsed JSON of any shape. Out: frozen values.
Nothing here raises because of what a server sent; contents that cannot be read are parts that say so.

Source: MCP 2025-11-25 and 2026-07-28, server/prompts and server/utilities/completion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_adapters.parts import read_parts
from mcp_adapters.resources import entries_of, optional_text
from mcp_adapters.spec import Part, UnknownPart

__all__ = (
    "Completion",
    "Prompt",
    "PromptArgument",
    "PromptMessage",
    "PromptResult",
    "read_completion",
    "read_prompt",
    "read_prompts",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """One argument of a prompt; its value is always text."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt that a server lists. Everything but `server` is the server's own word."""

    server: str
    """The server's key in the configuration."""
    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()
    meta: Mapping[str, Any] | None = field(default=None, hash=False)
    raw: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    """The entry as it came over the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """One message of a prompt."""

    role: str
    """ "user" or "assistant", if the server keeps to the protocol."""
    parts: tuple[Part, ...]
    """The content; by the protocol one part, in the server's order where there are more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptResult:
    """A prompt with its arguments filled in: messages to begin a conversation with."""

    server: str
    """The server's key in the configuration."""
    name: str
    description: str | None = None
    messages: tuple[PromptMessage, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    """The answer as it came over the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a server proposes for an argument."""

    values: tuple[str, ...] = ()
    """At most 100 by the protocol, best first."""
    total: int | None = None
    """How many there are in all; None when the server does not say."""
    has_more: bool = False
    """Whether the server says that there are more than `values`."""


def read_prompts(
    server: str, pages: Iterable[Mapping[str, Any]]
) -> tuple[tuple[Prompt, ...], tuple[str, ...]]:
    """Read the pages of a `prompts/list`.

    Args:
        server: The server's key in the configuration.
        pages: The results as JSON, in order.

    Returns:
        Every entry that has a name, in order, and a sentence for each other entry.

    """
    return entries_of(pages, "prompts", lambda entry: _prompt(server, entry), server)


def _prompt(server: str, entry: Mapping[str, Any]) -> Prompt | None:
    name, meta = entry.get("name"), entry.get("_meta")
    if not isinstance(name, str):
        return None
    listed = entry.get("arguments")
    arguments = map(_argument, listed if isinstance(listed, list) else ())
    return Prompt(
        server=server,
        name=name,
        title=optional_text(entry, "title"),
        description=optional_text(entry, "description"),
        arguments=tuple(argument for argument in arguments if argument is not None),
        meta=meta if isinstance(meta, Mapping) else None,
        raw=entry,
    )


def _argument(entry: Any) -> PromptArgument | None:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        return None
    return PromptArgument(
        name=entry["name"],
        title=optional_text(entry, "title"),
        description=optional_text(entry, "description"),
        required=entry.get("required") is True,
    )


def read_prompt(server: str, name: str, raw: Mapping[str, Any]) -> PromptResult:
    """Read the answer to a `prompts/get`.

    Args:
        server: The server's key in the configuration.
        name: The prompt that was asked for.
        raw: The result as parsed JSON. It is kept, not copied.

    """
    messages = raw.get("messages")
    return PromptResult(
        server=server,
        name=name,
        description=optional_text(raw, "description"),
        messages=tuple(map(_message, messages if isinstance(messages, list) else ())),
        raw=raw,
    )


def _message(entry: Any) -> PromptMessage:
    if not isinstance(entry, Mapping):
        part = UnknownPart(raw=entry, problem="the message is not an object")
        return PromptMessage(role="user", parts=(part,))
    return PromptMessage(role=optional_text(entry, "role") or "user", parts=read_parts(entry.get("content")))


def read_completion(raw: Mapping[str, Any]) -> Completion:
    """Read the answer to a `completion/complete`; what is no text among the values is left out."""
    found = raw.get("completion")
    if not isinstance(found, Mapping):
        return Completion()
    values, total = found.get("values"), found.get("total")
    return Completion(
        values=tuple(v for v in values if isinstance(v, str)) if isinstance(values, list) else (),
        total=total if isinstance(total, int) and not isinstance(total, bool) else None,
        has_more=found.get("hasMore") is True,
    )
