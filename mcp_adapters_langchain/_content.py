"""A tool's result as the content and the artifact of a LangChain `ToolMessage`.

In: a `ToolResult`. Out: a plain string where the result is only text, else a list of LangChain's
standard content blocks, and a JSON-only artifact with all that the server said. No block has an
`id` (providers refuse the request), and none is of a type that makes LangChain turn the whole list
into one JSON string: sound stays a line of text, and is whole in the artifact.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from mcp_adapters.parts import media_type, portable_image
from mcp_adapters.results import interleave, shorten, to_artifact
from mcp_adapters.spec import BlobResourcePart, Part, ToolResult

__all__ = ("file_name", "to_artifact", "to_content")

_WHOLE = "the artifact of this tool message"


def to_content(result: ToolResult, *, max_chars: int | None = None) -> str | list[dict[str, Any]]:
    """Write what the model reads of a result.

    Args:
        result: Any result.
        max_chars: Characters of text to keep, over all text blocks; None keeps all. The text of a
            result that has more is one block, its middle left out, before all other blocks.

    Returns:
        A string, never empty, when there is only text; else text, image and file blocks in the
        server's order. Images are of a type that every large provider takes, files are PDF
        documents; all else is a line in the text.

    """
    pieces = interleave(result, lambda part: _block(part) is not None)
    if max_chars is not None and len(result.text) > max_chars:
        media = (piece for piece in pieces if not isinstance(piece, str))
        pieces = (shorten(result.text, max_chars, whole=_WHOLE), *media)
    if len(pieces) == 1 and isinstance(pieces[0], str):
        return pieces[0]
    blocks = (_text_block(piece) if isinstance(piece, str) else _block(piece) for piece in pieces)
    return [block for block in blocks if block is not None]


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _block(part: Part) -> dict[str, Any] | None:
    """Make the block that carries a part; None when no block does at every provider."""
    if image := portable_image(part):
        return {"type": "image", "base64": image.data, "mime_type": image.mime_type}
    if not isinstance(part, BlobResourcePart) or not part.blob:
        return None
    # Providers refuse the whole request for most other types of document.
    if media_type(part.mime_type) != "application/pdf":
        return None
    return {
        "type": "file",
        "base64": part.blob,
        "mime_type": "application/pdf",
        "extras": {"filename": file_name(part.uri)},
    }


def file_name(uri: str) -> str:
    """The last part of an address's path; "document.pdf" where it has none."""
    try:
        path = "" if uri[:5].lower() == "data:" else unquote(urlsplit(uri).path)
    except ValueError:
        path = ""
    return PurePosixPath(path).name or "document.pdf"
