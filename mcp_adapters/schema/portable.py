"""Make the projection that nearly every provider accepts.

In: a checked schema. Out: a schema whose root is an object with `properties` and nothing but
`type`, `properties` and `required`; without references, root unions, boolean schemas, arrays without
`items`, or root keys that Anthropic refuses. It accepts at least what the server's own accepts, or a
loss says otherwise. Every checked schema gets one; the input is not changed.

Source: the constructs that OpenAI, Anthropic, Bedrock, Mistral, Groq and DeepSeek refuse.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_adapters.schema.completion import complete
from mcp_adapters.schema.dialects import declared_draft
from mcp_adapters.schema.expansion import Expansion, TooLargeError
from mcp_adapters.schema.notes import write_note
from mcp_adapters.schema.projection import Loss, Projection, Renames
from mcp_adapters.schema.references import Document, Schema
from mcp_adapters.schema.renaming import Renamer
from mcp_adapters.schema.roots import flatten_root

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ("Sketch", "portable", "sketch")

_BUDGET = 2_000  # schemas that references may add
_REFERENCE_LIMITS = (64, 8, 4, 3, 2, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """The portable form before a dialect is chosen."""

    schema: Schema
    losses: tuple[Loss, ...]
    told: tuple[str, ...]
    """Sentences for the note."""
    renames: Renames
    every_rename: Renames


def portable(schema: Schema, drawn: Sketch | None = None) -> Projection:
    """Project a checked schema for nearly every provider.

    Args:
        schema: A checked schema.
        drawn: Its sketch; None to have it made.

    """
    drawn = drawn or sketch(schema, rename_everywhere=False)
    shown = {key: drawn.schema[key] for key in ("type", "properties", "required") if key in drawn.schema}
    return Projection(
        schema=json.loads(json.dumps(shown)),
        losses=drawn.losses,
        note=write_note(schema, drawn.losses, drawn.told),
        renames=drawn.renames,
        every_rename=drawn.every_rename,
    )


def sketch(schema: Schema, *, rename_everywhere: bool) -> Sketch:
    """Expand a checked schema and give it an object root.

    Args:
        schema: A checked schema.
        rename_everywhere: Whether keys of inner objects are renamed too.

    Returns:
        The expansion with all root keywords, sharing data with the input.

    """
    document = Document(schema, draft=declared_draft(schema) or "2020-12")
    keys = [key for _, node in document.schemas() for key in node.get("properties", ())]
    for limit in _REFERENCE_LIMITS:
        try:
            return _attempt(document, keys, rename_everywhere, limit, _BUDGET + document.size())
        except TooLargeError:
            continue
    # Without references every schema is met once.
    return _attempt(document, keys, rename_everywhere, 0, math.inf)


def _attempt(
    document: Document, keys: Iterable[str], rename_everywhere: bool, references: int, budget: float
) -> Sketch:
    renamer = Renamer(keys, everywhere=rename_everywhere)
    expansion = Expansion(document, renamer, budget=budget, references=references)
    root, told = flatten_root(expansion.root(), lose=expansion.lose, origin=document.root)
    return Sketch(
        schema=complete(root),
        losses=tuple(expansion.losses),
        told=told,
        renames=renamer.renames(),
        every_rename=renamer.every_rename(),
    )
