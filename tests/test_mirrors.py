"""Arguments that servers of protocol 2026-07-28 want repeated in HTTP headers."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_adapters import Toolbox, ToolboxLoadError, ToolFilter
from mcp_adapters._mirrors import Mirrors

from .conftest import Wire, tool

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
