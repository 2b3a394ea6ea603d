"""What the structured content of a result is for the program, and what the model must read of it.

In: a `CallToolResult` in its wire form and its parts. Out: the value without the wrapper that some
servers' SDKs add, and JSON text for the model where the content does not say the value already.
Nothing here raises because of what a server sent.

The content *says* a value in "auto" when

- one text, or all texts joined with line breaks, is the value (a string) or JSON equal to it;
- or the texts, one by one, are or spell the elements of the value (what the official SDK sends);
- or either holds for the only member of the value (`{"entities": [...]}` beside the bare list);
- or the value holds the base64 of a part and nothing that the content does not hold.

Anything else is sent: a summary beside the data, or a part of the data, is not the data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from mcp_adapters.parts import decoded_size, looks_like_base64
from mcp_adapters.spec import Part, TextPart, TextResourcePart
from mcp_adapters.wording import encodable, media_lines, without_media

__all__ = ("StructuredMode", "program_value", "supplement", "wraps_result")

StructuredMode: TypeAlias = Literal["auto", "always", "never"]
"""Whether structured content goes into the text beside content entries.

"auto": when the entries do not say it already. "always": also then. "never": the entries suffice.
An answer whose entries have nothing to read always shows it, since it is all that there is.
"""

_UNSHOWABLE = "[structured content that cannot be shown as text]"
_TEXT_ABOVE = "[the text above]"
_LONG_TEXT = 200
"""Characters from which a text that occurs in the structured content too is not sent twice."""
_SURELY_BASE64 = 1024
"""Characters from which an unbroken text in the base64 alphabet is taken for binary data."""
_NOT_JSON = object()


def wraps_result(output_schema: Mapping[str, Any] | None, *, tool: str) -> bool:
    """Tell from a tool's output schema whether the server's SDK wraps values as `{"result": value}`.

    Args:
        output_schema: As the server sent it; None when the tool has none.
        tool: The server's own name for the tool.

    Returns:
        True for FastMCP's `x-fastmcp-wrap-result`, and for the schema that the official Python SDK
        generates: titled with the tool's name and `Output`, with the one property `result`.

    """
    if output_schema is None:
        return False
    if output_schema.get("x-fastmcp-wrap-result") is True:
        return True
    properties = output_schema.get("properties")
    only_result = isinstance(properties, Mapping) and properties.keys() == {"result"}
    return only_result and output_schema.get("title") == f"{tool}Output"


def program_value(raw: Mapping[str, Any], parts: Sequence[Part], *, wrapped: bool) -> Any:
    """Take the structured content, without the wrapper that the server's SDK added.

    Args:
        raw: The result in its wire form.
        parts: Its content.
        wrapped: The output schema declares the wrapper (`wraps_result`).

    Returns:
        The value; None without any. `{"result": value}` becomes `value` if `wrapped`, if the
        result's `_meta.fastmcp.wrap_result` says so, or if the content consists of exactly the
        entries that the official SDK makes of the bare value.

    """
    value = raw.get("structuredContent")
    if not isinstance(value, Mapping) or value.keys() != {"result"}:
        return value
    inner, texts = value["result"], _texts(parts)
    if wrapped or _marked_by_fastmcp(raw):
        return inner
    # The official SDK leaves no mark, so the entries must show it. They show nothing for an object:
    # a server that means `{"result": {...}}` may well write the bare object as its text.
    made_from_inner = len(texts) == len(parts) and _one_by_one(texts, inner)
    return inner if made_from_inner and not isinstance(inner, Mapping) else value


def _marked_by_fastmcp(raw: Mapping[str, Any]) -> bool:
    meta = raw.get("_meta")
    mark = meta.get("fastmcp") if isinstance(meta, Mapping) else None
    return isinstance(mark, Mapping) and mark.get("wrap_result") is True


def _texts(parts: Sequence[Part]) -> list[str]:
    return [part.text for part in parts if isinstance(part, TextPart | TextResourcePart)]


def supplement(value: Any, content: Any, parts: Sequence[Part], mode: StructuredMode) -> str:
    """Write what the model must read of structured content beside the content.

    Args:
        value: What `program_value` returned for a result that has structured content.
        content: The result's `content` in its wire form.
        parts: The same as parts; empty when nothing in it can be read.
        mode: When to write it. Without parts it is always written.

    Returns:
        JSON text, or "" when nothing is to be added. In it, base64 is replaced by a line with its
        size, and (but for "always") a long text that the parts show by a hint.

    """
    if parts and mode == "never":
        return ""
    try:
        if parts and mode == "auto" and _is_said(value, content, parts):
            return ""
        texts = frozenset() if mode == "always" else frozenset(_texts(parts))
        return encodable(json.dumps(_shown(value, media_lines(parts), texts), ensure_ascii=False))
    except (RecursionError, ValueError):
        return _UNSHOWABLE


def _is_said(value: Any, content: Any, parts: Sequence[Part]) -> bool:
    texts = _texts(parts)
    whole = ["\n".join(texts)] if len(texts) > 1 else []
    wanted = [value, *(value.values() if isinstance(value, Mapping) and len(value) == 1 else ())]
    return (
        any(_spells(text, *wanted) for text in (*whole, *texts))
        or any(_one_by_one(texts, one) for one in wanted if texts)
        or _echoes_media(value, content, parts)
    )


def _one_by_one(texts: Sequence[str], value: Any) -> bool:
    """Whether the texts are what the official SDK makes of a value: one for each element."""
    try:
        elements = list(_elements(value))
    except RecursionError:
        return False
    return len(elements) == len(texts) and all(map(_spells, texts, elements))


def _elements(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for element in value:
            yield from _elements(element)
    elif value is not None:
        yield value


def _spells(text: str, *values: Any) -> bool:
    """Whether a text is one of the values or the JSON of one."""
    parsed, words = _parsed(text), text.strip()
    return any(_same(parsed, one) or (isinstance(one, str) and one.strip() == words) for one in values)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _same(left: Any, right: Any) -> bool:
    """Whether parsed JSON is equal to a value; true is not 1."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _echoes_media(value: Any, content: Any, parts: Sequence[Part]) -> bool:
    media, scalars = media_lines(parts), {*_scalars(value)}
    return any(one in media for one in scalars) and scalars <= {*_scalars(content, keys=True)}


def _scalars(value: Any, *, keys: bool = False) -> Iterator[Any]:
    stack = [value]
    while stack:
        match stack.pop():
            case Mapping() as members:
                stack += [*members.values(), *(members if keys else ())]
            case list() as elements:
                stack += elements
            case scalar:
                yield scalar


def _shown(value: Any, media: Mapping[str, str], texts: frozenset[str]) -> Any:
    """Put lines in the place of binary data and of long texts that are shown already."""
    match value:
        case str():
            return _shown_text(value, media, texts)
        case list():
            return [_shown(element, media, texts) for element in value]
        case Mapping():
            return {key: _shown(member, media, texts) for key, member in value.items()}
        case _:
            return value


def _shown_text(text: str, media: Mapping[str, str], texts: frozenset[str]) -> str:
    if text in media:
        return media[text]
    if len(text) >= _LONG_TEXT and text in texts:
        return _TEXT_ABOVE
    if len(text) >= _SURELY_BASE64 and looks_like_base64(text):
        return f"[base64, {decoded_size(text)} bytes]"
    return without_media(text, media)
