"""Tell a model in a few words which rules its schema does not show.

In: the losses of a projection. Out: text for the end of a tool's description, of bounded length.
Losses that change nothing for whoever fills in arguments are not told.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcp_adapters.schema.projection import Loss
    from mcp_adapters.schema.references import Schema

__all__ = ("tell_narrowing", "write_note")

_TOLD = frozenset({
    "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "contains",
    "minContains", "maxContains", "propertyNames", "patternProperties", "enum", "minProperties",
    "maxProperties",
})  # fmt: skip
_LONGEST_RULE = 160
_LONGEST_PHRASE = 320
_MOST_RULES = 8


def write_note(schema: Schema, losses: Iterable[Loss], told: Iterable[str]) -> str:
    """Write the note of a projection.

    Args:
        schema: The server's own schema, in which the losses have their places.
        losses: What the projection lost.
        told: Sentences that are ready.

    Returns:
        At most about 7,000 characters, and seldom any; empty when there is nothing to tell.

    """
    losses = tuple(losses)
    sentences = [sentence[:600] for sentence in told]
    rules = list(dict.fromkeys(_rules(schema, losses)))
    if rules:
        sentences.append(f"The server also checks: {_some(rules)}.")
    return " ".join([*sentences, *tell_narrowing(losses)])


def tell_narrowing(losses: Iterable[Loss]) -> list[str]:
    """Say where a projection accepts less than the server: one sentence, or none."""
    places = list(dict.fromkeys(f"{_place(loss)} ({loss.reason})" for loss in losses if loss.narrows))
    return [f"The server accepts more than is shown for {_some(places)}."] if places else []


def _some(phrases: list[str]) -> str:
    more = f"; {len(phrases) - _MOST_RULES} more" if len(phrases) > _MOST_RULES else ""
    return f"{'; '.join(phrase[:_LONGEST_PHRASE] for phrase in phrases[:_MOST_RULES])}{more}"


def _place(loss: Loss) -> str:
    return loss.pointer.replace("/properties/", "/")[-120:] or "the arguments"


def _rules(schema: Schema, losses: Iterable[Loss]) -> Iterator[str]:
    for loss in losses:
        if loss.keyword in _TOLD and not loss.narrows:
            value = _at(schema, loss.pointer).get(loss.keyword)
            rule = json.dumps({loss.keyword: value}, ensure_ascii=False)[1:-1]
            yield f"for {_place(loss)}, {rule if len(rule) <= _LONGEST_RULE else rule[:_LONGEST_RULE] + '…'}"


def _at(schema: Schema, pointer: str) -> Schema:
    node: Any = schema
    for token in pointer.split("/")[1:]:
        step = token.replace("~1", "/").replace("~0", "~")
        node = node[int(step)] if isinstance(node, list) else node[step]
    return node if isinstance(node, dict) else {}
