"""Put into words what a schema cannot say.

In: schemas and data. Out: sentences, and schemas with sentences in their descriptions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_adapters.schema.merging import types_of

if TYPE_CHECKING:
    from mcp_adapters.schema.references import Schema

__all__ = ("add_sentence", "brief", "has_key")


def add_sentence(node: Schema, text: str) -> Schema:
    """Add a sentence to a schema's description; return the schema."""
    before = node.get("description")
    node["description"] = f"{before}\n{text}." if before else f"{text}."
    return node


def has_key(data: Any, key: str) -> bool:
    """Say whether some object in JSON data has a key."""
    stack = [data]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if key in value:
                return True
            stack += value.values()
        elif isinstance(value, list):
            stack += value
    return False


def brief(node: Schema) -> str:
    """Name a schema in a word or two."""
    return str(node.get("title") or " or ".join(types_of(node)) or "any value")
