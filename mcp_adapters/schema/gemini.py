"""Make the projection for Google's models: the OpenAPI subset of `parameters`.

In: a checked schema. Out: a schema with one type for each value, `nullable`, lists of text values
only, typed `items`, unions alone in their node, and no object without properties. What the subset
cannot say stands in descriptions; an object with free keys is asked for as JSON text, which the way
back reads. Places in these losses are places in the portable form.

Beyond the API's own rules the form is what langchain-google-genai 4.4.3 carries: it takes an inner
property without a `default` for required.

Source: Gemini API, `Schema`; google-genai 3.6, `types.Schema`.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_adapters.schema.completion import split_types
from mcp_adapters.schema.limits import pointer_of
from mcp_adapters.schema.merging import alternatives, is_never, merge, types_of
from mcp_adapters.schema.notes import tell_narrowing
from mcp_adapters.schema.portable import portable, sketch
from mcp_adapters.schema.projection import Loss, Projection
from mcp_adapters.schema.roots import Lose, tell_variants, unite_objects
from mcp_adapters.schema.wording import add_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcp_adapters.schema.references import Schema

__all__ = ("gemini",)

_DEEPEST = 5  # levels below the root; the API's limit is not published
_KEPT = (
    "type", "title", "description", "default", "minimum", "maximum", "minLength", "maxLength", "pattern",
    "minItems", "maxItems", "minProperties", "maxProperties",
)  # fmt: skip
_FORMATS = {
    "string": frozenset({"date-time", "enum"}),
    "number": frozenset({"float", "double"}),
    "integer": frozenset({"int32", "int64"}),
}
_DESCRIBED = {"multipleOf": "A multiple of {}", "uniqueItems": "Without duplicates"}
_ANY: tuple[Schema, ...] = ({"type": "number"}, {"type": "boolean"}, {"type": "string"})
"""Text last: langchain-google-genai keeps only the last type of a union inside a list."""
_WIDTHS = {"boolean": 1, "integer": 1, "number": 1, "string": 2}

_Steps = tuple[str | int, ...]


def gemini(schema: Schema) -> Projection:
    """Project a checked schema for Google's models."""
    drawn = sketch(schema, rename_everywhere=True)
    plain = portable(schema, drawn)
    conversion = _Conversion()
    root = conversion.object(drawn.schema, ())
    shown = {key: root[key] for key in ("type", "properties", "required") if key in root}
    losses = tuple(dict.fromkeys((*plain.losses, *conversion.losses)))
    note = " ".join(filter(None, (plain.note, *tell_narrowing(conversion.losses))))
    return replace(plain, schema=json.loads(json.dumps(shown)), losses=losses, note=note)


