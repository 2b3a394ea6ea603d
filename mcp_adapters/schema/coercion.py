"""Bring arguments from the forms that models use into the forms that a schema accepts.

In: JSON arguments and the document of the server's own schema. Out: the arguments with what can only
be meant one way put right: null for an optional value that is never null, JSON text where no text is
accepted, 3.0 where only integers are. Nothing is invented and no default is put in; what does not
fit is left for the validation to tell. The arguments are not changed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcp_adapters.schema.merging import frozen, kind_of, types_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcp_adapters.schema.references import Document

__all__ = ("Coercion",)

_ALL = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_STEPS = 20_000  # schemas looked at for one call; beyond, arguments are left as they are
_DEEPEST = 100
_UNIONS = ("anyOf", "oneOf")


class Coercion:
    """The coercion of one call's arguments.

    Args:
        document: The server's own schema.

    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._left = _STEPS

    def coerce(self, value: Any, schema: Any, depth: int = 0) -> Any:
        """Coerce a value to the schema that it should satisfy, with all inside it."""
        if depth > _DEEPEST or not isinstance(schema, dict):
            return value
        value = self._scalar(value, schema)
        if isinstance(value, dict):
            return {
                key: self.coerce(inner, self._inside(schema, key, value), depth + 1)
                for key, inner in value.items()
                if not self._is_filler(key, value, schema)
            }
        if isinstance(value, list):
            return [
                self.coerce(inner, self._inside(schema, at, value), depth + 1)
                for at, inner in enumerate(value)
            ]
        return value

    def _scalar(self, value: Any, schema: Any) -> Any:
        if not isinstance(value, (str, float)):
            return value
        kinds = self._kinds(schema)
        if isinstance(value, str) and "string" not in kinds:
            value = _read(value, kinds)
        if isinstance(value, float) and value.is_integer() and "number" not in kinds and "integer" in kinds:
            return int(value)
        return value

    def _is_filler(self, key: str, holder: dict[str, Any], schema: Any) -> bool:
        """Say whether a null only stands for an argument that was left out."""
        return (
            holder[key] is None
            and not self._is_required(key, schema)
            and "null" not in self._kinds(self._inside(schema, key, holder))
        )

    def _is_required(self, key: str, schema: Any) -> bool:
        seen: set[int] = set()
        stack = [schema]
        while stack:
            node = stack.pop()
            if not isinstance(node, dict) or id(node) in seen:
                continue
            seen.add(id(node))
            if key in node.get("required", ()):
                return True
            stack += [self._document.target(node), *node.get("allOf", ())]
        return False

    def _kinds(self, schema: Any, depth: int = 0) -> frozenset[str]:
        """Find the types of value that a schema may accept."""
        if not self._may_look(schema, depth):
            return _ALL if schema is not False else frozenset()
        kinds = _named(schema)
        for part in self._parts(schema):
            kinds &= self._kinds(part, depth + 1)
        for union in _UNIONS:
            if schema.get(union):
                kinds &= frozenset().union(*(self._kinds(branch, depth + 1) for branch in schema[union]))
        return kinds

    def _may_look(self, schema: Any, depth: int) -> bool:
        self._left -= 1
        return isinstance(schema, dict) and self._left > 0 and depth < _DEEPEST

    def _parts(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        target = self._document.target(schema)  # type: ignore[arg-type]
        if target is not None:
            yield target
        yield from schema.get("allOf", ())

    def _inside(self, schema: Any, step: str | int, holder: Any, depth: int = 0) -> Any:
        """Put together the schema for a value inside `holder` from all that apply to it."""
        if not self._may_look(schema, depth):
            return True
        found = [_named_at(schema, step)]
        found += [self._inside(part, step, holder, depth + 1) for part in self._parts(schema)]
        for union in _UNIONS:
            branches = [branch for branch in schema.get(union, ()) if self._may_be(branch, holder)]
            if branches:
                inner = [self._inside(branch, step, holder, depth + 1) for branch in branches]
                found.append({"anyOf": inner})
        telling = [part for part in found if part is not True]
        if len(telling) < 2:
            return telling[0] if telling else True
        return {"allOf": telling}

    def _may_be(self, branch: Any, holder: Any) -> bool:
        """Say whether a variant may be the one that an object or list was written by."""
        if kind_of(holder) not in self._kinds(branch):
            return False
        if isinstance(branch, dict) and isinstance(target := self._document.target(branch), dict):
            branch = target
        if not isinstance(branch, dict) or not isinstance(holder, dict):
            return True
        return all(
            key not in holder or not isinstance(form, dict) or _fits(holder[key], form)
            for key, form in branch.get("properties", {}).items()
        )


def _fits(value: Any, form: Mapping[str, Any]) -> bool:
    values = [form["const"]] if "const" in form else form.get("enum")
    return values is None or frozen(value) in map(frozen, values)


def _named(schema: Mapping[str, Any]) -> frozenset[str]:
    kinds = frozenset(types_of(schema)) or _ALL
    kinds |= {"integer"} if "number" in kinds else frozenset()
    kinds |= {"null"} if schema.get("nullable") is True else frozenset()
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is None:
        return kinds
    of_values = frozenset(map(kind_of, values))
    return kinds & (of_values | ({"integer"} if "number" in of_values else frozenset()))


def _named_at(schema: Mapping[str, Any], step: str | int) -> Any:
    if isinstance(step, int):
        places = schema["items"] if isinstance(schema.get("items"), list) else schema.get("prefixItems", ())
        if step < len(places):
            return places[step]
        return schema.get("items" if places is not schema.get("items") else "additionalItems", True)
    if step in schema.get("properties", {}):
        return schema["properties"][step]
    return True if schema.get("patternProperties") else schema.get("additionalProperties", True)


def _read(text: str, kinds: frozenset[str]) -> Any:
    """Read text as JSON where that gives a value of a wanted type; else give the text back."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    return value if value is not None and kind_of(value) in kinds else text


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
