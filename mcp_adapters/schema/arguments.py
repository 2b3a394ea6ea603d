"""Take the arguments that a model gave the way back to the server.

In: the server's own schema, the renames of its projection, arguments as a framework hands them over.
Out: the arguments that the server gets, and everything that is wrong with them. Nothing is raised for
bad arguments, no default is put in, and what was left out stays left out. Formats are not asserted:
what they mean is for the server to say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_adapters.schema.check import check
from mcp_adapters.schema.coercion import Coercion
from mcp_adapters.schema.complaints import ArgumentProblem, complaints
from mcp_adapters.schema.dialects import Draft, compile_schema, declared_draft
from mcp_adapters.schema.effort import Effort
from mcp_adapters.schema.limits import SchemaLimits, measure
from mcp_adapters.schema.outline import cut
from mcp_adapters.schema.projection import Path, Renames
from mcp_adapters.schema.references import Document, Schema, subschemas

if TYPE_CHECKING:
    from jsonschema_rs import Validator

__all__ = (
    "MOST_EFFORT",
    "ArgumentCodec",
    "ArgumentProblem",
    "Decoded",
    "admitting_nulls",
    "depth_of",
    "describe",
)

_LIMITS = SchemaLimits(bytes=2**31, nodes=2_000_000, depth=64)
_MOST_TOLD = 10
MOST_EFFORT = 10_000_000
"""Schemas looked at for one value, from which validating would take more than about a second."""
_UNLIMITED = SchemaLimits(bytes=2**31, nodes=10_000_000, depth=128)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """Arguments on their way to the server."""

    arguments: dict[str, Any]
    """What the server gets; shares nothing with what came in. Not to be sent with problems."""
    problems: tuple[ArgumentProblem, ...] = ()
    """Everything that is wrong; empty when the arguments may be sent."""


class ArgumentCodec:
    """The way back of one tool's arguments; cheap to make, and it pickles.

    Args:
        schema_json: The server's own input schema as JSON text.
        renames: The renames of the projection that the model saw; problems are told by them.
        every_rename: The renames of every projection that a model may have seen; None means `renames`.

    """

    def __init__(
        self,
        schema_json: str,
        renames: Renames = Renames(),  # noqa: B008 - frozen
        every_rename: Renames | None = None,
    ) -> None:
        self._schema_json = schema_json
        self._renames = renames
        self._every_rename = every_rename or renames
        self._reader: _Reader | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._schema_json, self._renames, self._every_rename)

    def decode(self, arguments: Mapping[str, Any] | None) -> Decoded:
        """Bring arguments into the server's form and validate them.

        Args:
            arguments: By a projection or by the server's own schema; None means no arguments.
                Not changed.

        Returns:
            The server's form, and every problem with it.

        """
        found: Any = arguments  # frameworks hand over whatever a model wrote
        if found is not None and not isinstance(found, Mapping):
            return _refused("", f"the arguments are a {type(found).__name__}", "an object")
        given = dict(arguments or {})
        if foreign := measure(given, limits=_LIMITS, subject="it"):
            problems = tuple(
                ArgumentProblem(pointer=p.pointer, reason=p.reason, accepted="JSON") for p in foreign
            )
            return Decoded(arguments={}, problems=problems)
        if self._reader is None:
            self._reader = _Reader.of(self._schema_json)
        if self._reader is None:
            return _refused("", "the tool's own schema cannot be used", "nothing")
        return self._reader.read(given, self._renames, self._every_rename)


def _refused(pointer: str, reason: str, accepted: str) -> Decoded:
    problem = ArgumentProblem(pointer=pointer, reason=reason, accepted=accepted)
    return Decoded(arguments={}, problems=(problem,))


@dataclass(frozen=True, slots=True)
class _Reader:
    """One tool's schema, made ready."""

    document: Document
    validator: Validator
    effort: Effort

    @classmethod
    def of(cls, schema_json: str) -> _Reader | None:
        try:
            raw = json.loads(schema_json)
        except (ValueError, RecursionError):
            return None
        schema = check(raw, limits=_UNLIMITED).schema
        if schema is None:
            return None
        draft: Draft = declared_draft(schema) or "2020-12"
        document = Document(schema, draft=draft)
        return cls(document, compile_schema(admitting_nulls(schema), draft=draft), Effort(document))

    def read(self, arguments: dict[str, Any], renames: Renames, every_rename: Renames) -> Decoded:
        given = _restored(arguments, every_rename)
        if not _has_whole_float(given) and self._is_feasible(given) and self.validator.is_valid(given):
            return Decoded(arguments=given)
        coerced = Coercion(self.document).coerce(given, self.document.root)
        restored = _restored(coerced, every_rename)
        if not self._is_feasible(restored):
            return Decoded(arguments=restored)  # the server validates anyway
        try:
            problems = complaints(self.validator.iter_errors(restored), self.document, renames)
        except ValueError as error:
            return _refused("", cut(str(error)), "JSON")
        return Decoded(arguments=restored, problems=problems)

    def _is_feasible(self, arguments: dict[str, Any]) -> bool:
        """Say whether validating takes a bounded time, which a schema can be made to prevent."""
        return self.effort.bound(depth_of(arguments)) <= MOST_EFFORT