class _Conversion:
    def __init__(self) -> None:
        self.losses: list[Loss] = []

    def convert(self, node: Schema, steps: _Steps, depth: int) -> Schema:
        """Convert one schema."""
        if "anyOf" in node:
            return self._union(node, steps, depth)
        kinds = [kind for kind in types_of(node) if kind != "null"]
        if len(kinds) > 1:
            return self._union(split_types(node), steps, depth)
        if not kinds:
            return self._untyped(node, steps)
        return self._typed(
            {**node, "type": kinds[0]}, steps, depth, nullable=len(kinds) < len(types_of(node))
        )

    def object(self, node: Schema, steps: _Steps, depth: int = 0) -> Schema:
        """Convert an object with properties."""
        done = {key: node[key] for key in _KEPT if key in node}
        required = node.get("required", ())
        properties = {}
        for key, value in node.get("properties", {}).items():
            inner = self.convert(value, (*steps, "properties", key), depth + 1)
            if depth:
                _mark_optional(inner, optional=key not in required)
            if key == "title":
                # langchain-google-genai writes the schema itself into an empty description here.
                _with_annotations(inner, {"description": "The title."}, ("description",))
            properties[key] = inner
        return {**done, "properties": properties, **({"required": list(required)} if required else {})}

    def _typed(self, node: Schema, steps: _Steps, depth: int, *, nullable: bool) -> Schema:
        kind = node["type"]
        if kind == "object" and (not node.get("properties") or depth > _DEEPEST):
            done = self._as_text(node, steps)
        elif kind == "object":
            done = self.object(node, steps, depth)
        else:
            done = {key: node[key] for key in _KEPT if key in node}
        if kind == "array":
            done["items"] = self._items(node, steps, depth)
        self._values(node, done, steps)
        self._rest(node, done, steps)
        return {**done, "nullable": True} if nullable else done

    def _items(self, node: Schema, steps: _Steps, depth: int) -> Schema:
        inner = (*steps, "items")
        items = self._with_one_object(node.get("items", {}), inner)
        if depth > _DEEPEST and {"array", "object"} & {*types_of(items)}:
            return self._as_text(items, inner)
        return _text_last(self.convert(items, inner, depth + 1))

    def _with_one_object(self, items: Schema, steps: _Steps) -> Schema:
        """Show the objects of a union as one.

        Inside a list langchain-google-genai carries one type, and an object of a union without properties.
        """
        shared = {key: value for key, value in items.items() if key not in ("anyOf", "title", "description")}
        branches = [merge(branch, shared, drop=lambda _: None) for branch in items.get("anyOf", ())]
        objects = [
            branch for branch in branches if types_of(branch) == ("object",) and "properties" in branch
        ]
        if len(objects) < 2:
            return items
        self._lose(steps, "anyOf", "the variants are shown as one object")
        united = unite_objects({"type": "object"}, objects, lose=self._lose_in(steps), origin=items)
        others = [branch for branch in branches if branch not in objects]
        outer: Schema = {key: items[key] for key in ("title", "description") if key in items}
        add_sentence(outer, f"Takes {tell_variants(objects)}")
        return {**outer, "anyOf": [united, *others]} if others else {**united, **outer}

    def _as_text(self, node: Schema, steps: _Steps) -> Schema:
        """Ask for a value as JSON text; the way back reads it where the server takes no text."""
        self._lose(steps, "properties", "asked for as JSON text", narrows=True)
        done: Schema = {"type": "string"} | ({"title": node["title"]} if "title" in node else {})
        if "description" in node:
            done["description"] = node["description"]
        form = {
            key: node[key]
            for key in ("properties", "required", "items", "additionalProperties")
            if key in node
        }
        known = "" if form in ({}, {"additionalProperties": True}) else f" by the schema {_text(form)[:600]}"
        return add_sentence(done, f"{types_of(node)[0].capitalize()} written as JSON text{known}")

    def _untyped(self, node: Schema, steps: _Steps) -> Schema:
        if types_of(node):  # null alone
            return {"type": "string", "nullable": True, "description": "Always null."}
        self._lose(steps, "type", "a value of any type is shown as text, number or boolean", narrows=True)
        union: Schema = {"anyOf": [dict(branch) for branch in _ANY]}
        return _with_annotations(union, node, ("title", "description"))

    def _union(self, node: Schema, steps: _Steps, depth: int) -> Schema:
        """Convert a union, to stand alone in its node: everything beside it goes into its branches."""
        beside = {
            key: value
            for key, value in node.items()
            if key not in ("anyOf", "title", "description", "default")
        }
        typed = [branch for branch in node["anyOf"] if types_of(branch) != ("null",)]
        merged = [merge(branch, beside, drop=lambda _: None) for branch in typed]
        branches = [branch for branch in merged if not is_never(branch)]
        nullable = len(typed) < len(node["anyOf"])
        if not branches:
            return self._untyped({"type": "null"}, steps)
        shown = [self.convert(branch, (*steps, "anyOf", at), depth) for at, branch in enumerate(branches)]
        union = alternatives(_distinct(_flat(shown)))
        if nullable:
            for branch in union.get("anyOf", [union]):
                branch["nullable"] = True
        return _with_annotations(union, node, ("title", "description", "default"))

    def _values(self, node: Schema, done: Schema, steps: _Steps) -> None:
        """Only lists of non-empty text can be said; others go into the description."""
        values = [value for value in node.get("enum", ()) if value is not None]
        if not values:
            return
        if node["type"] == "string" and all(isinstance(value, str) and value for value in values):
            done["enum"] = values
            return
        self._lose(steps, "enum", "in the description: only lists of non-empty text can be said")
        add_sentence(done, f"One of: {', '.join(map(_text, values))[:600]}")

    def _rest(self, node: Schema, done: Schema, steps: _Steps) -> None:
        kind = node["type"]
        if "format" in node and node["format"] in _FORMATS.get(kind, ()):
            done["format"] = node["format"]
        elif "format" in node:
            self._lose(steps, "format", "in the description")
            add_sentence(done, f"Format: {node['format']}")
        for keyword, text in _DESCRIBED.items():
            if node.get(keyword):
                self._lose(steps, keyword, "in the description")
                add_sentence(done, text.format(node[keyword]))
        self._exclusive(node, done, steps)

    def _exclusive(self, node: Schema, done: Schema, steps: _Steps) -> None:
        whole = node["type"] == "integer"
        if (limit := node.get("exclusiveMinimum")) is not None:
            least = math.floor(limit) + 1 if whole else limit
            done["minimum"] = max(least, node.get("minimum", least))
            self._tell_exclusive(done, steps, "exclusiveMinimum", "" if whole else f"Greater than {limit}")
        if (limit := node.get("exclusiveMaximum")) is not None:
            most = math.ceil(limit) - 1 if whole else limit
            done["maximum"] = min(most, node.get("maximum", most))
            self._tell_exclusive(done, steps, "exclusiveMaximum", "" if whole else f"Less than {limit}")

    def _tell_exclusive(self, done: Schema, steps: _Steps, keyword: str, text: str) -> None:
        if text:
            self._lose(steps, keyword, "the limit itself is excluded only in the description")
            add_sentence(done, text)

    def _lose_in(self, steps: _Steps) -> Lose:
        return lambda _, keyword, reason, *, narrows=False: self._lose(
            steps, keyword, reason, narrows=narrows
        )

    def _lose(self, steps: _Steps, keyword: str, reason: str, *, narrows: bool = False) -> None:
        loss = Loss(pointer=pointer_of(*steps), keyword=keyword, reason=reason, narrows=narrows)
        self.losses.append(loss)


