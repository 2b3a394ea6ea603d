"""The reference server that shows every feature: its resources and prompts, over both transports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from queue import Queue

import pytest

import mcp_adapters_langchain as lc
import mcp_adapters_llamaindex as li
from mcp_adapters import (
    BlobResourcePart,
    Completion,
    HttpServer,
    PromptNotFoundError,
    RequestError,
    ResourceNotFoundError,
    ResourceUpdated,
    Toolbox,
)

from .. import real_servers

TEXT, BLOB = "demo://resource/dynamic/text/{}", "demo://resource/dynamic/blob/{}"


@pytest.fixture(scope="module", params=["stdio", "http"])
def every(request: pytest.FixtureRequest) -> Iterator[Toolbox]:
    if request.param == "stdio":
        with Toolbox({"every": real_servers.everything()}, resources_as_tools=True) as toolbox:
            yield toolbox
    else:
        with real_servers.everything_over_http() as url:
            with Toolbox({"every": HttpServer(url=url)}, resources_as_tools=True) as toolbox:
                yield toolbox


def test_its_listings(every: Toolbox) -> None:
    assert {one.uri.rpartition("/")[0] for one in every.list_resources()} == {
        "demo://resource/static/document"
    }
    assert [one.uri_template for one in every.list_resource_templates()] == [
        TEXT.format("{resourceId}"),
        BLOB.format("{resourceId}"),
    ]
    assert [one.name for one in every.list_prompts()] == [
        "simple-prompt",
        "args-prompt",
        "completable-prompt",
        "resource-prompt",
    ]


def test_its_resources_can_be_read(every: Toolbox) -> None:
    blob = every.read_resource(BLOB.format(7))

    assert every.read_resource(TEXT.format(7)).text.startswith("Resource 7: This is a plaintext resource")
    assert isinstance(blob.parts[0], BlobResourcePart)
    assert blob.text.startswith("Resource 7: This is a base64 blob")


@pytest.mark.parametrize("uri", [TEXT.format("x"), "demo://nothing"])
def test_what_it_does_not_have_is_not_found(every: Toolbox, uri: str) -> None:
    with pytest.raises(ResourceNotFoundError):
        every.read_resource(uri)


def test_its_prompts(every: Toolbox) -> None:
    assert [m.content for m in lc.prompt_messages(every, "args-prompt", {"city": "Rome"})] == [
        "What's weather in Rome?"
    ]
    _, resource = li.prompt_messages(every, "resource-prompt", {"resourceType": "Text", "resourceId": "2"})
    assert re.search(r"\[resource .*/text/2, text/plain\]\nResource 2: ", resource.content or "")
    with pytest.raises(PromptNotFoundError, match="'args-prompt'"):
        every.get_prompt("arg-prompt")
    with pytest.raises(RequestError, match="requires the arguments 'city'"):
        every.get_prompt("args-prompt")


def test_its_completions(every: Toolbox) -> None:
    assert every.complete("department", "S", prompt="completable-prompt") == Completion(
        values=("Sales", "Support"), total=2
    )
    chosen = {"department": "Sales"}
    assert every.complete("name", prompt="completable-prompt", context=chosen).values == (
        "David",
        "Eve",
        "Frank",
    )
    assert every.complete("resourceId", "5", template=TEXT.format("{resourceId}")).values == ("5",)


def test_its_updates(every: Toolbox) -> None:
    heard: Queue[ResourceUpdated] = Queue()
    every.subscribe(TEXT.format(1), heard.put)
    every.call("every_toggle-subscriber-updates")
    try:
        assert heard.get(timeout=60).uri == TEXT.format(1)
    finally:
        every.call("every_toggle-subscriber-updates")
        every.unsubscribe(TEXT.format(1))


def test_its_resources_as_tools_and_documents(every: Toolbox) -> None:
    listed = every.call("every_list_resources").structured["resources"]
    documents = lc.load_documents(every)

    assert [document.metadata["uri"] for document in documents] == [one["uri"] for one in listed]
    assert [document.text for document in li.load_documents(every)] == [one.page_content for one in documents]
    assert "Resource 3:" in every.call("every_read_dynamic_text_resource", {"resourceId": "3"}).text
    assert "Resource 3:" in every.call("every_read_dynamic_blob_resource", {"resourceId": "3"}).text


def test_its_instructions(every: Toolbox) -> None:
    assert "- get-roots-list is every_get-roots-list" not in every.instructions()
    assert "- toggle-subscriber-updates is every_toggle-subscriber-updates" in every.instructions()
