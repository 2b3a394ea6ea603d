"""Write a schema out in place: no references, no `allOf`, no old forms, no boolean schemas.

In: a checked document. Out: one schema that uses a small set of keywords, and the losses. It accepts
at least what the document accepts, or a loss says that it narrows. References are followed two
levels into a cycle and no deeper than asked; beyond, the bare type of the target stands in. Data
(`default`, `enum`, `const`, `examples`) is never looked into. The document is not changed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcp_adapters.schema.dialects import is_legacy
from mcp_adapters.schema.merging import NEVER, alternatives, is_never, merge, types_of, types_of_values
from mcp_adapters.schema.projection import Loss, Path
from mcp_adapters.schema.wording import add_sentence, brief, has_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_adapters.schema.references import Document, Schema
    from mcp_adapters.schema.renaming import Renamer

__all__ = ("At", "Expansion", "TooLargeError")

_DEEPEST_REFERENCE = 24  # levels of schemas; deeper, a reference is not followed any more
_CYCLES = 2
_LONGEST_TEXT = 200  # of what is quoted in a description, in characters
_KEPT = frozenset({
    "title", "description", "default", "format", "multipleOf", "minLength", "maxLength", "minItems",
    "maxItems", "uniqueItems", "minProperties", "maxProperties",
})  # fmt: skip
_COUNTS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
_ANNOTATIONS = ("title", "description", "default", "examples", "example")
_SILENT = frozenset({
    "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment",
    "$defs", "definitions", "$ref", "$dynamicRef", "$recursiveRef", "allOf", "nullable",
})  # fmt: skip
"""Said by other means in the expansion, or never said to a model."""
_RULES = frozenset({
    "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "contains",
    "minContains", "maxContains", "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
_IN_PLACE = ("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas",
             "dependencies", "patternProperties")  # fmt: skip
# Forms that some providers' engines for regular expressions do not read.
_SPECIAL_PATTERN = re.compile(r"\(\?(?!:)|\\[0-9cku]")


class TooLargeError(Exception):
    """The expansion has more schemas than it may have; never leaves the package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """Where the expansion is."""

    path: Path = ()
    """Of the arguments that are described."""
    depth: int = 0
    """Schemas around this one."""
    references: int = 0
    """References followed on the way."""
    open: tuple[int, ...] = ()
    """Identities of the schemas whose expansion is under way because they were referred to."""

    def below(self, *steps: str | None) -> At:
        """Go to a schema inside this one, for arguments further in by `steps`."""
        return replace(self, path=self.path + steps, depth=self.depth + 1)


