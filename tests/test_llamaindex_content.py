"""What a LlamaIndex agent gets of a result: checked on LlamaIndex's own blocks and tool outputs."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llama_index.core", reason="the extra 'llamaindex' is not installed")

from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import ToolOutput

from mcp_adapters.results import read_result
from mcp_adapters_llamaindex._content import to_blocks

PIXELS = base64.b64encode(bytes(range(100))).decode()
SOUND = base64.b64encode(bytes(range(100, 201))).decode()

TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image", "data": PIXELS, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": SOUND, "mimeType": "audio/wav"}
BLOB = {"type": "resource", "resource": {"uri": "a:b", "blob": PIXELS, "mimeType": "application/pdf"}}
PICTURE = {"type": "resource", "resource": {"uri": "a:b", "blob": PIXELS, "mimeType": "image/jpg"}}


def _image_block(mime_type: str = "image/png") -> ImageBlock:
    return ImageBlock(image=PIXELS.encode(), image_mimetype=mime_type)


CONTENTS = [
    pytest.param([TEXT], "hello", [], id="text"),
    pytest.param([TEXT, TEXT], "hello\nhello", [], id="texts are one block"),
    pytest.param([], "Tool executed successfully", [], id="nothing"),
    pytest.param([AUDIO], "[audio audio/wav, 101 bytes]", [], id="sound"),
    pytest.param([BLOB], "[resource a:b, application/pdf, 100 bytes]", [], id="document"),
    pytest.param([IMAGE], "[image image/png, 100 bytes]", [_image_block()], id="image"),
    pytest.param(
        [PICTURE],
        "[resource a:b, image/jpg, 100 bytes]",
        [_image_block("image/jpeg")],
        id="picture in a resource",
    ),
    pytest.param(
        [TEXT, IMAGE, TEXT, IMAGE],
        "hello\n[image image/png, 100 bytes]\nhello\n[image image/png, 100 bytes]",
        [_image_block(), _image_block()],
        id="images between texts",
    ),
    pytest.param(
        [{**IMAGE, "mimeType": "image/svg+xml"}], "[image image/svg+xml, 100 bytes]", [], id="refused image"
    ),
]


@pytest.mark.parametrize(("content", "text", "images"), CONTENTS)
def test_all_text_is_one_block_and_the_images_follow(content, text, images):
    assert to_blocks(read_result({"content": content})) == [TextBlock(text=text), *images]


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("no such file", "Error: no such file"),
        ("Error executing tool x", "Error executing tool x"),
        ("ERROR 5", "ERROR 5"),
        ("", "Error: The tool failed and gave no reason"),
    ],
)
def test_the_text_of_an_error_says_that_it_is_one(text, marked):
    """Nothing else tells the model: LlamaIndex does not send `is_error`."""
    result = read_result({"content": [{"type": "text", "text": text}], "isError": True})

    assert to_blocks(result) == [TextBlock(text=marked)]


def test_a_text_over_the_limit_is_shortened_and_keeps_the_images():
    result = read_result({"content": [{"type": "text", "text": "x" * 71}, IMAGE], "isError": True})

    assert to_blocks(result, max_chars=4) == [
        TextBlock(
            text="Error: xx\n[96 of 100 characters left out; "
            "the whole text is in the raw_output of this tool output]\ns]"
        ),
        _image_block(),
    ]


@given(data=st.binary(min_size=1, max_size=12))
@settings(max_examples=200, deadline=None)
def test_an_image_has_exactly_the_bytes_that_the_server_encoded(data):
    """Also where the bytes themselves look like base64, which LlamaIndex decodes once more."""
    entry = {**IMAGE, "data": base64.b64encode(data).decode()}

    _, image = to_blocks(read_result({"content": [entry]}))

    assert image.resolve_image().read() == data
    assert image.inline_url() == f"data:image/png;base64,{entry['data']}"


@pytest.mark.parametrize("data", [b"abcd", b"YWJjZA==", b"A" * 64])
def test_bytes_that_look_like_base64_are_not_decoded_again(data):
    entry = {**IMAGE, "data": base64.b64encode(data).decode()}

    _, image = to_blocks(read_result({"content": [entry]}))

    assert image.resolve_image().read() == data


@pytest.mark.parametrize(("content", "text", "images"), CONTENTS)
def test_a_tool_output_and_a_stored_chat_message_keep_the_blocks(content, text, images):
    blocks = to_blocks(read_result({"content": content}))
    output = ToolOutput(tool_name="tool", blocks=blocks, raw_input={}, raw_output=None)
    message = ChatMessage(role="tool", blocks=output.blocks, additional_kwargs={"tool_call_id": "1"})

    assert (output.content, output.blocks) == (text, [TextBlock(text=text), *images])
    assert ChatMessage.model_validate_json(message.model_dump_json()) == message
