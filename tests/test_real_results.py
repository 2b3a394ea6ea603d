"""What a real server answers, as LangChain and LlamaIndex get it: media, links, resources, structure."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.base.llms.types import ImageBlock, TextBlock

from mcp_adapters import Toolbox

from . import real_servers


@pytest.fixture(scope="module")
def everything() -> Iterator[Toolbox]:
    with Toolbox({"everything": real_servers.everything()}, output_schema="strict") as toolbox:
        yield toolbox


async def answered(toolbox: Toolbox, name: str, **arguments: Any) -> tuple[Any, Any]:
    """One call through each framework: a ToolMessage and a ToolOutput."""
    exposed = f"everything_{name}"
    [chained] = [one for one in toolbox.to("langchain") if one.name == exposed]
    [indexed] = [one for one in toolbox.to("llamaindex") if one.metadata.name == exposed]
    message = await chained.ainvoke({"type": "tool_call", "id": "1", "name": exposed, "args": arguments})
    assert json.loads(json.dumps(message.artifact)) == message.artifact
    return message, await indexed.acall(**arguments)


async def test_an_image_is_a_block_in_both(everything: Toolbox) -> None:
    message, output = await answered(everything, "get-tiny-image")

    assert [block["type"] for block in message.content] == ["text", "image", "text"]
    image = message.content[1]
    assert (image.keys(), image["mime_type"]) == ({"type", "base64", "mime_type"}, "image/png")
    assert base64.b64decode(image["base64"])[:4] == b"\x89PNG"
    assert [type(block) for block in output.blocks] == [TextBlock, ImageBlock]
    assert output.blocks[1].image == image["base64"].encode()
    assert "[image image/png, " in output.content


async def test_a_link_to_a_resource_is_a_line_with_its_address(everything: Toolbox) -> None:
    message, output = await answered(everything, "get-resource-links", count=2)

    assert message.content == output.content
    links = [line for line in message.content.splitlines() if line.startswith("[resource link ")]
    assert len(links) == 2
    assert all("demo://resource/" in line for line in links)


@pytest.mark.parametrize("kind", ["Text", "Blob"])
async def test_an_embedded_resource_is_shown_with_its_address(everything: Toolbox, kind: str) -> None:
    message, output = await answered(everything, "get-resource-reference", resourceType=kind, resourceId=1)

    assert message.content == output.content
    assert f"[resource demo://resource/dynamic/{kind.lower()}/1, text/plain" in message.content
    [resource] = [entry["resource"] for entry in message.artifact["result"]["content"] if "resource" in entry]
    if kind == "Text":
        assert resource["text"] in message.content
    else:
        assert resource["blob"] not in message.content


async def test_structured_content_is_in_the_artifact_and_once_in_the_text(everything: Toolbox) -> None:
    """The tool has an output schema, and the answer keeps it."""
    message, output = await answered(everything, "get-structured-content", location="Chicago")

    structured = message.artifact["structured_content"]
    assert structured.keys() == {"temperature", "conditions", "humidity"}
    assert (
        json.loads(message.content)
        == json.loads(output.content)
        == output.raw_output.structured
        == structured
    )
    assert (message.status, output.is_error) == ("success", False)


async def test_annotations_of_content_are_kept(everything: Toolbox) -> None:
    message, output = await answered(
        everything, "get-annotated-message", messageType="success", includeImage=True
    )

    text, image = output.raw_output.parts
    assert (text.kind, image.kind) == ("text", "image")
    assert text.annotations == {"priority": 0.7, "audience": ["user"]}
    assert [entry["annotations"] for entry in message.artifact["result"]["content"]] == [
        text.annotations,
        image.annotations,
    ]
    assert [block["type"] for block in message.content] == ["text", "image"]
    assert all(block.keys() <= {"type", "text", "base64", "mime_type"} for block in message.content)


async def test_wrong_arguments_are_told_to_models_of_both(everything: Toolbox) -> None:
    message, output = await answered(everything, "get-sum", a="one", b=2)

    assert (message.status, output.is_error) == ("error", True)
    assert message.content == output.content
    assert '/a: "one" is a string. Accepted: number' in message.content
