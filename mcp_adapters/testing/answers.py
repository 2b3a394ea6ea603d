"""What a server of a test answers.

In: texts, results and failures as tests write them. Out: the protocol's results as JSON.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from mcp_adapters.spec import ToolResult

__all__ = ("Answer", "Die", "Refuse", "Silence", "failure", "image", "said", "written")


class Refuse(Exception):  # noqa: N818 - what a server does, not a failure of the test
    """The server answers with a JSON-RPC error; given as an answer, or raised by a function that is one.

    Args:
        message: In the server's words.
        code: Of JSON-RPC 2.0, section 5.1, or of the protocol.

    """

    def __init__(self, message: str, code: int = -32602) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class Die(Exception):  # noqa: N818 - what a server does, not a failure of the test
    """The connection ends in the middle of the call; the next call finds the server again."""


class Silence(Exception):  # noqa: N818 - what a server does, not a failure of the test
    """The server never answers."""


Answer: TypeAlias = str | Mapping[str, Any] | ToolResult | Refuse | Die | Silence | Callable[..., Any]
"""What a tool answers: a text; a result as JSON (an object with `content` or `structuredContent`); a
`ToolResult`; `Refuse`, `Die` or `Silence`; or a function of the arguments, synchronous or not, that gives or
raises one of these."""


def said(*texts: str, structured: Any = None) -> dict[str, Any]:
    """Make a result of texts.

    Args:
        texts: Each becomes a part.
        structured: The structured content; None for none.

    """
    result: dict[str, Any] = {"content": [{"type": "text", "text": text} for text in texts]}
    return result if structured is None else {**result, "structuredContent": structured}


def failure(*texts: str) -> dict[str, Any]:
    """A result by which a tool says that it failed."""
    return {**said(*texts), "isError": True}


def image(data: bytes, mime_type: str = "image/png", *, text: str | None = None) -> dict[str, Any]:
    """Make a result with an image.

    Args:
        data: The image.
        mime_type: Its type.
        text: A part before the image; None for none.

    """
    content = said(*([] if text is None else [text]))["content"]
    encoded = base64.b64encode(data).decode("ascii")
    return {"content": [*content, {"type": "image", "data": encoded, "mimeType": mime_type}]}


def written(answer: Any) -> dict[str, Any]:
    """A text or a result as the protocol's result.

    Raises:
        TypeError: It is neither.

    """
    if isinstance(answer, str):
        return said(answer)
    if isinstance(answer, ToolResult):
        return {**said(answer.text), "isError": answer.is_error, **answer.raw}
    if isinstance(answer, Mapping):
        return {"content": [], **answer}
    raise TypeError(f"a {type(answer).__name__} is no answer; give a text or a result as a dict")