def admitting_nulls(schema: Schema) -> Schema:
    """Copy a schema so that OpenAPI's `nullable`, which JSON Schema does not know, admits null."""
    copied: Schema = json.loads(json.dumps(schema))
    stack: list[Any] = [copied]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            continue
        if node.get("nullable") is True and "type" in node:
            kinds = [node["type"]] if isinstance(node["type"], str) else node["type"]
            node["type"] = [*(kind for kind in kinds if kind != "null"), "null"]
            if None not in node.get("enum", [None]):
                node["enum"] = [*node["enum"], None]
        stack += [child for _, child in subschemas(node)]
    return copied


def depth_of(value: Any) -> int:
    """Count the objects and lists inside one another in JSON."""
    deepest = 0
    stack = [(value, 0)]
    while stack:
        inner, depth = stack.pop()
        deepest = max(deepest, depth)
        if isinstance(inner, (dict, list)):
            stack += [(one, depth + 1) for one in (inner.values() if isinstance(inner, dict) else inner)]
    return deepest


def _has_whole_float(value: Any) -> bool:
    stack = [value]
    while stack:
        inner = stack.pop()
        if isinstance(inner, float) and inner.is_integer():
            return True
        if isinstance(inner, (dict, list)):
            stack += inner.values() if isinstance(inner, dict) else inner
    return False


def _restored(arguments: dict[str, Any], renames: Renames) -> dict[str, Any]:
    """Copy arguments, with the server's own keys."""
    copied: dict[str, Any] = _copied(arguments)
    for entry in renames.entries:
        for holder in _holders(copied, entry.path):
            if entry.exposed in holder and entry.original not in holder:
                holder[entry.original] = holder.pop(entry.exposed)
    return copied


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _holders(value: Any, path: Path) -> Iterator[dict[str, Any]]:
    """Yield every object at a place in arguments."""
    if not path:
        if isinstance(value, dict):
            yield value
        return
    if path[0] is not None:
        inner = [value[path[0]]] if isinstance(value, dict) and path[0] in value else []
    elif isinstance(value, (dict, list)):
        inner = list(value.values() if isinstance(value, dict) else value)
    else:
        inner = []
    for one in inner:
        yield from _holders(one, path[1:])


def describe(problems: tuple[ArgumentProblem, ...], tool_name: str) -> str:
    """Tell a model what is wrong with the arguments that it gave.

    Args:
        problems: At least one problem.
        tool_name: The name of the tool as the model knows it.

    Returns:
        A few lines: each problem with its place and the form that is accepted; at most about 6,000
        characters.

    """
    lines = [f"The arguments for {tool_name} are not valid; the tool was not called."]
    for problem in problems[:_MOST_TOLD]:
        accepted = f" Accepted: {problem.accepted}." if problem.accepted else ""
        lines.append(f"- {cut(problem.pointer or 'arguments')}: {problem.reason}.{accepted}")
    if len(problems) > _MOST_TOLD:
        lines.append(f"- and {len(problems) - _MOST_TOLD} more problems.")
    return "\n".join(lines)
