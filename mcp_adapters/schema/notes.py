"""Tell a model in a few words which rules its schema does not show.

In: the losses of a projection. Out: text for the end of a tool's description, of bounded length.
Losses that change nothing for whoever fills in arguments are not told.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from mcp_adapters.schema.projection import Loss
from mcp_adapters.schema.references import Schema

__all__ = ("write_note",)

_TOLD = frozenset({
    "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "contains",
    "minContains", "maxContains", "propertyNames", "patternProperties", "enum", "minProperties",
    "maxProperties",
})  # fmt: skip
_LONGEST_RULE = 160
_MOST_RULES = 8


def write_note(schema: Schema, losses: Iterable[Loss], told: Iterable[str]) -> str:
    """Write the note of a projection.

    Args:
        schema: The server's own schema, in which the losses have their places.
        losses: What the projection lost.
        told: Sentences that are ready.

    Returns:
        At most about 2,000 characters; empty when there is nothing to tell.

    """
    rules = list(dict.fromkeys(_rules(schema, losses)))
    sentences = [sentence[:600] for sentence in told]
    if rules:
        more = f"; {len(rules) - _MOST_RULES} more" if len(rules) > _MOST_RULES else ""
        sentences.append(f"The server also checks: {'; '.join(rules[:_MOST_RULES])}{more}.")
    return " ".join(sentences)


def _rules(schema: Schema, losses: Iterable[Loss]) -> Iterator[str]:
    for loss in losses:
        where = loss.pointer.replace("/properties/", "/") or "the arguments"
        if loss.narrows:
            yield f"at {where}, more is accepted than shown ({loss.reason})"
        elif loss.keyword in _TOLD:
            value = _at(schema, loss.pointer).get(loss.keyword)
            rule = json.dumps({loss.keyword: value}, ensure_ascii=False)[1:-1]
            yield f"at {where}, {rule if len(rule) <= _LONGEST_RULE else rule[:_LONGEST_RULE] + '…'}"


def _at(schema: Schema, pointer: str) -> Schema:
    node: Any = schema
    for token in pointer.split("/")[1:]:
        step = token.replace("~1", "/").replace("~0", "~")
        node = node[int(step)] if isinstance(node, list) else node[step]
    return node if isinstance(node, dict) else {}
