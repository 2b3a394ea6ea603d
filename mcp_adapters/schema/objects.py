"""Say whether a schema can describe an object at all.

In: a document whose schemas are well-formed. Out: False only where no object can satisfy the root,
as far as types, values and branches tell. The walk is iterative and bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_adapters.schema.merging import types_of

if TYPE_CHECKING:
    from mcp_adapters.schema.references import Document, Schema

__all__ = ("may_be_object",)

_ROUNDS = 20


def may_be_object(document: Document) -> bool:
    """Say whether some object may satisfy the root of a document."""
    refused: set[int] = set()
    nodes = [node for _, node in document.schemas()]
    # Inner schemas come late in the document, so that going backwards settles nearly all at once.
    for _ in range(_ROUNDS):
        before = len(refused)
        refused |= {id(node) for node in reversed(nodes) if _refuses(document, node, refused)}
        if len(refused) == before:
            break
    return id(document.root) not in refused


def _refuses(document: Document, node: Schema, refused: set[int]) -> bool:
    def out(branch: Any) -> bool:
        return branch is False or id(branch) in refused

    kinds = types_of(node)
    return (
        (bool(kinds) and "object" not in kinds)
        or ("enum" in node and not any(isinstance(value, dict) for value in node["enum"]))
        or ("const" in node and not isinstance(node["const"], dict))
        or node.get("not") in (True, {}, {"type": "object"})
        or out(document.target(node))
        or any(map(out, node.get("allOf", ())))
        or any(all(map(out, node[union])) for union in ("anyOf", "oneOf") if node.get(union))
    )
