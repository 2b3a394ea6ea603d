"""Resources and prompts as the objects of both frameworks."""

from __future__ import annotations

import base64
import logging

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core.base.llms.types import (
    AudioBlock,
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
)
from llama_index.core.schema import ImageDocument

import mcp_adapters_langchain as lc
import mcp_adapters_llamaindex as li
from mcp_adapters import (
    BlobResourcePart,
    PromptMessage,
    PromptResult,
    ResourceContents,
    ResourceNotFoundError,
    TextResourcePart,
    Toolbox,
    UnknownPart,
)

from .library import PDF, PIXEL, SOUND

README = {
    "uri": "lib://readme",
    "server": "lib",
    "mime_type": "text/plain",
    "name": "readme",
    "title": "Read me",
    "description": "What there is",
}
MIXED = ResourceContents(
    server="s",
    uri="a://all",
    parts=(
        TextResourcePart(uri="a://1", text="one"),
        TextResourcePart(uri="a://1", text="two"),
        BlobResourcePart(
            uri="a://3",
            blob=base64.b64encode("drei".encode("utf-16")).decode(),
            mime_type="text/plain; charset=utf-16",
        ),
        BlobResourcePart(uri="a://4", blob=PDF, mime_type="application/pdf"),
        BlobResourcePart(
            uri="a://5", blob=base64.b64encode(b"\xff\xfe\xfa").decode(), mime_type="text/plain"
        ),
        BlobResourcePart(uri="a://6", blob=PIXEL, mime_type="image/png"),
        UnknownPart(raw=3, problem="is a number"),
    ),
)


async def test_langchain_documents_have_the_text_and_say_where_it_is_from(lib: Toolbox) -> None:
    documents = lc.load_documents(lib)

    assert [document.page_content for document in documents] == ["Three books.", '["Emma"]']
    assert documents[0].metadata == {"source": "lib://readme", **README}
    assert await lc.aload_documents(lib) == documents
    assert lc.McpResourceLoader(lib, server="lib").load() == documents


async def test_langchain_blobs_have_text_and_bytes(lib: Toolbox) -> None:
    text, image, _ = lc.load_blobs(lib)
    [by_address] = await lc.aload_blobs(lib, "lib://books/Emma")

    assert (text.as_string(), text.mimetype, text.metadata["name"]) == (
        "Three books.",
        "text/plain",
        "readme",
    )
    assert (image.as_bytes(), image.source) == (base64.b64decode(PIXEL), "lib://dot.png")
    assert by_address.as_string() == "The text of Emma."
    assert by_address.metadata == {
        "source": "lib://books/Emma",
        "uri": "lib://books/Emma",
        "server": "lib",
        "mime_type": "text/plain",
    }


async def test_llamaindex_documents_are_text_and_images_with_ids_that_stay(lib: Toolbox) -> None:
    documents = li.load_documents(lib)
    text, image, index = documents

    assert (text.text, text.id_, text.metadata) == ("Three books.", "lib:lib://readme", README)
    assert isinstance(image, ImageDocument)
    assert image.resolve_image().read() == base64.b64decode(PIXEL)
    assert (image.image_mimetype, image.metadata["uri"]) == ("image/png", "lib://dot.png")
    assert index.text == '["Emma"]'
    assert [document.id_ for document in await li.aload_documents(lib)] == [one.id_ for one in documents]
    assert li.load_documents(lib, ["lib://books/Emma"])[0].text == "The text of Emma."


def test_what_is_no_document_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        langchain = [(one.page_content, one.metadata["uri"]) for one in lc.to_documents(MIXED)]
        llama = [(one.id_, type(one).__name__) for one in li.to_documents(MIXED)]
        blobs = [(blob.source, type(blob.data)) for blob in lc.to_blobs(MIXED)]

    assert langchain == [("one", "a://1"), ("two", "a://1"), ("drei", "a://3")]
    assert llama == [
        ("s:a://1", "Document"),
        ("s:a://1#2", "Document"),
        ("s:a://3", "Document"),
        ("s:a://6", "ImageDocument"),
    ]
    assert blobs == [
        ("a://1", str),
        ("a://1", str),
        ("a://3", bytes),
        ("a://4", bytes),
        ("a://5", bytes),
        ("a://6", bytes),
    ]
    assert len([record for record in caplog.records if "left out" in record.message]) == 4 + 3 + 1


