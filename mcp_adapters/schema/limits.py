"""Bound what a server may send as a schema, and see that it is JSON at all.

In: any Python value. Out: the reasons why it is too large or no JSON, each with its place. The
walk is iterative and stops at the first limit, so neither depth nor size of the value can hurt
whoever asks. Nothing is copied and no value is put into a message.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ("SchemaLimits", "SchemaProblem", "measure", "pointer_of")

_DEEPEST = 128  # what the readers behind this one (json, jsonschema_rs, pydantic) take without harm
_LONGEST_INTEGER = 14_000  # bits; Python refuses to print integers above 4,300 digits


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLimits:
    """The largest schema that is looked at.

    Raises:
        ValueError: `depth` is above 128, which the readers behind the check do not take.

    """

    bytes: int = 262_144
    """Of compact JSON text in UTF-8."""
    nodes: int = 10_000
    """JSON values of any kind, the root included."""
    depth: int = 64
    """Objects and lists inside one another, the root included."""

    def __post_init__(self) -> None:
        if self.depth > _DEEPEST:
            raise ValueError(f"depth={self.depth} is above the largest depth that can be read, {_DEEPEST}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaProblem:
    """One thing that is wrong in a schema."""

    pointer: str
    """JSON pointer of the place in the schema (RFC 6901); empty for the schema as a whole."""
    reason: str
    """What is wrong, as one phrase."""
    remedy: str
    """What the author of the server, or the user, can do about it."""


@dataclass(frozen=True, slots=True)
class _Place:
    value: Any
    parent: _Place | None
    key: str | int
    depth: int


def pointer_of(*steps: str | int) -> str:
    """Write steps as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def measure(value: Any, *, limits: SchemaLimits, subject: str = "the schema") -> tuple[SchemaProblem, ...]:
    """Say what keeps a value from being looked at closer.

    Args:
        value: Any Python value, also one that contains itself.
        limits: The largest value that passes.
        subject: What the value is called in a reason.

    Returns:
        Every value that is not JSON, or the first limit that is passed; empty when all is well.

    """
    problems: list[SchemaProblem] = []
    nodes = size = 0
    stack = [_Place(value, None, "", 0)]
    while stack:
        place = stack.pop()
        nodes += 1
        known = nodes + len(stack) + (len(place.value) if isinstance(place.value, (dict, list)) else 0)
        if over := _over(place, nodes=known, size=size, limits=limits):
            return (_too(f"{subject} {over}"),)
        size += _size(place.value, limits.bytes)
        if isinstance(place.value, (dict, list)):
            stack.extend(_children(place))
        if reason := _foreign(place.value):
            problems.append(_not_json(place, reason))
    if size > limits.bytes:
        return (_too(f"{subject} is larger than {limits.bytes:,} bytes"),)
    return tuple(problems)


def _children(place: _Place) -> Iterator[_Place]:
    pairs = place.value.items() if isinstance(place.value, dict) else enumerate(place.value)
    for key, value in pairs:
        yield _Place(value, place, _step(key), place.depth + 1)


def _step(key: object) -> str | int:
    return key if isinstance(key, int) or _is_key(key) else "?"  # type: ignore[return-value]


def _over(place: _Place, *, nodes: int, size: int, limits: SchemaLimits) -> str:
    depth = place.depth + isinstance(place.value, (dict, list))
    if depth > limits.depth:
        return f"is nested deeper than {limits.depth} levels"
    if nodes > limits.nodes:
        return f"has more than {limits.nodes:,} values"
    if size > limits.bytes:
        return f"is larger than {limits.bytes:,} bytes"
    return ""


def _too(reason: str) -> SchemaProblem:
    remedy = "make it smaller, leave the tool out, or raise the limit with schema_limits"
    return SchemaProblem(pointer="", reason=reason, remedy=remedy)


def _size(value: Any, limit: int) -> int:
    if isinstance(value, dict):
        return 1 + len(value) * 2 + sum(_text_size(key, limit) for key in value)
    if isinstance(value, list):
        return 1 + len(value)
    if isinstance(value, str):
        return _text_size(value, limit)
    if isinstance(value, (bool, float)) or value is None:
        return 5
    return value.bit_length() // 3 + 1 if isinstance(value, int) else 0


def _text_size(text: object, limit: int) -> int:
    if not isinstance(text, str):
        return 0
    if len(text) > limit:
        return len(text)
    if text.isascii() and text.isprintable():
        return len(text) + text.count('"') + text.count("\\") + 2
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _foreign(value: Any) -> str:
    if isinstance(value, str):
        return "" if _is_unicode(value) else "text with a lone surrogate, which no UTF-8 message can carry"
    if isinstance(value, bool) or value is None or isinstance(value, list):
        return ""
    if isinstance(value, dict):
        return "" if all(map(_is_key, value)) else "an object with a key that is not Unicode text"
    if isinstance(value, float):
        return "" if math.isfinite(value) else "a number that is not finite"
    if isinstance(value, int):
        return "" if value.bit_length() <= _LONGEST_INTEGER else "an integer with thousands of digits"
    return f"a Python {type(value).__name__}, which JSON does not know"


def _is_key(key: object) -> bool:
    return isinstance(key, str) and _is_unicode(key)


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _not_json(place: _Place, reason: str) -> SchemaProblem:
    steps: list[str | int] = []
    at: _Place | None = place
    while at is not None and at.parent is not None:
        steps.append(at.key)
        at = at.parent
    return SchemaProblem(
        pointer=pointer_of(*reversed(steps)),
        reason=f"it contains {reason}",
        remedy="send values that JSON (RFC 8259) has",
    )
