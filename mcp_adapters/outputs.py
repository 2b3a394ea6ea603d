"""Compare what a tool answered with what its output schema promises.

In: a tool's output schema as JSON text and results in their wire form. Out: what does not match.
Nothing is raised and nothing is fetched; a schema that cannot be used promises nothing.

Source: MCP 2025-11-25, server/tools, "Output Schema".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mcp_adapters.schema.arguments import MOST_EFFORT, admitting_nulls, depth_of
from mcp_adapters.schema.complaints import ArgumentProblem, complaints
from mcp_adapters.schema.dialects import Draft, compile_schema, declared_draft
from mcp_adapters.schema.effort import Effort
from mcp_adapters.schema.limits import SchemaLimits, measure
from mcp_adapters.schema.outline import cut
from mcp_adapters.schema.projection import Renames
from mcp_adapters.schema.references import Document

if TYPE_CHECKING:
    from jsonschema_rs import Validator

__all__ = ("OutputCheck", "OutputSchemaMode", "describe_mismatch")

OutputSchemaMode: TypeAlias = Literal["strict", "warn", "off"]
"""What a result that breaks the tool's output schema does.

"strict": InvalidResultError, with the whole result in it. "warn": one warning in the log for each
tool; the result is as it is. "off": nothing is compared.
"""

_LIMITS = SchemaLimits()
_UNDECLARED: tuple[Draft, ...] = ("2020-12", "draft-07", "draft-04")
"""As what a schema that declares no dialect is tried, in this order."""
_MOST_TOLD = 3
_LONGEST = 300


class OutputCheck:
    """One tool's output schema; cheap to make, compiled at its first use.

    Args:
        schema_json: The server's own output schema, an object, as JSON text.

    """

    def __init__(self, schema_json: str) -> None:
        self._schema_json = schema_json
        self._compiled: _Compiled | str | None = None

    @property
    def defect(self) -> str:
        """Why the schema cannot be used, as one phrase; empty when it can."""
        ready = self._ready()
        return ready if isinstance(ready, str) else ""

    def problems(self, raw: Mapping[str, Any]) -> tuple[ArgumentProblem, ...]:
        """Say what in a result breaks the schema.

        Args:
            raw: The result in its wire form; `isError` is not looked at.

        Returns:
            Places in `structuredContent` with what is wrong there; empty when all is well, when the
            schema cannot be used, and when validating against it could take very long.

        """
        compiled = self._ready()
        if isinstance(compiled, str):
            return ()
        if "structuredContent" not in raw:
            return (_problem("there is no structured content"),)
        return tuple(compiled.broken(raw["structuredContent"]))

    def _ready(self) -> _Compiled | str:
        if self._compiled is None:
            self._compiled = _compiled(self._schema_json)
        return self._compiled


@dataclass(frozen=True, slots=True)
class _Compiled:
    document: Document
    validator: Validator
    effort: Effort

    def broken(self, value: Any) -> Iterator[ArgumentProblem]:
        if self.effort.bound(depth_of(value)) > MOST_EFFORT:
            return
        try:
            if not self.validator.is_valid(value):
                yield from complaints(self.validator.iter_errors(value), self.document, Renames())
        except ValueError as error:
            yield _problem(cut(str(error), _LONGEST))


def _compiled(schema_json: str) -> _Compiled | str:
    """The schema made ready, or why it cannot be used."""
    schema = json.loads(schema_json)
    if over := measure(schema, limits=_LIMITS):
        return over[0].reason
    declared = declared_draft(schema)
    defect = ""
    for draft in (declared,) if declared else _UNDECLARED:
        try:
            validator = compile_schema(admitting_nulls(schema), draft=draft)
        except ValueError as error:
            # The library appends the place and the value on further lines.
            defect = defect or cut(str(error).partition("\n")[0], _LONGEST)
        else:
            document = Document(schema, draft=draft)
            return _Compiled(document, validator, Effort(document))
    return defect


def _problem(reason: str) -> ArgumentProblem:
    return ArgumentProblem(pointer="", reason=reason, accepted="")


def describe_mismatch(problems: Sequence[ArgumentProblem]) -> str:
    """Write problems as one line: the first few with their places, and how many more there are."""
    told = [
        f"at {problem.pointer or '/'}: {problem.reason}" if problem.pointer else problem.reason
        for problem in problems[:_MOST_TOLD]
    ]
    more = len(problems) - _MOST_TOLD
    return "; ".join([*told, *([f"and {more} more"] if more > 0 else [])])