@pytest.mark.parametrize("load", [lc.load_documents, lc.load_blobs, li.load_documents])
def test_a_resource_that_is_not_there_is_not_passed_over(lib: Toolbox, load: object) -> None:
    with pytest.raises(ResourceNotFoundError):
        load(lib, ["lib://nothing"])  # type: ignore[operator]


async def test_a_prompt_is_a_conversation_of_the_framework(lib: Toolbox) -> None:
    langchain = lc.prompt_messages(lib, "greet", {"name": "Ada"})
    llama = li.prompt_messages(lib, "greet", {"name": "Ada"})

    assert langchain == [HumanMessage("Say something kind to Ada."), AIMessage("I will.")]
    assert llama == [
        ChatMessage(role=MessageRole.USER, blocks=[TextBlock(text="Say something kind to Ada.")]),
        ChatMessage(role=MessageRole.ASSISTANT, blocks=[TextBlock(text="I will.")]),
    ]
    assert await lc.aprompt_messages(lib, "greet", {"name": "Ada"}) == langchain
    assert await li.aprompt_messages(lib, "greet", {"name": "Ada"}) == llama


NOTE = "[resource lib://note, text/plain]\na note"
LINK = "[resource link readme: lib://readme]"


def test_every_kind_of_content_is_in_langchain_messages(lib: Toolbox) -> None:
    messages = lc.prompt_messages(lib, "show")

    assert [message.content for message in messages] == [
        [{"type": "image", "base64": PIXEL, "mime_type": "image/png"}],
        [{"type": "audio", "base64": SOUND, "mime_type": "audio/wav"}],
        NOTE,
        [
            {
                "type": "file",
                "base64": PDF,
                "mime_type": "application/pdf",
                "extras": {"filename": "paper.pdf"},
            }
        ],
        LINK,
    ]
    assert [block["type"] for message in messages for block in message.content_blocks] == [
        "image",
        "audio",
        "text",
        "file",
        "text",
    ]


def test_every_kind_of_content_is_in_llamaindex_messages(lib: Toolbox) -> None:
    image, audio, note, paper, link = (message.blocks[0] for message in li.prompt_messages(lib, "show"))

    assert isinstance(image, ImageBlock)
    assert (image.resolve_image().read(), image.image_mimetype) == (base64.b64decode(PIXEL), "image/png")
    assert isinstance(audio, AudioBlock)
    assert (audio.resolve_audio().read(), audio.format) == (base64.b64decode(SOUND), "wav")
    assert (note, link) == (TextBlock(text=NOTE), TextBlock(text=LINK))
    assert isinstance(paper, DocumentBlock)
    assert (paper.data, paper.document_mimetype) == (PDF.encode(), "application/pdf")


def test_odd_parts_of_a_prompt_are_said_in_words() -> None:
    parts = (
        UnknownPart(raw={}, problem="unknown type 'video'"),
        BlobResourcePart(uri="a://empty", blob="", mime_type="application/pdf"),
        BlobResourcePart(
            uri="a://json", blob=base64.b64encode(b"[1]").decode(), mime_type="application/json"
        ),
    )
    prompt = PromptResult(server="s", name="p", messages=(PromptMessage(role="user", parts=parts),))
    lines = [
        "[unreadable content: unknown type 'video']",
        "[resource a://empty, application/pdf, 0 bytes]",
        "[resource a://json, application/json, 3 bytes]\n[1]",
    ]

    assert lc.to_messages(prompt) == [HumanMessage("\n".join(lines))]
    assert li.to_messages(prompt)[0].blocks == [TextBlock(text=line) for line in lines]


def test_media_in_resources_are_blocks_of_their_kind() -> None:
    parts = (
        BlobResourcePart(uri="a://1", blob=PIXEL, mime_type="image/png"),
        BlobResourcePart(uri="a://2", blob=SOUND, mime_type="audio/mpeg"),
        BlobResourcePart(uri="a://3", blob=PDF),
    )
    prompt = PromptResult(server="s", name="p", messages=(PromptMessage(role="assistant", parts=parts),))
    [message] = lc.to_messages(prompt)
    blocks = li.to_messages(prompt)[0].blocks

    assert isinstance(message, AIMessage)
    assert [(block["type"], block["mime_type"]) for block in message.content if isinstance(block, dict)] == [
        ("image", "image/png"),
        ("audio", "audio/mpeg"),
        ("file", "application/octet-stream"),
    ]
    assert [type(block) for block in blocks] == [ImageBlock, AudioBlock, DocumentBlock]
    assert isinstance(blocks[1], AudioBlock)
    assert blocks[1].format == "mp3"
