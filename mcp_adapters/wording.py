"""Say the parts of a result, and failures, in words.

In: parts. Out: lines of text: the text of a part, or a placeholder where the part itself cannot go.
In: an error. Out: what a model reads of it: what failed, why, and what to do.
Binary data never becomes text, and text that no encoder takes (lone surrogates) becomes U+FFFD.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, assert_never

from mcp_adapters.errors import (
    ConnectError,
    ConnectionLostError,
    InvalidResultError,
    McpAdaptersError,
    ToolError,
    ToolNotFoundError,
    ToolTimeoutError,
)
from mcp_adapters.parts import base64_of, decoded_size
from mcp_adapters.spec import (
    AudioPart,
    BlobResourcePart,
    ImagePart,
    Part,
    ResourceLinkPart,
    TextPart,
    TextResourcePart,
    ToolResult,
    UnknownPart,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = (
    "encodable",
    "error_text",
    "failed_result",
    "media_lines",
    "part_lines",
    "placeholder",
    "shorten",
    "without_media",
)

_Unspoken: TypeAlias = (
    ImagePart | AudioPart | TextResourcePart | BlobResourcePart | ResourceLinkPart | UnknownPart
)

_LONG_BASE64 = 64
"""Characters from which base64 inside a longer text cannot be there by chance."""


def part_lines(parts: Sequence[Part]) -> list[str]:
    """Say each part in words, in order.

    Returns:
        For text the text, for text in a resource its placeholder and the text, else the placeholder.
        Base64 of a part that a server repeats in a text gives way to that part's placeholder.

    """
    media = media_lines(parts)
    return [encodable(_line(part, media)) for part in parts]


def _line(part: Part, media: Mapping[str, str]) -> str:
    match part:
        case TextPart():
            return without_media(part.text, media)
        case TextResourcePart():
            return f"{placeholder(part)}\n{without_media(part.text, media)}"
        case _:
            return placeholder(part)


def media_lines(parts: Sequence[Part]) -> dict[str, str]:
    """Map each base64 text in the parts to the placeholder of its part."""
    return {
        data: placeholder(part)
        for part in parts
        if not isinstance(part, TextPart) and (data := base64_of(part))
    }


def without_media(text: str, media: Mapping[str, str]) -> str:
    """Put the placeholders of `media`, as `media_lines` gives them, in the place of base64 inside `text`."""
    for data, line in media.items():
        if len(data) >= _LONG_BASE64:
            text = text.replace(data, line)
    return text


def encodable(text: str) -> str:
    """Replace lone surrogates, which JSON's escapes allow and no encoder takes, by U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def placeholder(part: _Unspoken) -> str:
    """Write the line that stands for a part where the part itself cannot go.

    Returns:
        `[image image/png, 12345 bytes]`, `[audio audio/wav, 41984 bytes]`,
        `[resource file:///a.pdf, application/pdf, 2048 bytes]`,
        `[resource file:///a.txt, text/plain]` (the text follows where it is shown),
        `[resource link report: file:///r.pdf, application/pdf, 2048 bytes, The report of May]`,
        `[unreadable content: unknown type 'video']`. Sizes are decoded bytes. What the server did
        not say is left out; the content of a `data:` URI is never shown.

    """
    match part:
        case ImagePart() | AudioPart():
            return _bracketed(f"{part.kind} {part.mime_type}".strip(), _bytes(decoded_size(part.data)))
        case TextResourcePart():
            return _bracketed(f"resource {_address(part.uri)}".strip(), part.mime_type)
        case BlobResourcePart():
            size = _bytes(decoded_size(part.blob))
            return _bracketed(f"resource {_address(part.uri)}".strip(), part.mime_type, size)
        case ResourceLinkPart():
            head = f"resource link {_address(part.name)}: {_address(part.uri)}"
            return _bracketed(head, part.mime_type, _bytes(part.size), part.description)
        case UnknownPart():
            return _bracketed(f"unreadable content: {part.problem}")
        case _:
            assert_never(part)


def _bracketed(*facts: str | None) -> str:
    line = ", ".join(fact for fact in facts if fact)
    # One line, whatever line breaks a server put into a name.
    return f"[{' '.join(line.split())}]"


def _bytes(size: int | None) -> str | None:
    return None if size is None else f"{size} bytes"


def _address(uri: str) -> str:
    if uri[:5].lower() != "data:":
        return uri
    head, comma, _ = uri.partition(",")
    return f"{head},..." if comma else "data:..."


def shorten(text: str, limit: int | None, *, whole: str = "ToolResult.text") -> str:
    """Keep the head and the tail of a long text, and say what is missing.

    Args:
        text: Any text.
        limit: Characters of `text` to keep; None keeps all. The line in the middle is not counted.
        whole: Where the reader finds the whole text.

    Returns:
        `text` if it has at most `limit` characters; else its two ends around a line such as
        `[1200 of 21200 characters left out; the whole text is in ToolResult.text]`.

    Raises:
        ValueError: `limit` is negative.

    """
    if limit is None or len(text) <= limit:
        return text
    if limit < 0:
        raise ValueError(f"the limit of a text is {limit!r} characters; it must not be negative")
    missing, tail = len(text) - limit, limit // 2
    notice = f"[{missing} of {len(text)} characters left out; the whole text is in {whole}]"
    return "\n".join(filter(None, (text[: limit - tail], notice, text[len(text) - tail :])))


def error_text(error: McpAdaptersError) -> str:
    """Say to a model what went wrong with a call, and what it can do.

    Returns:
        Text that begins with "Error: ". Standard error and other details of a server's process, which
        follow on further lines of the message, are for people: a model gets what it can act on.

    """
    text = str(error) if isinstance(error, ToolError) else str(error).partition("\n")[0]
    advice = _advice(error)
    end = "" if text.endswith(("?", "!", ".")) else "."
    return f"Error: {text}{end} {advice}" if advice else f"Error: {text}"


def _advice(error: McpAdaptersError) -> str:
    match error:
        case ToolTimeoutError() | ConnectionLostError(outcome="unknown", phase="call"):
            return "Find out whether it had an effect before you call it again."
        case InvalidResultError():
            return "The call was made; it may have had its effect."
        case ConnectError() | ConnectionLostError():
            return "The tool was not called. Try again later, or go on without it."
        case ToolNotFoundError():
            return "Use another tool."
        case _:
            return ""


def failed_result(error: McpAdaptersError) -> ToolResult:
    """Make of a failure the result that a model reads of it.

    Args:
        error: A failure that a model can act on.

    Returns:
        A result with `is_error`. What the server sent, if anything, is in it; a result that only
        breaks its output schema is shown as it is, with a line that says so.

    """
    text = error_text(error)
    result = getattr(error, "result", None)
    if not isinstance(result, ToolResult):
        return ToolResult(text=text, is_error=True)
    whole = f"{result.text}\n{text}" if isinstance(error, InvalidResultError) else text
    return replace(result, text=whole, is_error=True)
