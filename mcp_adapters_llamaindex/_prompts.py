"""Prompts of MCP servers as LlamaIndex chat messages.

In: a toolbox and a prompt, or a prompt that was got. Out: a `ChatMessage` for each message, with a block
for every kind of content, in the server's order. What no block can carry is a line of text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

from llama_index.core.base.llms.types import (
    AudioBlock,
    ChatMessage,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
)

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

if TYPE_CHECKING:
    from mcp_adapters import Toolbox

__all__ = ("aprompt_messages", "prompt_messages", "to_messages")

_FORMATS = {"mpeg": "mp3", "wave": "wav", "vnd.wave": "wav", "x-wav": "wav", "mp4": "m4a", "x-m4a": "m4a"}
"""What LlamaIndex calls the formats of sound whose type has another name."""


def prompt_messages(
    toolbox: Toolbox,
    prompt: Prompt | str,
    arguments: Mapping[str, str] | None = None,
    *,
    server: str | None = None,
) -> list[ChatMessage]:
    """Get a prompt as messages; arguments and errors as `Toolbox.get_prompt`."""
    return to_messages(toolbox.get_prompt(prompt, arguments, server=server))


async def aprompt_messages(
    toolbox: Toolbox,
    prompt: Prompt | str,
    arguments: Mapping[str, str] | None = None,
    *,
    server: str | None = None,
) -> list[ChatMessage]:
    """Get a prompt as messages; as `prompt_messages`."""
    return to_messages(await toolbox.aget_prompt(prompt, arguments, server=server))


def to_messages(prompt: PromptResult) -> list[ChatMessage]:
    """Make messages of a prompt: one for each, in order, of the assistant or of the user."""
    return [_message(message) for message in prompt.messages]


def _message(message: PromptMessage) -> ChatMessage:
    role = MessageRole.ASSISTANT if message.role == "assistant" else MessageRole.USER
    return ChatMessage(role=role, blocks=[_block(part) for part in message.parts])


def _block(part: Part) -> ContentBlock:
    # Base64 as it came: LlamaIndex takes raw bytes that look like base64 for encoded ones.
    match part:
        case TextPart():
            return TextBlock(text=part.text)
        case TextResourcePart():
            return TextBlock(text=f"{placeholder(part)}\n{part.text}")
        case ImagePart():
            return _image(part.data, media_type(part.mime_type))
        case AudioPart():
            return _audio(part.data, media_type(part.mime_type))
        case BlobResourcePart():
            return _blob(part)
        case ResourceLinkPart() | UnknownPart():
            return TextBlock(text=placeholder(part))
        case _:
            assert_never(part)


def _image(data: str, mime_type: str) -> ImageBlock:
    return ImageBlock(image=data.encode("ascii"), image_mimetype=mime_type)


def _audio(data: str, mime_type: str) -> AudioBlock:
    subtype = mime_type.partition("/")[2]
    return AudioBlock(audio=data.encode("ascii"), format=_FORMATS.get(subtype, subtype) or None)


def _blob(part: BlobResourcePart) -> ContentBlock:
    if (text := text_of(part)) is not None:
        return TextBlock(text=f"{placeholder(part)}\n{text}")
    if not part.blob:
        return TextBlock(text=placeholder(part))
    mime_type = media_type(part.mime_type) or "application/octet-stream"
    if mime_type.startswith("image/"):
        return _image(part.blob, mime_type)
    if mime_type.startswith("audio/"):
        return _audio(part.blob, mime_type)
    return DocumentBlock(data=part.blob.encode("ascii"), title=part.uri, document_mimetype=mime_type)
