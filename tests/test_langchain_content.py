"""What a LangChain agent gets of a result: checked on LangChain's own messages and on LangGraph's store."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("langchain_core", reason="the extra 'langchain' is not installed")

from langchain_core.messages import ToolMessage
from langchain_core.messages.block_translators.openai import convert_to_openai_data_block
from langchain_core.messages.content import is_data_content_block
from langchain_core.tools import StructuredTool

from mcp_adapters.results import from_artifact, read_result
from mcp_adapters.spec import AudioPart, ImagePart, TextPart, ToolResult
from mcp_adapters_langchain._content import to_artifact, to_content

PIXELS = base64.b64encode(bytes(range(100))).decode()
SOUND = base64.b64encode(bytes(range(100, 201))).decode()

TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image", "data": PIXELS, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": SOUND, "mimeType": "audio/wav"}
LINK = {"type": "resource_link", "uri": "file:///r.pdf", "name": "report"}

HELLO_BLOCK = {"type": "text", "text": "hello"}
IMAGE_BLOCK = {"type": "image", "base64": PIXELS, "mime_type": "image/png"}


def _blob(uri: str, mime_type: str | None, blob: str = PIXELS) -> dict[str, object]:
    return {"type": "resource", "resource": {"uri": uri, "blob": blob, "mimeType": mime_type}}


def _pdf_block(filename: str) -> dict[str, object]:
    return {
        "type": "file",
        "base64": PIXELS,
        "mime_type": "application/pdf",
        "extras": {"filename": filename},
    }


CONTENTS = [
    pytest.param([TEXT], "hello", id="text"),
    pytest.param([TEXT, TEXT], "hello\nhello", id="texts"),
    pytest.param([], "Tool executed successfully", id="nothing"),
    pytest.param([AUDIO], "[audio audio/wav, 101 bytes]", id="sound alone"),
    pytest.param(
        [TEXT, AUDIO, LINK], "hello\n[audio audio/wav, 101 bytes]\n[resource link report: file:///r.pdf]"
    ),
    pytest.param([IMAGE], [IMAGE_BLOCK], id="image alone"),
    pytest.param([TEXT, IMAGE, TEXT], [HELLO_BLOCK, IMAGE_BLOCK, HELLO_BLOCK], id="image between texts"),
    pytest.param(
        [IMAGE, AUDIO],
        [IMAGE_BLOCK, {"type": "text", "text": "[audio audio/wav, 101 bytes]"}],
        id="image and sound",
    ),
    pytest.param([{"type": "text", "text": " "}, IMAGE], [IMAGE_BLOCK], id="blank text beside an image"),
    pytest.param(
        [{**IMAGE, "mimeType": "IMAGE/JPG; q=1"}],
        [{**IMAGE_BLOCK, "mime_type": "image/jpeg"}],
        id="image under an unregistered name",
    ),
    pytest.param(
        [{**IMAGE, "mimeType": "image/svg+xml"}],
        "[image image/svg+xml, 100 bytes]",
        id="image that providers refuse",
    ),
    pytest.param([_blob("file:///x.webp", "image/webp")], [{**IMAGE_BLOCK, "mime_type": "image/webp"}]),
    pytest.param([_blob("file:///a/May%20.pdf", "application/pdf")], [_pdf_block("May .pdf")], id="document"),
    pytest.param(
        [_blob("data:application/pdf;base64,AAAA", "application/pdf")], [_pdf_block("document.pdf")]
    ),
    pytest.param(
        [_blob("http://[/x.pdf", "application/pdf")], [_pdf_block("document.pdf")], id="bad address"
    ),
    pytest.param([_blob("a:b", "application/pdf", "")], "[resource a:b, application/pdf, 0 bytes]"),
    pytest.param([_blob("a:b", "application/zip")], "[resource a:b, application/zip, 100 bytes]"),
    pytest.param([_blob("a:b", None)], "[resource a:b, 100 bytes]", id="blob of no type"),
]


@pytest.mark.parametrize(("content", "expected"), CONTENTS)
def test_only_text_is_a_string_and_anything_else_a_list_of_blocks(content, expected):
    assert to_content(read_result({"content": content})) == expected


def test_structured_content_beside_an_image_is_a_block_of_text():
    raw = {"content": [IMAGE], "structuredContent": {"width": 10}}

    assert to_content(read_result(raw)) == [IMAGE_BLOCK, {"type": "text", "text": '{"width": 10}'}]


@pytest.mark.parametrize(
    ("media", "expected"), [([], "{}"), ([IMAGE], [{"type": "text", "text": "{}"}, IMAGE_BLOCK])]
)
def test_a_text_over_the_limit_is_shortened_and_keeps_the_images(media, expected):
    result = read_result({"content": [{"type": "text", "text": "abcdef" * 10}, *media]})
    missing, total = len(result.text) - 4, len(result.text)
    short = (
        f"ab\n[{missing} of {total} characters left out; "
        f"the whole text is in the artifact of this tool message]\n{result.text[-2:]}"
    )

    content = to_content(result, max_chars=4)

    assert json.loads(json.dumps(content).replace(json.dumps(short)[1:-1], "{}")) == expected


def test_a_text_within_the_limit_is_whole():
    assert to_content(read_result({"content": [TEXT]}), max_chars=5) == "hello"


def test_the_artifact_has_what_the_content_cannot_carry():
    raw = {"content": [AUDIO], "structuredContent": {"a": 1}, "isError": True, "_meta": {"m": 1}}

    assert to_artifact(read_result(raw)) == {
        "structured_content": {"a": 1},
        "is_error": True,
        "result": raw,
    }


def test_changing_an_artifact_leaves_the_result_alone():
    result = read_result({"content": [{"type": "text", "text": "hello"}], "structuredContent": {"a": [1]}})

    artifact = to_artifact(result)
    artifact["structured_content"]["a"].append(2)
    artifact["result"]["content"].clear()

    assert result.raw == {"content": [TEXT], "structuredContent": {"a": [1]}}


ENTRIES = st.sampled_from(
    [
        TEXT,
        IMAGE,
        AUDIO,
        LINK,
        _blob("file:///x.pdf", "application/pdf"),
        _blob("file:///x.gif", "image/gif"),
        _blob("file:///x", None),
        {"type": "video"},
        {"type": "text", "text": ""},
    ]
)
ANSWERS = st.fixed_dictionaries(
    {"content": st.lists(ENTRIES, max_size=5)},
    optional={"structuredContent": st.sampled_from([{"n": 2**70}, {"result": []}]), "isError": st.booleans()},
)


@given(raw=ANSWERS)
@settings(max_examples=100, deadline=None)
def test_langchain_keeps_content_and_artifact_as_they_are(raw):
    """LangChain turns a list with one block that it does not know into a JSON string."""
    result = read_result(raw)
    content, artifact = to_content(result), to_artifact(result)
    tool = StructuredTool.from_function(
        func=lambda: (content, artifact),
        name="tool",
        description="Give what was read.",
        response_format="content_and_artifact",
    )

    message = tool.invoke({"type": "tool_call", "id": "1", "name": "tool", "args": {}})

    assert (message.content, message.artifact) == (content, artifact)


@given(raw=ANSWERS)
@settings(max_examples=100, deadline=None)
def test_blocks_have_no_id_and_convert_to_what_providers_take(raw):
    content = to_content(read_result(raw))
    blocks = [] if isinstance(content, str) else content

    assert [block for block in blocks if "id" in block] == []
    media = [block for block in blocks if block["type"] != "text"]
    assert all(is_data_content_block(block) for block in media)
    assert [convert_to_openai_data_block(block)["type"] for block in media] == [
        {"image": "image_url", "file": "file"}[block["type"]] for block in media
    ]
    assert SOUND not in json.dumps(content)


@given(raw=ANSWERS)
@settings(max_examples=50, deadline=None)
def test_a_checkpoint_gives_back_the_message_and_the_result(raw):
    jsonplus = pytest.importorskip(
        "langgraph.checkpoint.serde.jsonplus", reason="langgraph-checkpoint is not installed"
    )
    result = read_result(raw)
    message = ToolMessage(
        content=to_content(result),
        artifact=to_artifact(result),
        tool_call_id="1",
        name="tool",
        status="error",
    )
    serializer = jsonplus.JsonPlusSerializer()

    stored = serializer.loads_typed(serializer.dumps_typed(message))

    assert stored == message
    assert (from_artifact(stored.artifact).parts, from_artifact(stored.artifact).is_error) == (
        result.parts,
        result.is_error,
    )


def test_a_result_made_by_hand_keeps_its_text_and_its_parts():
    parts = (
        TextPart(text="other"),
        AudioPart(data=SOUND, mime_type="audio/wav"),
        ImagePart(data=PIXELS, mime_type="image/png"),
    )

    assert to_content(ToolResult(text="hello", parts=parts)) == [HELLO_BLOCK, IMAGE_BLOCK]
