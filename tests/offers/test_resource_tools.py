"""Resources as read-only tools: named, filtered, checked and called like all others."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from mcp_adapters import (
    BlobResourcePart,
    InvalidArgumentsError,
    TextResourcePart,
    Toolbox,
    ToolExecutionError,
    ToolFilter,
)

from ..conftest import Wire, tool
from .conftest import Protocol, library_server
from .test_wire import offering, ok, refused

NAMES = ["lib_touch", "lib_die", "lib_read_resource"]
ADDED = ["lib_list_resources", "lib_read_resource_2", "lib_read_book", "lib_read_search"]


def test_they_appear_only_on_request_and_behind_the_servers_own(protocol: Protocol) -> None:
    with Toolbox({"lib": library_server(protocol)}) as toolbox:
        assert [one.name for one in toolbox] == NAMES
    with Toolbox({"lib": library_server(protocol)}, resources_as_tools=True) as toolbox:
        assert [one.name for one in toolbox] == [*NAMES, *ADDED]
        assert {toolbox[name].annotations.read_only for name in ADDED} == {True}
        assert toolbox["lib_read_resource"].call().text == "the server's own"


def test_they_read(protocol: Protocol) -> None:
    with Toolbox({"lib": library_server(protocol)}, resources_as_tools=True) as toolbox:
        listed = toolbox.call("lib_list_resources")
        book = toolbox.call("lib_read_book", {"title": "War & Peace"})
        search = toolbox.call("lib_read_search", {"q": "é b"})
        json_text = toolbox.call("lib_read_resource_2", {"uri": "lib://index.json"})
        dot = toolbox.call("lib_read_resource_2", {"uri": "lib://dot.png"})
        missing = toolbox.call("lib_read_resource_2", {"uri": "lib://nothing"})
        with pytest.raises(InvalidArgumentsError):
            toolbox.call("lib_read_book", {})

    assert [one["uri"] for one in listed.structured["resources"]] == [
        "lib://readme",
        "lib://dot.png",
        "lib://index.json",
    ]
    assert book.parts == (
        TextResourcePart(
            uri="lib://books/War%20%26%20Peace", text="The text of War & Peace.", mime_type="text/plain"
        ),
    )
    assert "10 books with 'é b'" in search.text
    assert '["Emma"]' in json_text.text
    assert isinstance(dot.parts[0], BlobResourcePart)
    assert (missing.is_error, "lib://nothing" in missing.text) == (True, True)


def test_a_tool_that_fails_raises_where_that_was_asked_for(protocol: Protocol) -> None:
    with Toolbox(
        {"lib": library_server(protocol)}, resources_as_tools=True, on_tool_error="raise"
    ) as toolbox:
        with pytest.raises(ToolExecutionError, match="lib://nothing"):
            toolbox.call("lib_read_resource_2", {"uri": "lib://nothing"})


def test_filters_and_requirements_see_them(protocol: Protocol) -> None:
    options: dict[str, Any] = {"tools": ToolFilter.allow("read_b*"), "require": ["lib:read_book"]}
    with Toolbox({"lib": library_server(protocol)}, resources_as_tools=True, **options) as toolbox:
        assert [one.name for one in toolbox] == ["lib_read_book"]


async def test_an_agents_tool_reads_too(protocol: Protocol) -> None:
    with Toolbox({"lib": library_server(protocol)}, resources_as_tools=True) as toolbox:
        [book] = [one for one in toolbox.to("langchain") if one.name == "lib_read_book"]
        assert "The text of Emma." in await book.ainvoke({"title": "Emma"})


def test_a_toolbox_from_stored_listings_reads_with_them(protocol: Protocol) -> None:
    servers = {"lib": library_server(protocol)}
    with Toolbox(servers, resources_as_tools=True) as toolbox:
        listings = toolbox.listings()
    with Toolbox(servers, resources_as_tools=True, listings=listings) as later:
        assert later.status["lib"].state == "new"
        assert "The text of Emma." in later.call("lib_read_book", {"title": "Emma"}).text


def test_templates_that_cannot_be_filled_in_or_listed_are_reported(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    templates = [{"uriTemplate": "a://{x"}, {"uriTemplate": "a://{+path}", "name": "?!"}]
    servers = {
        "odd": offering(wire, "odd", replies={"resources/templates/list": [ok(resourceTemplates=templates)]}),
        "off": offering(wire, "off", replies={"resources/templates/list": [refused(-32603)]}),
        "none": wire.server("none", tools=[tool("echo")]),
    }
    with caplog.at_level(logging.WARNING), Toolbox(servers, resources_as_tools=True) as toolbox:
        names = [one.name for one in toolbox]

    assert names == [
        "odd_echo",
        "odd_list_resources",
        "odd_read_resource",
        "odd_read_template",
        "off_echo",
        "off_list_resources",
        "off_read_resource",
        "none_echo",
    ]
    assert "there is no tool for the template 'a://{x' of server 'odd'" in caplog.text
    assert "there are no tools for the templates of server 'off'" in caplog.text


def test_the_headers_of_one_call_reach_the_server() -> None:
    from mcp_adapters import CallNext, CallRequest, HttpServer, ToolResult

    from ..web import Web
    from . import library

    def stamped(request: CallRequest, call_next: CallNext) -> ToolResult:
        request.headers["x-stamp"] = "7"
        return call_next(request)

    with Web(lambda _: library.make().streamable_http_app()) as web:
        servers = {"lib": HttpServer(url=web.mcp)}
        with Toolbox(servers, resources_as_tools=True, interceptors=[stamped]) as toolbox:
            toolbox.call("lib_read_book", {"title": "Emma"})
            toolbox.call("lib_list_resources")
        stamps = [
            seen.headers.get("x-stamp")
            for seen in web.posts()
            if seen.headers.get("mcp-method", "").startswith("resources/")
        ]

    assert stamps == [None, "7", "7"]