class Expansion:
    """One expansion of one document.

    Args:
        document: A checked document.
        renamer: Gives the keys that models see.
        budget: The most schemas that the expansion may have.
        references: The most references that are followed inside one another.

    """

    def __init__(self, document: Document, renamer: Renamer, *, budget: float, references: int) -> None:
        self.losses: dict[Loss, None] = {}
        self._document = document
        self._renamer = renamer
        self._left = budget
        self._references = references

    def root(self) -> Schema:
        """Expand the whole document.

        Raises:
            TooLargeError: The budget is used up.

        """
        return self.expand(self._document.root, At(open=(id(self._document.root),)))

    def lose(self, schema: Schema, keyword: str, reason: str, *, narrows: bool = False) -> None:
        """Note a loss at a schema of the document."""
        pointer = self._document.pointer(schema)
        self.losses[Loss(pointer=pointer, keyword=keyword, reason=reason, narrows=narrows)] = None

    def expand(self, schema: Any, at: At) -> Schema:
        """Expand one schema of the document."""
        self._left -= 1
        if self._left < 0:
            raise TooLargeError
        if not isinstance(schema, dict) or schema.get("not") in (True, {}):
            return {} if schema is True else NEVER
        drop = self._dropper(schema)
        target = self._document.target(schema)
        if target is not None and is_legacy(self._document.draft):
            own = {key: schema[key] for key in _ANNOTATIONS if key in schema and key != "example"}
            self._hide_references(schema, own)
            return self._unite(merge(own, self._refer(schema, target, at), drop=drop), drop)
        merged = self._own(schema, at)
        if target is not None:
            merged = merge(merged, self._refer(schema, target, at), drop=drop)
        for branch in schema.get("allOf", ()):
            merged = merge(merged, self.expand(branch, at.below()), drop=drop)
        return self._unite(merged, drop)

    def _dropper(self, schema: Schema) -> Callable[[str], None]:
        return lambda keyword: self.lose(schema, keyword, "one of several of its kind that all hold is shown")

    def _refer(self, schema: Schema, target: Any, at: At) -> Schema:
        if not isinstance(target, dict):
            return self.expand(target, at)
        if at.open.count(id(target)) >= _CYCLES:
            return self._stand_in(schema, target, "what contains itself is shown two levels deep")
        if at.references >= self._references or at.depth >= _DEEPEST_REFERENCE:
            return self._stand_in(schema, target, "the schema is too large to be shown in full")
        inner = replace(at.below(), references=at.references + 1, open=(*at.open, id(target)))
        return self.expand(target, inner)

    def _stand_in(self, schema: Schema, target: Schema, reason: str) -> Schema:
        self.lose(schema, "$ref", reason)
        name = target.get("title") or self._document.pointer(target).rpartition("/")[2] or "the arguments"
        text = f"{name[:_LONGEST_TEXT]}; its structure is not repeated here"
        kinds = types_of(target)
        if kinds == ("object",):
            return {"type": "object", "additionalProperties": True, "description": text}
        return {**({"type": target["type"]} if kinds else {}), "description": text}

    def _own(self, schema: Schema, at: At) -> Schema:
        """Expand what a schema says itself, without its references and `allOf`."""
        out: Schema = {}
        self._type(schema, out)
        out |= {key: value for key, value in schema.items() if key in _KEPT}
        out |= {key: int(value) for key, value in out.items() if key in _COUNTS}
        self._note_rest(schema)
        if "examples" in schema or "example" in schema:
            out["examples"] = schema["examples"] if "examples" in schema else [schema["example"]]
        self._hide_references(schema, out)
        self._bounds(schema, out)
        self._pattern(schema, out)
        self._items(schema, out, at)
        self._properties(schema, out, at)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema and "anyOf" in out:
                self.lose(schema, keyword, "one of two unions that both hold is shown")
            elif keyword in schema:
                out["anyOf"] = [self.expand(branch, at.below()) for branch in schema[keyword]]
        return out

    def _note_rest(self, schema: Schema) -> None:
        for keyword in schema:
            if keyword in _RULES and not self._says_nothing(schema, keyword):
                self.lose(schema, keyword, "left to the server")
            elif keyword == "oneOf":
                self.lose(schema, keyword, "shown as anyOf")
            elif keyword not in _SAID and keyword not in _RULES:
                self.lose(schema, keyword, "not known to models")

    def _hide_references(self, schema: Schema, out: Schema) -> None:
        """Move data that looks like a reference into the description: langchain-core follows it."""
        for keyword in ("default", "examples", "enum"):
            if keyword in out and has_key(out[keyword], "$ref"):
                self.lose(schema, keyword, "in the description: some frameworks take it for a reference")
                add_sentence(
                    out, f"{keyword}: {json.dumps(out.pop(keyword), ensure_ascii=False)[:_LONGEST_TEXT]}"
                )

    @staticmethod
    def _says_nothing(schema: Schema, keyword: str) -> bool:
        # A condition says nothing without a consequence, nor a consequence without a condition.
        conditional = keyword in ("if", "then", "else")
        lone = conditional and ("if" not in schema or not {"then", "else"} & schema.keys())
        return (
            lone or schema[keyword] in (True, {}) or (keyword == "unevaluatedProperties" and _closes(schema))
        )

    def _type(self, schema: Schema, out: Schema) -> None:
        kinds = list(dict.fromkeys(types_of(schema)))
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if schema.get("nullable") is True and kinds:
            kinds = list(dict.fromkeys([*kinds, "null"]))
            values = values if values is None or None in values else [*values, None]
        kinds = kinds or list(types_of_values(values or ()))
        if kinds:
            out["type"] = kinds[0] if len(kinds) == 1 else kinds
        if values is not None:
            out["enum"] = list(values)

    @staticmethod
    def _bounds(schema: Schema, out: Schema) -> None:
        for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            limit, strict = schema.get(bound), schema.get(exclusive)
            if strict is True:
                out |= {} if limit is None else {exclusive: limit}
                continue
            out |= {} if limit is None else {bound: limit}
            out |= {} if strict is None or strict is False else {exclusive: strict}

    def _pattern(self, schema: Schema, out: Schema) -> None:
        pattern = schema.get("pattern")
        if not isinstance(pattern, str):
            return
        if _SPECIAL_PATTERN.search(pattern):
            self.lose(schema, "pattern", "moved into the description: not every provider can read it")
            add_sentence(out, f"Pattern: {pattern[:_LONGEST_TEXT]}")
        else:
            out["pattern"] = pattern

    def _items(self, schema: Schema, out: Schema, at: At) -> None:
        tuple_form = isinstance(schema.get("items"), list)
        places = schema.get("items") if tuple_form else schema.get("prefixItems")
        rest = schema.get("additionalItems" if tuple_form else "items", True)
        if not places:
            if "items" in schema:
                self._plain_items(rest, out, at)
            return
        shown = [self.expand(place, at.below(None)) for place in places]
        closed = rest is False or schema.get("maxItems", len(places) + 1) <= len(places)
        if closed:
            out["maxItems"] = min(len(places), schema.get("maxItems", len(places)))
        elif rest not in (True, {}):
            shown.append(self.expand(rest, at.below(None)))
        else:
            self.lose(schema, "prefixItems", "further elements are shown like the listed ones", narrows=True)
        out["items"] = alternatives(shown)
        self.lose(schema, "prefixItems", "the places are in the description")
        names = ", ".join(brief(place) for place in shown[: len(places)][:12])
        add_sentence(out, f"Elements in order: {names}")

    def _plain_items(self, rest: Any, out: Schema, at: At) -> None:
        out["items"] = self.expand(rest, at.below(None))
        if is_never(out["items"]):
            out |= {"items": {}, "maxItems": 0}

    def _properties(self, schema: Schema, out: Schema, at: At) -> None:
        shown: Schema = {}
        for key, value in schema.get("properties", {}).items():
            expanded = self.expand(value, at.below(key))
            if is_never(expanded):
                self.lose(
                    value if isinstance(value, dict) else schema, "properties", f"no {key!r} is possible"
                )
                continue
            exposed = self._renamer.expose(key, at.path)
            shown[exposed] = (
                expanded
                if exposed == key
                else add_sentence(dict(expanded), f"Sent as {key[:_LONGEST_TEXT]!r}")
            )
        if shown or "properties" in schema:
            out["properties"] = shown
        self._rest_of_properties(schema, out, at)
        if schema.get("required"):
            out["required"] = [self._renamer.expose(key, at.path) for key in schema["required"]]
        names = schema.get("propertyNames", True)
        if names not in (True, {}, {"type": "string"}):
            self.lose(schema, "propertyNames", "left to the server")

    def _rest_of_properties(self, schema: Schema, out: Schema, at: At) -> None:
        rest = schema.get("additionalProperties")
        patterns = schema.get("patternProperties") or {}
        if rest is None and _closes(schema):
            rest = False
        if patterns:
            self.lose(schema, "patternProperties", "which keys take which form is left to the server")
        shown = [self.expand(value, at.below(None)) for value in patterns.values()]
        if isinstance(rest, dict) and rest:
            shown.append(self.expand(rest, at.below(None)))
        elif rest is not False:
            out |= {"additionalProperties": True} if patterns or rest is not None else {}
            return
        allowed = alternatives(shown)
        out["additionalProperties"] = False if is_never(allowed) else allowed or True

    def _unite(self, node: Schema, drop: Callable[[str], None]) -> Schema:
        """Simplify the union of a schema."""
        if "anyOf" not in node:
            return node
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        branches = [branch for branch in node["anyOf"] if not is_never(branch)]
        if any(not branch.keys() - set(_ANNOTATIONS) for branch in branches):
            return rest
        if types_of(rest):
            # Types inside the branches, not beside them: some providers refuse the latter.
            branches = [merge(branch, {"type": rest["type"]}, drop=drop) for branch in branches]
        union = alternatives(branches)
        if is_never(union):
            return NEVER
        if "anyOf" not in union:
            return merge(rest, union, drop=drop)
        return {**{key: value for key, value in rest.items() if key != "type"}, **union}


_SAID = _KEPT | _SILENT | {
    "type", "const", "enum", "examples", "example", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "pattern", "items", "prefixItems", "additionalItems", "properties", "required",
    "additionalProperties", "patternProperties", "propertyNames", "anyOf", "oneOf",
}  # fmt: skip


def _closes(schema: Schema) -> bool:
    """Say whether a schema's unevaluated properties are just those that it does not name."""
    return schema.get("unevaluatedProperties") is False and not schema.keys() & set(_IN_PLACE)
