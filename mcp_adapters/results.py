"""Turn what a server answered to a call into a `ToolResult`, and say it in the text a model reads.

In: a `CallToolResult` in its wire form (parsed JSON, camelCase). Out: a `ToolResult` that holds
everything the server said. Reading never raises because of what a server sent and throws nothing
away: what cannot be read becomes a visible line in the text, and `raw` is the answer itself.

The text, in this order, joined with line breaks:

1. Every content entry in the server's order: text as it is, the text of an embedded resource under a
   line with its address, and one `placeholder` line for all else. A framework that carries images
   puts them in the place of their lines (`interleave`).
2. The structured content as JSON, unless the entries say it already (`StructuredMode`).
3. If there is still nothing: `Tool executed successfully`, or for a failure that no reason is known.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcp_adapters.parts import read_parts
from mcp_adapters.spec import Part, TextPart, ToolResult
from mcp_adapters.structured import StructuredMode, program_value, supplement, wraps_result
from mcp_adapters.wording import encodable, part_lines, placeholder, shorten

__all__ = (
    "StructuredMode",
    "from_artifact",
    "interleave",
    "placeholder",
    "read_result",
    "shorten",
    "to_artifact",
    "wraps_result",
)

_SUCCESS = "Tool executed successfully"
_FAILURE = "The tool failed and gave no reason"
_INT64_MIN, _UINT64_MAX = -(2**63), 2**64 - 1


def read_result(
    raw: Mapping[str, Any], *, structured: StructuredMode = "auto", wrapped: bool = False
) -> ToolResult:
    """Read the answer to one `tools/call`.

    Args:
        raw: The result as parsed JSON. It is kept, not copied.
        structured: Whether structured content goes into the text beside content entries.
        wrapped: The tool's output schema says that the server's SDK wraps values as
            `{"result": value}` (`wraps_result`); `structured` is then the bare value. Other signs
            of a wrapper, in the result itself, are found without it.

    Returns:
        The result. `text` is never blank; `raw` is `raw`. Any `isError` but false and null counts
        as an error.

    Source: MCP 2025-11-25, server/tools, "Tool Result".

    """
    parts = read_parts(raw.get("content"))
    value = program_value(raw, parts, wrapped=wrapped)
    is_error = raw.get("isError") not in (None, False)
    body, extra = _body(parts), ""
    if raw.get("structuredContent") is not None:
        extra = supplement(value, raw.get("content"), parts if body else (), structured)
    meta = raw.get("_meta")
    return ToolResult(
        text="\n".join(filter(None, (body, extra))) or (_FAILURE if is_error else _SUCCESS),
        parts=parts,
        structured=value,
        is_error=is_error,
        meta=meta if isinstance(meta, Mapping) else None,
        raw=raw,
    )


def _body(parts: Sequence[Part]) -> str:
    body = "\n".join(part_lines(parts))
    return body if body.strip() else ""


def interleave(result: ToolResult, carried: Callable[[Part], bool]) -> tuple[str | Part, ...]:
    """Cut a result's text where a framework can carry the parts themselves.

    Args:
        result: Any result, also one that was made by hand.
        carried: Which parts the framework takes as they are; never asked about text.

    Returns:
        Texts and carried parts in the server's order, without blank texts; carried parts stand in
        the place of their lines. If the text was not made from the parts, it comes first, whole.

    """
    media = [part for part in result.parts if not isinstance(part, TextPart) and carried(part)]
    body = _body(result.parts)
    if not media or not f"{result.text}\n".startswith(f"{body}\n"):
        return (result.text, *media)
    pieces: list[str | Part] = []
    start = 0
    lines = part_lines(result.parts)
    for index, part in enumerate(result.parts):
        if any(part is one for one in media):
            pieces += [*_unless_blank(lines[start:index]), part]
            start = index + 1
    rest = result.text[len(body) + 1 :]
    return (*pieces, *_unless_blank([*lines[start:], *filter(None, [rest])]))


def _unless_blank(lines: Sequence[str]) -> list[str]:
    text = "\n".join(lines)
    return [text] if text.strip() else []


def to_artifact(result: ToolResult) -> dict[str, Any]:
    """Write a result as plain JSON, for whoever stores the results of calls.

    Returns:
        `structured_content` (as `ToolResult.structured`), `is_error` and `result` (the server's
        answer), sharing nothing that can change with `result`. Numbers that stores cannot hold
        (integers beyond 64 bits, NaN, infinities) become strings, lone surrogates U+FFFD.

    """
    return {
        "structured_content": _storable(result.structured),
        "is_error": result.is_error,
        "result": _storable(result.raw),
    }


def from_artifact(artifact: Mapping[str, Any], *, structured: StructuredMode = "auto") -> ToolResult:
    """Build the result anew from what `to_artifact` made of it.

    Args:
        artifact: As `to_artifact` returned it, perhaps stored in between.
        structured: The mode with which the result was read first.

    Returns:
        A result equal to the first one, up to the replacements that `to_artifact` names.

    """
    raw = copy.deepcopy(artifact["result"])
    wrapped = raw.get("structuredContent") != artifact["structured_content"]
    return read_result(raw, structured=structured, wrapped=wrapped)


def _storable(value: Any) -> Any:
    # Scalars first: asking whether a value is a Mapping is slow, and most values are scalars.
    match value:
        case str():
            return encodable(value)
        case int():
            return value if _INT64_MIN <= value <= _UINT64_MAX else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case list() | tuple():
            return [_storable(element) for element in value]
        case Mapping():
            return {encodable(key): _storable(member) for key, member in value.items()}
        case _:
            return value
