"""What servers ask back in the middle of a call, and what is answered: values.

In: nothing. Out: frozen values, one for each kind of question and of answer, and the types of the
functions that answer. Whether an answer fits its question is decided elsewhere.

Source: MCP 2025-11-25 and 2026-07-28, client/elicitation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = (
    "ElicitationAction",
    "ElicitationAnswer",
    "ElicitationMode",
    "ElicitationRequest",
    "OnElicitation",
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


OnElicitation: TypeAlias = Callable[[ElicitationRequest], Awaitable[ElicitationAnswer] | ElicitationAnswer]
"""Answers a server's question. It may take as long as a person takes."""
