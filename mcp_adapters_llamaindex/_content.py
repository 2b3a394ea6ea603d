"""A tool's result as the content blocks of a LlamaIndex `ToolOutput`.

In: a `ToolResult`. Out: one `TextBlock` with all of the text, then an `ImageBlock` for each image
that every large provider takes. The text has a line for each image, in its place, so that a
provider or agent that reads only text learns of it. Sound and documents stay lines of text: some
LLM classes raise for them and others drop them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_index.core.base.llms.types import ContentBlock, ImageBlock, TextBlock

from mcp_adapters.parts import portable_image
from mcp_adapters.results import shorten

if TYPE_CHECKING:
    from mcp_adapters.spec import ToolResult

__all__ = ("to_blocks",)

_WHOLE = "the raw_output of this tool output"


def to_blocks(result: ToolResult, *, max_chars: int | None = None) -> list[ContentBlock]:
    """Write what the model reads of a result.

    Args:
        result: Any result. For an error the text says so, since no LLM class reads
            `ToolOutput.is_error`.
        max_chars: Characters of text to keep, apart from the mark of an error; None keeps all.

    Returns:
        A text block, never blank, then image blocks in the server's order.

    """
    text = shorten(result.text, max_chars, whole=_WHOLE)
    images = (portable_image(part) for part in result.parts)
    return [
        TextBlock(text=_marked(text) if result.is_error else text),
        # Base64 as it came: LlamaIndex takes raw bytes that look like base64 for encoded ones.
        *(
            ImageBlock(image=image.data.encode("ascii"), image_mimetype=image.mime_type)
            for image in images
            if image
        ),
    ]


def _marked(text: str) -> str:
    return text if text[:5].lower() == "error" else f"Error: {text}"
