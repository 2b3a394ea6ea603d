"""Bring an expanded schema into the form that providers check for.

In: a schema as the expansion makes it. Out: one that says the same, with `items` for every array,
every required property declared, and no keyword that its types make pointless. The input is not
changed; data is shared with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcp_adapters.schema.merging import is_never, types_of, types_of_values
from mcp_adapters.schema.references import Schema

__all__ = ("complete",)

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
    """Complete a schema and all inside it."""
    kinds = types_of(node) or types_of_values(node.get("enum", ()))
    every = frozenset(kinds)
    done = {key: value for key, value in node.items() if not kinds or _FOR_TYPES.get(key, every) & every}
    if kinds and "type" not in node:
        done["type"] = kinds[0] if len(kinds) == 1 else list(kinds)
    if "array" in kinds:
        done.setdefault("items", {})
    for keyword in ("items", "additionalProperties"):
        if isinstance(done.get(keyword), dict):
            done[keyword] = complete(done[keyword])
    if "anyOf" in done:
        done["anyOf"] = [complete(branch) for branch in done["anyOf"]]
    return _complete_object(done)


def _complete_object(done: Schema) -> Schema:
    shown = {key: value for key, value in done.get("properties", {}).items() if not is_never(value)}
    rest = done.get("additionalProperties", True)
    for name in done.get("required", ()):
        if name not in shown and rest is not False:
            shown[name] = rest if isinstance(rest, dict) else {}
    required = [name for name in done.get("required", ()) if name in shown]
    done.pop("required", None)
    if shown or "properties" in done:
        done["properties"] = {key: complete(value) for key, value in shown.items()}
    return {**done, "required": required} if required else done
