"""Every kind of answer, end to end: from the wire to plain Python, LangChain and LlamaIndex."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from llama_index.core.base.llms.types import ImageBlock

from mcp_adapters import Toolbox

from .conftest import Wire, tool

BYTES = base64.b64encode(bytes(range(60))).decode()
STRUCTURE = {"rows": [1, 2]}
PDF = {"uri": "file:///a.pdf", "blob": BYTES, "mimeType": "application/pdf"}

ENTRIES: dict[str, list[dict[str, Any]]] = {
    "text": [{"type": "text", "text": "hello"}],
    "image": [{"type": "image", "data": BYTES, "mimeType": "image/png"}],
    "drawing": [{"type": "image", "data": BYTES, "mimeType": "image/svg+xml"}],
    "audio": [{"type": "audio", "data": BYTES, "mimeType": "audio/wav"}],
    "document": [{"type": "resource", "resource": PDF}],
    "page": [{"type": "resource", "resource": {"uri": "file:///a.txt", "text": "words"}}],
    "link": [{"type": "resource_link", "uri": "file:///b", "name": "b"}],
    "future": [{"type": "hologram", "data": "?"}],
    "empty": [],
}
LINES = {
    "text": "hello",
    "image": "[image image/png, 60 bytes]",
    "drawing": "[image image/svg+xml, 60 bytes]",
    "audio": "[audio audio/wav, 60 bytes]",
    "document": "[resource file:///a.pdf, application/pdf, 60 bytes]",
    "page": "[resource file:///a.txt]\nwords",
    "link": "[resource link b: file:///b]",
    "future": "[unreadable content: unknown type 'hologram']",
    "empty": "",
}
LANGCHAIN_BLOCKS = {
    "image": {"type": "image", "base64": BYTES, "mime_type": "image/png"},
    "document": {
        "type": "file",
        "base64": BYTES,
        "mime_type": "application/pdf",
        "extras": {"filename": "a.pdf"},
    },
}
CASES = list(itertools.product(ENTRIES, [False, True], [False, True]))


def name_of(kind: str, structured: bool, failed: bool) -> str:
    return f"{kind}-{'structured' if structured else 'plain'}-{'failed' if failed else 'done'}"


def answer_of(kind: str, structured: bool, failed: bool) -> dict[str, Any]:
    return {
        "content": ENTRIES[kind],
        **({"structuredContent": STRUCTURE} if structured else {}),
        **({"isError": True} if failed else {}),
    }


def text_of(kind: str, structured: bool, failed: bool) -> str:
    lines = [LINES[kind], json.dumps(STRUCTURE) if structured else ""]
    nothing = "The tool failed and gave no reason" if failed else "Tool executed successfully"
    return "\n".join(filter(None, lines)) or nothing


@pytest.fixture(scope="module")
def toolbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolbox]:
    server = Wire(tmp_path_factory.mktemp("kinds")).server(
        tools=[tool(name_of(*case)) for case in CASES],
        answers={name_of(*case): {"result": answer_of(*case)} for case in CASES},
    )
    with Toolbox({"w": server}) as opened:
        yield opened


@pytest.mark.parametrize("case", CASES, ids=lambda case: name_of(*case))
def test_plain_python_gets_all_of_it(toolbox: Toolbox, case: tuple[str, bool, bool]) -> None:
    kind, structured, failed = case
    result = toolbox.call(f"w_{name_of(*case)}")

    assert (result.text, result.structured, result.is_error, len(result.parts), result.raw) == (
        text_of(*case),
        STRUCTURE if structured else None,
        failed,
        len(ENTRIES[kind]),
        answer_of(*case),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: name_of(*case))
def test_langchain_gets_all_of_it(toolbox: Toolbox, case: tuple[str, bool, bool]) -> None:
    kind, structured, failed = case
    name = f"w_{name_of(*case)}"
    [native] = [one for one in toolbox.to("langchain") if one.name == name]
    message = native.invoke({"type": "tool_call", "id": "1", "name": name, "args": {}})
    text = text_of(*case)
    block = LANGCHAIN_BLOCKS.get(kind)
    beside = [{"type": "text", "text": json.dumps(STRUCTURE)}] if structured else []

    assert isinstance(message, ToolMessage)
    assert (message.content, message.status, message.name, message.tool_call_id) == (
        [block, *beside] if block else text,
        "error" if failed else "success",
        name,
        "1",
    )
    assert message.artifact == {
        "structured_content": STRUCTURE if structured else None,
        "is_error": failed,
        "result": answer_of(*case),
    }
    assert json.loads(json.dumps(message.artifact)) == message.artifact


@pytest.mark.parametrize("case", CASES, ids=lambda case: name_of(*case))
def test_llamaindex_gets_all_of_it(toolbox: Toolbox, case: tuple[str, bool, bool]) -> None:
    kind, structured, failed = case
    name = f"w_{name_of(*case)}"
    [native] = [one for one in toolbox.to("llamaindex") if one.metadata.name == name]
    output = native.call()
    text = text_of(*case)
    images = [BYTES.encode()] if kind == "image" else []

    assert (output.content, output.is_error) == (f"Error: {text}" if failed else text, failed)
    assert [block.image for block in output.blocks if isinstance(block, ImageBlock)] == images
    assert (output.raw_output.structured, output.raw_output.raw) == (
        STRUCTURE if structured else None,
        answer_of(*case),
    )
