"""Make the projection for OpenAI's strict mode, for the tools that can be said in it honestly.

In: a checked schema. Out: a schema in which every object is closed and lists all its properties as
required, an optional one as one that may be null; or the portable form, with `strict` False and the
reasons among the losses, where the mode would forbid what the server accepts (maps, open objects,
untyped values) or a limit is passed. Places in these losses are places in the portable form.

Source: OpenAI, structured outputs, supported schemas, as of November 2026.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_adapters.schema.completion import split_types
from mcp_adapters.schema.limits import pointer_of
from mcp_adapters.schema.merging import types_of
from mcp_adapters.schema.portable import Sketch, portable, sketch
from mcp_adapters.schema.projection import Loss, Projection
from mcp_adapters.schema.wording import add_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_adapters.schema.references import Schema

__all__ = ("openai_strict",)

_DEEPEST = 10
_MOST_PROPERTIES = 5_000
_MOST_VALUES = 1_000
_LONG_LIST = 250
_LONG_LIST_CHARACTERS = 15_000
_MOST_CHARACTERS = 120_000
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_DROPPED = ("default", "examples", "uniqueItems", "minProperties", "maxProperties")
_OF_PRESENCE = frozenset({
    "$ref", "anyOf", "not", "if", "dependentRequired", "dependentSchemas", "dependencies", "maxProperties",
})  # fmt: skip
"""What cannot be kept when every property must be given."""
_ANNOTATIONS = frozenset({"title", "description", "anyOf"})
_ONLY_LISTED = "Only the listed properties can be given."


def openai_strict(schema: Schema) -> Projection:
    """Project a checked schema for OpenAI's strict mode, or for nearly every provider."""
    drawn = sketch(schema, rename_everywhere=False)
    plain = portable(schema, drawn)
    tightening = _Tightening()
    root = tightening.tighten(drawn.schema, ())
    tightening.refusals += (*_unsaid(schema, drawn), *_over_limits(root))
    if tightening.refusals:
        return replace(plain, losses=plain.losses + tuple(dict.fromkeys(tightening.refusals)))
    # The strict form says it again that other properties are refused.
    kept = (loss for loss in plain.losses if loss.keyword != "additionalProperties" or loss.narrows)
    losses = dict.fromkeys((*kept, *tightening.losses))
    closed = any(loss.narrows for loss in tightening.losses)
    return replace(
        plain,
        schema=json.loads(json.dumps(_only(root, "type", "properties", "required", "additionalProperties"))),
        losses=tuple(losses),
        note=" ".join(filter(None, (plain.note, _ONLY_LISTED if closed else ""))),
        strict=True,
    )


def _unsaid(schema: Schema, drawn: Sketch) -> Iterator[Loss]:
    """Say where the form would forbid or demand what the schema only does not show."""
    for loss in drawn.losses:
        if loss.keyword in _OF_PRESENCE:
            yield replace(loss, reason=f"not strict: {loss.reason}")
    closed = drawn.schema.get("additionalProperties") is False
    if not (drawn.schema["properties"] or closed or "properties" in schema):
        reason = "not strict: the server does not say which arguments there are"
        yield Loss(pointer="", keyword="properties", reason=reason)


def _only(node: Schema, *keywords: str) -> Schema:
    return {key: node[key] for key in keywords if key in node}


