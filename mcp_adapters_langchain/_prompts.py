"""Prompts of MCP servers as LangChain messages.

In: a toolbox and a prompt, or a prompt that was got. Out: a `HumanMessage` or `AIMessage` for each message,
with every kind of content: text as a string, else LangChain's standard content blocks in the server's
order. What no block can carry is a line of text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, assert_never

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from mcp_adapters.parts import media_type
from mcp_adapters.prompts import Prompt, PromptMessage, PromptResult
from mcp_adapters.resources import text_of
from mcp_adapters.results import placeholder
from mcp_adapters.spec import (
    AudioPart,
    BlobResourcePart,
    ImagePart,
    Part,
    ResourceLinkPart,
    TextPart,
    TextResourcePart,
    UnknownPart,
)
from mcp_adapters_langchain._content import file_name

if TYPE_CHECKING:
    from mcp_adapters import Toolbox

__all__ = ("aprompt_messages", "prompt_messages", "to_messages")


def prompt_messages(
    toolbox: Toolbox,
    prompt: Prompt | str,
    arguments: Mapping[str, str] | None = None,
    *,
    server: str | None = None,
) -> list[BaseMessage]:
    """Get a prompt as messages; arguments and errors as `Toolbox.get_prompt`."""
    return to_messages(toolbox.get_prompt(prompt, arguments, server=server))


async def aprompt_messages(
    toolbox: Toolbox,
    prompt: Prompt | str,
    arguments: Mapping[str, str] | None = None,
    *,
    server: str | None = None,
) -> list[BaseMessage]:
    """Get a prompt as messages; as `prompt_messages`."""
    return to_messages(await toolbox.aget_prompt(prompt, arguments, server=server))


def to_messages(prompt: PromptResult) -> list[BaseMessage]:
    """Make messages of a prompt.

    Returns:
        One for each message of the prompt, in order: of the assistant an `AIMessage`, of everybody else
        a `HumanMessage`. The content is a string where there is only text.

    """
    return [_message(message) for message in prompt.messages]


def _message(message: PromptMessage) -> BaseMessage:
    blocks = [_block(part) for part in message.parts]
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    content: Any = "\n".join(texts) if len(texts) == len(blocks) else blocks
    return AIMessage(content=content) if message.role == "assistant" else HumanMessage(content=content)


def _block(part: Part) -> dict[str, Any]:
    match part:
        case TextPart():
            return _text(part.text)
        case TextResourcePart():
            return _text(f"{placeholder(part)}\n{part.text}")
        case ImagePart() | AudioPart():
            return {"type": part.kind, "base64": part.data, "mime_type": media_type(part.mime_type)}
        case BlobResourcePart():
            return _blob(part)
        case ResourceLinkPart() | UnknownPart():
            return _text(placeholder(part))
        case _:
            assert_never(part)


def _blob(part: BlobResourcePart) -> dict[str, Any]:
    if (text := text_of(part)) is not None:
        return _text(f"{placeholder(part)}\n{text}")
    mime_type = media_type(part.mime_type) or "application/octet-stream"
    kind = mime_type.partition("/")[0]
    if not part.blob:
        return _text(placeholder(part))
    block = {"type": kind, "base64": part.blob, "mime_type": mime_type}
    if kind in ("image", "audio", "video"):
        return block
    return {**block, "type": "file", "extras": {"filename": file_name(part.uri)}}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
