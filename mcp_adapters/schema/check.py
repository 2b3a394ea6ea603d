"""Decide whether what a server sent as a schema can be used.

In: any Python value that came from JSON. Out: a verdict: a repaired copy, or every reason against
it. Nothing is raised, nothing is fetched, the input is not changed, and no value is looked at before
the limits have been measured.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_adapters.schema.dialects import Draft, compile_schema, declared_draft, meta_errors, schema_uri
from mcp_adapters.schema.limits import SchemaLimits, SchemaProblem, measure, pointer_of
from mcp_adapters.schema.objects import may_be_object
from mcp_adapters.schema.references import BrokenReference, Document, Schema, subschemas
from mcp_adapters.schema.repair import repair

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jsonschema_rs import ValidationError

__all__ = ("Verdict", "check")

_LONGEST_REASON = 240
_OLD_FORMS = frozenset({"items", "exclusiveMinimum", "exclusiveMaximum", "$id", "$schema"})
_FALLBACKS: tuple[Draft, ...] = ("draft-07", "draft-04")
"""What a schema that declares no dialect is tried as, when it is not 2020-12; the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the check found."""

    schema: Schema | None
    """A copy of the schema, repaired, with the `$schema` it was read by if that was not the default;
    None when it cannot be used."""
    problems: tuple[SchemaProblem, ...] = ()
    """Everything that keeps the schema from being used."""
    repairs: tuple[SchemaProblem, ...] = ()
    """Everything that was wrong and could only be meant one way."""


def check(raw: Any, *, limits: SchemaLimits = SchemaLimits()) -> Verdict:  # noqa: B008 - frozen
    """Check a tool's input schema.

    Args:
        raw: What the server sent; None when it sent nothing.
        limits: The largest schema that is looked at.

    Returns:
        The repaired copy with the repairs, or the problems.

    Source: JSON Schema 2020-12 core; MCP 2025-11-25, server/tools, "Tool" (the root is an object).

    """
    if problems := _unusable(raw) or measure(raw, limits=limits):
        return Verdict(schema=None, problems=problems)
    schema: Schema = json.loads(json.dumps(raw))
    repairs = list(repair(schema))
    draft, found = _read(schema, repairs)
    problems = tuple(_problems(schema, draft, found))
    if problems:
        return Verdict(schema=None, problems=problems, repairs=tuple(repairs))
    return Verdict(schema=schema, repairs=tuple(repairs))


def _unusable(raw: Any) -> tuple[SchemaProblem, ...]:
    if raw is None:
        return (_problem("", "there is no schema at all", 'send {"type": "object"} for no arguments'),)
    if not isinstance(raw, dict):
        what = "true or false" if isinstance(raw, bool) else f"a {type(raw).__name__}"
        return (_problem("", f"the schema is {what}, not an object", "send a schema with type object"),)
    return ()


def _problem(pointer: str, reason: str, remedy: str) -> SchemaProblem:
    return SchemaProblem(pointer=pointer, reason=reason, remedy=remedy)


def _read(schema: Schema, repairs: list[SchemaProblem]) -> tuple[Draft, list[SchemaProblem]]:
    """Choose the dialect, and write it down where the schema did not say it; see what it says."""
    draft = declared_draft(schema)
    if draft is None and "$schema" in schema and isinstance(schema["$schema"], str):
        reason = "'$schema' names a dialect that is not known; read as 2020-12"
        repairs.append(_problem("/$schema", reason, "declare one of the published dialects"))
        schema["$schema"] = schema_uri("2020-12")
    found = _meta_problems(schema, draft or "2020-12")
    if not found or "$schema" in schema:
        return draft or "2020-12", found
    for older in _FALLBACKS:
        if not _meta_problems(schema, older):
            schema["$schema"] = schema_uri(older)
            repairs.append(_problem("", f"not a 2020-12 schema, but one of {older}", "declare '$schema'"))
            return older, []
    return "2020-12", found


def _meta_problems(schema: Any, draft: Draft, pointer: str = "") -> list[SchemaProblem]:
    found = [_from_meta(error, pointer) for error in meta_errors(schema, draft=draft)]
    # A dialect says nothing about the keywords of later ones, which are read all the same.
    return found if draft == "2020-12" else found + list(_modern_problems(schema, pointer))


def _modern_problems(schema: Any, pointer: str) -> Iterator[SchemaProblem]:
    """Find what 2020-12 refuses in a schema, but for the forms of older dialects."""
    for error in meta_errors(schema, draft="2020-12"):
        if not _OLD_FORMS & set(error.instance_path[-1:]):
            yield _from_meta(error, pointer)
    stack = [(schema, pointer)]
    while stack:
        node, at = stack.pop()
        for steps, child in subschemas(node) if isinstance(node, dict) else ():
            if steps[0] == "items" and len(steps) == 2:
                yield from _modern_problems(child, at + pointer_of(*steps))
            else:
                stack.append((child, at + pointer_of(*steps)))


def _problems(schema: Schema, draft: Draft, found: list[SchemaProblem]) -> Iterator[SchemaProblem]:
    document = Document(schema, draft=draft)
    for pointer, stray in document.strays:
        found += _meta_problems(stray, draft, pointer)
    found += map(_from_reference, document.broken)
    if not found and not may_be_object(document):
        found.append(_problem("", "it cannot describe an object", "give the root the type object"))
    # One wrong value can break several vocabularies of a meta-schema in the same way.
    yield from dict.fromkeys(found) or _uncompilable(schema, draft)


def _from_meta(error: ValidationError, before: str) -> SchemaProblem:
    pointer = before + pointer_of(*error.instance_path)
    of_type = error.instance_path[-1:] == ["type"] and error.instance_path[-2:-1] != ["properties"]
    reason = "the value of 'type' is not a JSON Schema type" if of_type else _short(error.message)
    return _problem(pointer, f"not a JSON Schema: {reason}", "correct the server's schema")


def _from_reference(broken: BrokenReference) -> SchemaProblem:
    where = "to another document, which is never fetched" if broken.remote else "nowhere"
    return _problem(
        broken.pointer,
        f"the reference {_short(broken.reference)!r} leads {where}",
        "put the schema into '$defs' and refer to it there",
    )


def _uncompilable(schema: Schema, draft: Draft) -> Iterable[SchemaProblem]:
    try:
        compile_schema(schema, draft=draft)
    except ValueError as error:
        # jsonschema_rs appends the place and the value on further lines.
        reason = _short(str(error).partition("\n")[0])
        return (_problem("", f"it cannot be compiled: {reason}", "correct the server's schema"),)
    return ()


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"