class _Tightening:
    """One attempt to bring a schema into the strict mode."""

    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self.refusals: list[Loss] = []

    def tighten(self, node: Schema, steps: tuple[str | int, ...]) -> Schema:
        """Tighten a schema; what refuses is noted, and then the result is of no use."""
        if len(types_of(node)) > 1 and {"object", "array"} & {*types_of(node)}:
            node = split_types(node)
        done = self._plain(node, steps)
        if "anyOf" in done:
            return self._union(done, steps)
        if not types_of(done):
            self._refuse(steps, "type", "a value of any type cannot be said in strict mode")
        if "object" in types_of(done):
            return self._object(done, steps)
        if "array" in types_of(done):
            done["items"] = self.tighten(done["items"], (*steps, "items"))
        return done

    def _plain(self, node: Schema, steps: tuple[str | int, ...]) -> Schema:
        """Copy a schema without the keywords that the mode forbids."""
        done = {key: value for key, value in node.items() if key not in _DROPPED}
        for keyword in _DROPPED:
            if keyword in node:
                self._lose(steps, keyword, "in the description: strict mode forbids it")
                if keyword == "maxProperties":
                    self._refuse(steps, keyword, "every property must be given in strict mode")
                add_sentence(done, f"{keyword}: {json.dumps(node[keyword], ensure_ascii=False)[:200]}")
        if "format" in done and done["format"] not in _FORMATS:
            self._lose(steps, "format", "in the description: strict mode does not know it")
            add_sentence(done, f"format: {done.pop('format')}")
        return done

    def _union(self, node: Schema, steps: tuple[str | int, ...]) -> Schema:
        if node.keys() - _ANNOTATIONS:
            self._refuse(steps, "anyOf", "a union beside other rules cannot be said in strict mode")
        first_keys = [next(iter(branch.get("properties", ())), None) for branch in node["anyOf"]]
        named = [key for key in first_keys if key is not None]
        if len({*named}) < len(named):
            self._refuse(steps, "anyOf", "variants that begin with the same property are refused")
        branches = [self.tighten(branch, (*steps, "anyOf", at)) for at, branch in enumerate(node["anyOf"])]
        return {**node, "anyOf": branches}

    def _object(self, node: Schema, steps: tuple[str | int, ...]) -> Schema:
        rest = node.get("additionalProperties")
        if rest is not None and rest is not False:
            self._refuse(steps, "additionalProperties", "a map or open object cannot be said in strict mode")
        elif rest is None and steps and not node.get("properties"):
            self._refuse(steps, "properties", "an object without named properties would be closed and empty")
        elif rest is None and node.get("properties"):
            self._lose(steps, "additionalProperties", "no other properties can be given", narrows=True)
        required = node.get("required", ())
        properties = {
            key: self._property(value, (*steps, "properties", key), required=key in required)
            for key, value in node.get("properties", {}).items()
        }
        return {**node, "properties": properties, "required": list(properties), "additionalProperties": False}

    def _property(self, node: Schema, steps: tuple[str | int, ...], *, required: bool) -> Schema:
        done = self.tighten(node, steps)
        return done if required else _nullable(done)

    def _lose(
        self, steps: tuple[str | int, ...], keyword: str, reason: str, *, narrows: bool = False
    ) -> None:
        loss = Loss(pointer=pointer_of(*steps), keyword=keyword, reason=reason, narrows=narrows)
        self.losses.append(loss)

    def _refuse(self, steps: tuple[str | int, ...], keyword: str, reason: str) -> None:
        self.refusals.append(
            Loss(pointer=pointer_of(*steps), keyword=keyword, reason=f"not strict: {reason}")
        )


def _nullable(node: Schema) -> Schema:
    kinds = types_of(node)
    if "anyOf" in node:
        nulls = any("null" in types_of(branch) for branch in node["anyOf"])
        return node if nulls else {**node, "anyOf": [*node["anyOf"], {"type": "null"}]}
    if {"object", "array"} & {*kinds}:
        outer = _only(node, "description")
        inner = {key: value for key, value in node.items() if key not in outer}
        return {**outer, "anyOf": [inner, {"type": "null"}]}
    if kinds == ("null",):
        return node
    done = {**node, "type": [*(kind for kind in kinds if kind != "null"), "null"]}
    if "enum" in node and None not in node["enum"]:
        done["enum"] = [*node["enum"], None]
    return done


def _over_limits(root: Schema) -> Iterator[Loss]:
    properties = values = characters = deepest = 0
    stack: list[tuple[Schema, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        deepest = max(deepest, depth)
        listed = [str(value) for value in node.get("enum", ())]
        named: dict[str, Any] = node.get("properties", {})
        properties += len(named)
        values += len(listed)
        size = sum(map(len, listed))
        characters += size + sum(map(len, named))
        if len(listed) > _LONG_LIST and size > _LONG_LIST_CHARACTERS:
            yield _limit("enum", f"{len(listed)} values with {size:,} characters in one list")
        stack += [(inner, depth + 1) for inner in (*named.values(), *_inside(node))]
    for keyword, found, most in (
        ("properties", properties, _MOST_PROPERTIES),
        ("enum", values, _MOST_VALUES),
        ("properties", characters, _MOST_CHARACTERS),
        ("type", deepest, _DEEPEST),
    ):
        if found > most:
            yield _limit(keyword, f"{found:,} of at most {most:,}")


def _inside(node: Schema) -> Iterator[Schema]:
    if "items" in node:
        yield node["items"]
    yield from node.get("anyOf", ())


def _limit(keyword: str, what: str) -> Loss:
    return Loss(pointer="", keyword=keyword, reason=f"not strict: over a limit of the mode: {what}")
