"""Tools as servers list them: the forms that providers or their packages are known to stumble over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SHARED = Path(__file__).parents[2] / ".." / "shared"

_TEXT = {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _tool(name: str, schema: dict[str, Any], description: str | None = "Does something.") -> dict[str, Any]:
    described = {} if description is None else {"description": description}
    return {"name": name, **described, "inputSchema": schema}


_TREE = {"type": "object", "properties": {"value": _TEXT, "next": {"$ref": "#/$defs/Tree"}}}
_DIAMONDS = {
    f"L{at}": _object(a={"$ref": f"#/$defs/L{at + 1}"}, b={"$ref": f"#/$defs/L{at + 1}"}) for at in range(30)
}

HOSTILE = [
    _tool("recursive", {**_object(root={"$ref": "#/$defs/Tree"}), "$defs": {"Tree": _TREE}}),
    _tool("itself", _object(again={"$ref": "#"})),
    _tool("diamonds", {**_object(a={"$ref": "#/$defs/L0"}), "$defs": {**_DIAMONDS, "L30": _object(x=_TEXT)}}),
    _tool("percent", {**_object(p={"$ref": "#/$defs/Page%5BItem%5D"}), "$defs": {"Page[Item]": _object(id=_TEXT)}}),
    _tool("no properties", {"type": "object"}),
    _tool("closed and empty", {"type": "object", "properties": {}, "additionalProperties": False}),
    _tool("no description", _object(a=_TEXT), description=None),
    _tool("long description", _object(a=_TEXT), description="Says much, line after line.\n" * 400),
    _tool("n" * 150, _object(a=_TEXT)),
    _tool("handoff", _object(a=_TEXT)),
    _tool(
        "keys",
        _object(**dict.fromkeys(("a.b", "a<b", "$top", "$ref", "config", "self", "run_manager", "ü", "天"), _TEXT)),
    ),
    _tool("keys further in", _object(filter=_object(**{"$and": _TEXT, "x y": _TEXT, "title": _TEXT}))),
    _tool("booleans", _object(anything=True, nothing=False, list={"type": "array", "items": True})),
    _tool("untyped", _object(a={}, b={"description": "Whatever."}, c={"type": ["string", "integer", "null"]})),
    _tool("arrays", _object(bare={"type": "array"}, pair={"type": "array", "prefixItems": [_TEXT, {"type": "integer"}]})),
    _tool("list of items", {"$schema": "http://json-schema.org/draft-07/schema#", **_object(pair={"type": "array", "items": [_TEXT, _TEXT]})}),
    _tool("enums", _object(level={"enum": [1, 2, 3]}, sort={"type": "string", "enum": ["", "asc"]}, mix={"enum": ["a", 1, None]})),
    _tool("constants", _object(kind={"const": "x"}, number={"const": 3})),
    _tool("maps", _object(labels={"type": "object", "additionalProperties": _TEXT}, free={"type": "object"})),
    _tool("patterns", _object(m={"type": "object", "patternProperties": {"^x-": _TEXT}, "additionalProperties": False})),
    _tool("root union", {"type": "object", "oneOf": [{**_object(a=_TEXT), "required": ["a"]}, {**_object(b=_TEXT), "required": ["b"]}]}),
    _tool("inner union", _object(xs={"type": "array", "items": {"anyOf": [_TEXT, {"type": "integer"}]}})),
    _tool("objects in a union", _object(shape={"oneOf": [_object(kind={"const": "circle"}, r={"type": "number"}), _object(kind={"const": "square"}, side={"type": "number"})]})),
    _tool("bounds", _object(n={"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}, s={"type": "string", "format": "uri", "pattern": "^[a-z]+$"})),
    _tool("reference in data", _object(a={"type": "object", "default": {"$ref": "#/nowhere"}})),
    _tool("required and absent", {"type": "object", "properties": {}, "required": ["ghost"]}),
]  # fmt: skip
"""One server's tools, written for this project."""


def all_servers() -> dict[str, list[dict[str, Any]]]:
    """Those above; and where there are any beside the repository, those of real servers, by a key for each."""
    servers = {"hostile": HOSTILE}
    for file in sorted((SHARED / "corpus").glob("*.json")):
        servers[file.stem] = json.loads(file.read_text()).get("tools", [])
    return {key: tools for key, tools in servers.items() if tools}
