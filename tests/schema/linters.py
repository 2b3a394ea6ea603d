"""What providers refuse, as rules over a schema; and the model's view of arguments.

Each linter returns sentences, one for each breach; none means that the schema is accepted.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import jsonschema_rs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_adapters.schema import Renames

_ROOT_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_UNPORTABLE = {
    "$ref", "$defs", "definitions", "$schema", "$id", "$anchor", "allOf", "oneOf", "not", "const", "nullable",
    "if", "then", "else", "patternProperties", "prefixItems", "additionalItems", "dependencies",
    "dependentSchemas", "dependentRequired", "unevaluatedProperties", "unevaluatedItems",
}  # fmt: skip
_GEMINI = {
    "type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems",
    "properties", "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern",
    "example", "anyOf", "propertyOrdering", "default", "minimum", "maximum",
}  # fmt: skip
_STRICT = {
    "type", "title", "description", "enum", "anyOf", "items", "minItems", "maxItems", "properties",
    "required", "additionalProperties", "minLength", "maxLength", "pattern", "format", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
}  # fmt: skip
_STRICT_FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}


def nodes(schema: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Every schema in a projection, data left aside."""
    yield at, schema
    if not isinstance(schema, dict):
        return
    for key, value in schema.get("properties", {}).items():
        yield from nodes(value, f"{at}/properties/{key}")
    for keyword in ("items", "additionalProperties"):
        if keyword in schema and not (
            keyword == "additionalProperties" and isinstance(schema[keyword], bool)
        ):
            yield from nodes(schema[keyword], f"{at}/{keyword}")
    for number, branch in enumerate(schema.get("anyOf", ())):
        yield from nodes(branch, f"{at}/anyOf/{number}")


def lint_portable(schema: dict[str, Any]) -> list[str]:
    """OpenAI and Azure without strict, Anthropic, Bedrock with Nova, Mistral, Groq, DeepSeek, Moonshot."""
    return [
        *_lint_root(schema),
        *(f"{at}: {what}" for at, node in nodes(schema) for what in _lint_node(node)),
    ]


def _lint_root(schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        yield "the root is not an object with properties"
    if extra := schema.keys() - {"type", "properties", "required"}:
        yield f"extraneous root keys {sorted(extra)}"
    for key in schema.get("properties", ()):
        if not _ROOT_KEY.fullmatch(key):
            yield f"property key {key!r}"
    if not jsonschema_rs.meta.is_valid(schema):
        yield "no JSON Schema of 2020-12"


def _lint_node(node: Any) -> Iterator[str]:
    if not isinstance(node, dict):
        yield "a boolean schema"
        return
    if found := node.keys() & _UNPORTABLE:
        yield f"has {sorted(found)}"
    kinds = [node["type"]] if isinstance(node.get("type"), str) else node.get("type", [])
    if "array" in kinds and not isinstance(node.get("items"), dict):
        yield "array without items"
    if not set(node.get("required", ())) <= node.get("properties", {}).keys():
        yield "required names an undefined property"
    if "anyOf" in node and "type" in node:
        yield "type beside anyOf"
    if any('"$ref":' in json.dumps(node.get(keyword)) for keyword in ("default", "examples", "enum")):
        yield "data that langchain-core takes for a reference"
    if "$ref" in node.get("properties", ()):
        yield "a property that langchain-core takes for a reference"
    if "properties" in node and kinds and "object" not in kinds:
        yield "properties of no object"


def lint_strict(schema: dict[str, Any]) -> list[str]:
    """OpenAI with strict."""
    return [f"{at}: {what}" for at, node in nodes(schema) for what in _lint_strict_node(node)]


def _lint_strict_node(node: Any) -> Iterator[str]:
    if not isinstance(node, dict):
        yield "a boolean schema"
        return
    if found := node.keys() - _STRICT:
        yield f"has {sorted(found)}"
    if "type" not in node and "anyOf" not in node:
        yield "no type"
    kinds = [node["type"]] if isinstance(node.get("type"), str) else node.get("type", [])
    if "object" in kinds and node.get("additionalProperties") is not False:
        yield "open object"
    if "object" in kinds and node.get("required") != list(node.get("properties", ())):
        yield "not every property is required"
    if "format" in node and node["format"] not in _STRICT_FORMATS:
        yield f"format {node['format']}"


def lint_gemini(schema: dict[str, Any]) -> list[str]:
    """Gemini and Vertex by `parameters`; a root without properties is left out by the caller."""
    return [f"{at}: {what}" for at, node in nodes(schema) for what in _lint_gemini_node(node, root=not at)]


def _lint_gemini_node(node: Any, *, root: bool) -> Iterator[str]:
    if not isinstance(node, dict):
        yield "a boolean schema"
        return
    if found := node.keys() - _GEMINI:
        yield f"has {sorted(found)}"
    if "anyOf" not in node:
        yield from _lint_gemini_type(node, root=root)
    # A default of null is never sent: it tells langchain-google-genai that a property is optional.
    elif node.keys() - {"anyOf", "default"} or node.get("default") is not None:
        yield "fields alongside any_of"


def _lint_gemini_type(node: dict[str, Any], *, root: bool) -> Iterator[str]:
    kind = node.get("type")
    if kind not in ("string", "number", "integer", "boolean", "array", "object"):
        yield f"type {kind!r}"
    if kind == "object" and not root and not node.get("properties"):
        yield "properties should be non-empty"
    if kind == "array" and "items" not in node:
        yield "items missing"
    if "enum" in node and (kind != "string" or not all(isinstance(v, str) and v for v in node["enum"])):
        yield "enum of something else than text"
    if not set(node.get("required", ())) <= node.get("properties", {}).keys():
        yield "required names an undefined property"
    if kind == "string" and node.get("format", "enum") not in ("enum", "date-time"):
        yield f"format {node['format']}"


def gemini_as_json_schema(node: Any) -> Any:
    """Say a Gemini schema in JSON Schema, which has no `nullable`."""
    if not isinstance(node, dict):
        return node
    done = {key: value for key, value in node.items() if key != "nullable"}
    if "properties" in done:
        done["properties"] = {key: gemini_as_json_schema(value) for key, value in done["properties"].items()}
    if "items" in done:
        done["items"] = gemini_as_json_schema(done["items"])
    if "anyOf" in done:
        done["anyOf"] = [gemini_as_json_schema(branch) for branch in done["anyOf"]]
    return {"anyOf": [done, {"type": "null"}]} if node.get("nullable") else done


def as_the_model_writes(arguments: Any, renames: Renames) -> Any:
    """Arguments in the server's keys, in the keys that the model sees."""
    return _renamed(arguments, (), {(entry.path, entry.original): entry.exposed for entry in renames.entries})


def _renamed(value: Any, place: tuple[str | None, ...], known: dict[Any, str]) -> Any:
    if isinstance(value, list):
        return [_renamed(inner, (*place, None), known) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        _exposed(key, place, known): _renamed(inner, (*place, key), known) for key, inner in value.items()
    }


def _exposed(key: str, place: tuple[str | None, ...], known: dict[Any, str]) -> str:
    for (path, original), exposed in known.items():
        fits = len(path) == len(place) and all(a is None or a == b for a, b in zip(path, place, strict=True))
        if original == key and fits:
            return exposed
    return key
