"""Bring an expanded schema into the form that providers check for.

In: a schema as the expansion makes it. Out: one that says the same, with `items` for every array,
every required property declared, and no keyword that its types make pointless. The input is not
changed; data is shared with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_adapters.schema.merging import alternatives, is_never, kind_of, merge, types_of, types_of_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_adapters.schema.references import Schema

__all__ = ("complete", "split_types")

_NUMERIC = frozenset({"number", "integer"})
_FOR_TYPES: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _NUMERIC),
    **dict.fromkeys(("minLength", "maxLength", "pattern"), frozenset({"string"})),
    **dict.fromkeys(("items", "minItems", "maxItems", "uniqueItems"), frozenset({"array"})),
    **dict.fromkeys(
        ("properties", "required", "additionalProperties", "minProperties", "maxProperties"),
        frozenset({"object"}),
    ),
}


def complete(node: Schema) -> Schema:
    """Complete a schema and all inside it; `NEVER` where nothing can satisfy it."""
    if "anyOf" in node:
        node = _complete_union(node)
    kinds = types_of(node) or types_of_values(node.get("enum", ()))
    every = frozenset(kinds)
    done = {key: value for key, value in node.items() if not kinds or _FOR_TYPES.get(key, every) & every}
    if kinds and "type" not in node and "anyOf" not in node:
        done["type"] = kinds[0] if len(kinds) == 1 else list(kinds)
    _complete_items(done, is_array="array" in kinds)
    return _complete_object(done)


def _complete_union(node: Schema) -> Schema:
    """Put the types of a union into its branches: some providers refuse them beside it."""
    beside = {"type": node["type"]} if "type" in node else {}
    branches = [complete(merge(branch, beside, drop=_ignore)) for branch in node["anyOf"]]
    union = alternatives(branches)
    rest = {key: value for key, value in node.items() if key not in ("anyOf", *beside)}
    return {**rest, **union} if "anyOf" in union else merge(rest, union, drop=_ignore)


def _ignore(keyword: str) -> None:
    """Do without a keyword: leaving it out widens."""


def _complete_items(done: Schema, *, is_array: bool) -> None:
    if is_array or "items" in done:
        done["items"] = complete(done.get("items", {}))
        if is_never(done["items"]):
            done |= {"items": {}, "maxItems": 0}


def _complete_object(done: Schema) -> Schema:
    if isinstance(done.get("additionalProperties"), dict):
        rest = complete(done["additionalProperties"])
        done["additionalProperties"] = False if is_never(rest) else rest or True
    completed = {key: complete(value) for key, value in done.get("properties", {}).items()}
    shown = {key: value for key, value in completed.items() if not is_never(value)}
    rest = done.get("additionalProperties", True)
    for name in done.get("required", ()):
        if name not in completed and rest is not False:
            shown[name] = rest if isinstance(rest, dict) else {}
    required = [name for name in done.pop("required", ()) if name in shown]
    if shown or "properties" in done:
        done["properties"] = shown
    return {**done, "required": required} if required else done


def split_types(node: Schema) -> Schema:
    """Write a schema with several types as a union with one branch for each; annotations stay outside."""
    outer: Schema = {key: node[key] for key in ("title", "description", "default") if key in node}
    inner = {key: value for key, value in node.items() if key not in outer}
    branches = [complete(_for_type(inner, kind)) for kind in types_of(node)]
    return {**outer, "anyOf": [branch for branch in branches if branch.get("enum") != []]}


def _for_type(node: Schema, kind: str) -> Schema:
    of_type = {"number", "integer"} if kind == "number" else {kind}
    if "enum" not in node:
        return {**node, "type": kind}
    return {**node, "type": kind, "enum": [value for value in node["enum"] if kind_of(value) in of_type]}