def _text_last(items: Schema) -> Schema:
    """Bring a union inside a list into an order whose last type takes the most.

    langchain-google-genai keeps only the last one. The way back reads JSON text where the server takes none.
    """
    if "anyOf" not in items:
        return items
    branches = sorted(items["anyOf"], key=lambda branch: _WIDTHS.get(branch["type"], 0))
    if branches[-1]["type"] not in _WIDTHS:
        nullable = {"nullable": True} if "nullable" in branches[-1] else {}
        branches.append({"type": "string", "description": "Written as JSON text.", **nullable})
    return {**items, "anyOf": branches}


def _mark_optional(node: Schema, *, optional: bool) -> None:
    if optional:
        node.setdefault("default", None)
    elif "default" in node:
        add_sentence(node, f"Default: {_text(node.pop('default'))[:200]}")


def _flat(branches: Iterable[Schema]) -> list[Schema]:
    return [inner for branch in branches for inner in branch.get("anyOf", [branch])]


def _distinct(branches: Iterable[Schema]) -> list[Schema]:
    """Unite the branches that differ in nothing but what they say for people."""
    found: dict[str, Schema] = {}
    for branch in branches:
        rules = _text({key: value for key, value in branch.items() if key not in ("title", "description")})
        known = found.setdefault(rules, dict(branch))
        said = branch.get("description", "")
        if said not in known.get("description", ""):
            known["description"] = "\n".join(filter(None, (known.get("description"), said)))
    return list(found.values())


def _with_annotations(union: Schema, node: Schema, keywords: tuple[str, ...]) -> Schema:
    """Put annotations into a union's first branch: beside a union, some services refuse them."""
    target = union["anyOf"][0] if "anyOf" in union else union
    for keyword in keywords:
        if keyword in node:
            target.setdefault(keyword, node[keyword])
    return union


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
