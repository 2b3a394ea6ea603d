"""Turn what the validation found into problems that a model can act on.

In: validation errors. Out: problems with a place in the model's own terms, a reason and the form
that is accepted. Values appear shortened; no text of the library that is as long as the arguments.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_adapters.schema.limits import pointer_of
from mcp_adapters.schema.merging import kind_of
from mcp_adapters.schema.outline import cut, outline
from mcp_adapters.schema.projection import Path, Renames

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jsonschema_rs import ValidationError

    from mcp_adapters.schema.references import Document

__all__ = ("ArgumentProblem", "complaints")

_LONGEST_VALUE = 60
_PHRASES: Mapping[str, str] = {
    "minimum": "is too small",
    "exclusiveMinimum": "is too small",
    "maximum": "is too large",
    "exclusiveMaximum": "is too large",
    "multipleOf": "is not a multiple",
    "minLength": "is too short",
    "maxLength": "is too long",
    "pattern": "does not match the pattern",
    "minItems": "has too few elements",
    "maxItems": "has too many elements",
    "uniqueItems": "has an element twice",
    "minProperties": "has too few properties",
    "maxProperties": "has too many properties",
    "falseSchema": "is not accepted",
}
# A regular expression too costly to finish says nothing about the value; the server decides.
_UNDECIDED = frozenset({"BacktrackLimitExceeded", "RegexEngineFailure"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentProblem:
    """One thing that is wrong with arguments."""

    pointer: str
    """JSON pointer of the place in the arguments as the model gave them (RFC 6901)."""
    reason: str
    """What is wrong, as one phrase; values are shortened."""
    accepted: str
    """The form that is accepted there; empty when it cannot be told."""


def complaints(
    errors: Iterable[ValidationError], document: Document, renames: Renames
) -> tuple[ArgumentProblem, ...]:
    """Turn validation errors into problems, in their order and without repetition.

    Args:
        errors: Of arguments in the server's form.
        document: The server's own schema.
        renames: To name places as the model knows them.

    """
    known = {(entry.path, entry.original): entry.exposed for entry in renames.entries}
    return tuple(
        dict.fromkeys(
            _complaint(error, document, known)
            for error in errors
            if type(error.kind).__name__ not in _UNDECIDED
        )
    )


_Known = dict[tuple[Path, str], str]


def _complaint(error: ValidationError, document: Document, known: _Known) -> ArgumentProblem:
    holder = _schema_of(error, document)
    path = list(error.instance_path)
    keyword = error.kind.name
    if keyword == "required":
        name = str(getattr(error.kind, "property", ""))
        inner = holder.get("properties", {}).get(name, True) if isinstance(holder, dict) else True
        return ArgumentProblem(
            pointer=_exposed_pointer([*path, name], known),
            reason="it is required and missing",
            accepted=outline(inner, document),
        )
    unexpected = getattr(error.kind, "unexpected", None)
    if unexpected and isinstance(unexpected[0], str):
        return _unexpected(unexpected, path, holder, known)
    return ArgumentProblem(
        pointer=_exposed_pointer(path, known),
        reason=_reason(error, keyword),
        accepted=outline(holder, document),
    )


def _unexpected(unexpected: list[Any], path: list[Any], holder: Any, known: _Known) -> ArgumentProblem:
    names = ", ".join(repr(cut(str(name), _LONGEST_VALUE)) for name in unexpected[:8])
    properties = holder.get("properties", {}) if isinstance(holder, dict) else {}
    place = _place(path)
    keys = [_exposed(name, place, known) for name in list(properties)[:30]]
    return ArgumentProblem(
        pointer=_exposed_pointer(path, known),
        reason=f"unknown: {names}",
        accepted=cut("only " + ", ".join(keys)) if keys else "nothing",
    )


def _reason(error: ValidationError, keyword: str) -> str:
    value = cut(json.dumps(error.instance, ensure_ascii=False, default=str), _LONGEST_VALUE)
    if keyword == "type":
        kind = kind_of(error.instance)
        article = "" if kind == "null" else "an " if kind[0] in "aio" else "a "
        return f"{value} is {article}{kind}" if kind != "null" else "it is null"
    if keyword in ("enum", "const"):
        return f"{value} is not accepted"
    if keyword in ("anyOf", "oneOf"):
        count = "more than one" if type(error.kind).__name__ == "OneOfMultipleValid" else "none"
        return f"{value} fits {count} of the forms"
    return f"{value} {_PHRASES.get(keyword, f'breaks the rule {keyword!r}')}"


def _schema_of(error: ValidationError, document: Document) -> Any:
    node: Any = document.root
    for step in error.schema_path[:-1]:
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            return True
    return node


def _place(path: list[Any]) -> Path:
    return tuple(step if isinstance(step, str) else None for step in path)


def _exposed_pointer(path: list[Any], known: _Known) -> str:
    place = _place(path)
    steps = [
        _exposed(step, place[:at], known) if isinstance(step, str) else step for at, step in enumerate(path)
    ]
    return pointer_of(*steps)


def _exposed(key: str, place: Path, known: _Known) -> str:
    for (path, original), exposed in known.items():
        if original == key and len(path) == len(place) and _matches(path, place):
            return exposed
    return key


def _matches(path: Path, place: Path) -> bool:
    return all(step is None or step == here for step, here in zip(path, place, strict=True))
