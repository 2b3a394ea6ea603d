"""Arguments that servers of protocol 2026-07-28 want repeated in HTTP headers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from queue import Queue
from typing import Annotated, Any

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field
from starlette.responses import JSONResponse, Response

from mcp_adapters import (
    Handlers,
    Toolbox,
    ToolboxLoadError,
    ToolExecutionError,
    ToolFilter,
    ToolsChange,
)
from mcp_adapters._mirrors import Mirrors

from .conftest import Wire, tool
from .web import Web

QUICK: dict[str, Any] = {"call_timeout": 20.0, "connect_timeout": 20.0}

HEADER = "x-mcp-header"
INVALID: dict[str, dict[str, Any]] = {
    "empty": {"type": "string", HEADER: ""},
    "no text": {"type": "string", HEADER: 5},
    "space": {"type": "string", HEADER: "My Region"},
    "line break": {"type": "string", HEADER: "Region\r\nX-Evil: 1"},
    "not ASCII": {"type": "string", HEADER: "Größe"},
    "on an object": {"type": "object", HEADER: "Data"},
    "on a number": {"type": "number", HEADER: "Score"},
    "in an array": {"type": "array", "items": {"type": "string", HEADER: "Item"}},
    "in a choice": {"anyOf": [{"type": "string", HEADER: "Item"}]},
    "endless": {"type": "string", HEADER: "x " * 10_000},
}
GOOD = tool("good", region={"type": "string", HEADER: "Region"})


@pytest.mark.parametrize("declared", INVALID.values(), ids=INVALID)
def test_a_tool_with_an_invalid_header_is_a_bad_tool(wire: Wire, declared: dict[str, Any]) -> None:
    servers = {"wire": wire.server(tools=[GOOD, tool("bad", value=declared)], era="modern")}
    with pytest.raises(ToolboxLoadError) as caught:
        Toolbox(servers).open()
    with Toolbox(servers, on_bad_tool="skip") as toolbox:
        offered, [skipped] = [found.name for found in toolbox.tools], toolbox.skipped

    [named] = caught.value.tools
    assert (named.server, named.name) == (skipped.server, skipped.name) == ("wire", "bad")
    assert HEADER in named.reason
    assert len(named.reason) < 500
    assert offered == ["wire_good"]


def test_the_same_header_twice_is_invalid_whatever_the_case(wire: Wire) -> None:
    twice = tool("bad", a={"type": "string", HEADER: "Region"}, b={"type": "string", HEADER: "region"})
    with Toolbox({"wire": wire.server(tools=[twice], era="modern")}, on_bad_tool="skip") as toolbox:
        assert [skipped.name for skipped in toolbox.skipped] == ["bad"]


def test_a_hidden_tool_with_an_invalid_header_harms_nobody(wire: Wire) -> None:
    servers = {"wire": wire.server(tools=[GOOD, tool("bad", value=INVALID["empty"])], era="modern")}
    with Toolbox(servers, tools=ToolFilter.deny("bad")) as toolbox:
        assert [found.name for found in toolbox.tools] == ["wire_good"]


def test_servers_of_the_handshake_years_know_no_such_headers(wire: Wire) -> None:
    with Toolbox({"wire": wire.server(tools=[tool("bad", value=INVALID["empty"])])}) as toolbox:
        assert [found.name for found in toolbox.tools] == ["wire_bad"]


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"region": None}, {}),
        ({"region": "eu"}, {"Mcp-Param-Region": "eu"}),
        ({"region": "eu", "other": 1}, {"Mcp-Param-Region": "eu"}),
        ({"region": "a\r\nb"}, {"Mcp-Param-Region": "=?base64?YQ0KYg==?="}),
        ({"region": "ü"}, {"Mcp-Param-Region": "=?base64?w7w=?="}),
        ({"region": {"not": "text"}}, {}),
    ],
)
def test_an_argument_is_repeated_only_where_there_is_one(
    arguments: dict[str, Any], headers: dict[str, str]
) -> None:
    mirrors = Mirrors.of([{"tools": [GOOD]}])

    assert mirrors.headers("good", arguments) == headers
    assert mirrors.headers("another", arguments) == {}


@pytest.mark.parametrize("page", [{}, {"tools": None}, {"tools": [None, 1, {}, {"name": 1}, {"name": "x"}]}])
def test_a_listing_that_is_none_mirrors_nothing(page: dict[str, Any]) -> None:
    assert Mirrors.of([page]) == Mirrors()


# -- over HTTP ------------------------------------------------------------------------------------


class Changing:
    """A real server whose tool wants its argument in another header from now on, and tells nobody."""

    def __init__(self, header: str | None) -> None:
        self.calls = 0
        self.server = MCPServer("web", log_level="CRITICAL")
        self.offer(header)

    def offer(self, header: str | None) -> None:
        """Offer the tool anew; None wants no header."""

        async def where(region, ctx):
            self.calls += 1
            return sent(ctx.headers or {})

        declared = Field(json_schema_extra={HEADER: header} if header else {})
        where.__annotations__ = {"region": Annotated[str, declared], "ctx": Context, "return": str}
        with suppress(ToolError):
            self.server.remove_tool("where")
        self.server.add_tool(where, description="Tells what it is sent.", structured_output=False)

    def web(self) -> Web:
        return Web(lambda _: self.server.streamable_http_app())


def sent(headers: Mapping[str, str]) -> str:
    return json.dumps({name: value for name, value in headers.items() if name.startswith("mcp-param-")})


def count(web: Web, method: str) -> int:
    return [seen.rpc for seen in web.posts()].count(method)


@pytest.mark.parametrize("before", [None, "Region"])
def test_a_call_without_the_headers_that_are_wanted_now_is_sent_again_with_them(before: str | None) -> None:
    changing = Changing(before)
    with changing.web() as web, Toolbox({"web": web.mcp}, **QUICK) as toolbox:
        changing.offer("Place")
        texts = [toolbox.call("web_where", {"region": place}).text for place in ("eu", "us")]

    assert [json.loads(text) for text in texts] == [{"mcp-param-place": "eu"}, {"mcp-param-place": "us"}]
    assert changing.calls == 2
    assert count(web, "tools/call") == 3, "the first one was refused before anything was done"


def test_a_listing_that_changed_on_the_way_is_offered_anew() -> None:
    changing, news = Changing(None), Queue[ToolsChange]()
    handlers = Handlers(tools_changed=news.put)
    with changing.web() as web, Toolbox({"web": web.mcp}, handlers=handlers, **QUICK) as toolbox:
        changing.offer("Place")
        assert news.get(timeout=20).added == ("web_where",)
        toolbox.call("web_where", {"region": "eu"})

        assert news.get(timeout=20).changed == ("web_where",)
        assert toolbox["web_where"].input_schema["properties"]["region"][HEADER] == "Place"


@pytest.mark.parametrize("listing", [None, Response(status_code=500)], ids=["the same", "refused"])
def test_a_call_that_no_listing_can_mend_is_refused_once(listing: Response | None) -> None:
    error = {"code": -32020, "message": "no header is right"}
    refusal = JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status_code=400)
    changing = Changing("Region")
    with changing.web() as web, Toolbox({"web": web.mcp}, **QUICK) as toolbox:
        web.front.script = lambda seen: {"tools/call": refusal, "tools/list": listing}.get(seen.rpc or "")
        before = count(web, "tools/list")
        with pytest.raises(ToolExecutionError, match="no header is right") as caught:
            toolbox.call("web_where", {"region": "eu"})
        web.front.script = lambda _: None
        assert toolbox.call("web_where", {"region": "eu"}).text == '{"mcp-param-region": "eu"}'

    assert caught.value.code == -32020
    assert (count(web, "tools/call"), count(web, "tools/list") - before) == (2, 1)


def test_the_number_means_nothing_to_servers_of_the_handshake_years(wire: Wire) -> None:
    answers = {"echo": {"error": {"code": -32020, "message": "mine"}}}
    with Toolbox({"wire": wire.server(answers=answers)}) as toolbox:
        with pytest.raises(ToolExecutionError, match="mine"):
            toolbox.call("wire_echo")

    assert (wire.count("tools/call"), wire.count("tools/list")) == (1, 1)


@pytest.mark.parametrize("kind", ["client", "session"])
async def test_a_client_of_the_programs_own_repeats_arguments_too(kind: str) -> None:
    changing = Changing("Region")
    with changing.web() as web:
        async with Client(streamable_http_client(web.mcp)) as client:
            guest = client if kind == "client" else client.session
            async with Toolbox({"web": guest}, **QUICK) as toolbox:
                first = await toolbox.acall("web_where", {"region": "eu"})
                changing.offer("Place")
                second = await toolbox.acall("web_where", {"region": "us"})

    assert (first.text, second.text) == ('{"mcp-param-region": "eu"}', '{"mcp-param-place": "us"}')


@pytest.mark.parametrize(("header", "listings"), [(None, 1), ("Region", 2)])
async def test_a_client_of_the_programs_own_lists_twice_only_where_headers_need_it(
    header: str | None, listings: int
) -> None:
    with Changing(header).web() as web:
        async with Client(streamable_http_client(web.mcp)) as client, Toolbox({"web": client}, **QUICK):
            pass

    assert count(web, "tools/list") == listings
