"""Tools are found by what they are for, and two tools can stand for all of them."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from llama_index.core.tools import ToolOutput

from mcp_adapters import (
    CallRequest,
    ConfigError,
    InvalidArgumentsError,
    NamePolicy,
    Toolbox,
    ToolNotFoundError,
    ToolSpec,
)
from mcp_adapters.searching import ToolIndex

from .conftest import Wire, tool

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"


def spec(name: str, description: str = "", server: str = "s", **properties: Any) -> ToolSpec:
    schema = json.dumps({"type": "object", "properties": properties})
    return ToolSpec(
        exposed_name=f"{server}_{name}",
        server=server,
        remote_name=name,
        description=description,
        input_json=schema,
        model_json=schema,
    )


TOOLS = (
    spec("read_file", "Read the whole text of a file.", server="fs", path={"type": "string"}),
    spec("writeFile", "Put text into a file.", server="fs"),
    spec("list_pull_requests", "List the pull requests of a repository.", server="github"),
    spec("create_issue", "Open an issue.", server="github", labels={"description": "Colours for triage"}),
    spec("HTTPGet", "Fetch a page.", server="net"),
    spec("größe", "Tells how big it is.", server="de"),
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("read file", "read_file"),
        ("reading files", "read_file"),
        ("WRITE", "writeFile"),
        ("pull-request listing", "list_pull_requests"),
        ("github issue", "create_issue"),
        ("triage", "create_issue"),
        ("labels", "create_issue"),
        ("http", "HTTPGet"),
        ("GRÖSSE größe", "größe"),
    ],
)
def test_words_find_the_tool_whatever_their_form_and_place(query: str, first: str) -> None:
    assert ToolIndex(TOOLS).search(query, limit=3)[0].remote_name == first


@pytest.mark.parametrize("query", ["", "   ", "zebra", "!?", "\x00", "的"])
def test_a_question_that_shares_no_word_finds_nothing(query: str) -> None:
    assert ToolIndex(TOOLS).search(query, limit=3) == ()


@pytest.mark.parametrize("specs", [(), (spec("_"),), (spec("的"),)], ids=["none", "no word", "one"])
def test_any_number_of_tools_can_be_searched(specs: tuple[ToolSpec, ...]) -> None:
    assert ToolIndex(specs).search("read file", limit=3) == ()


def test_equally_good_tools_come_in_the_order_of_the_toolbox() -> None:
    same = [spec("read", "Read.", server=f"s{number}") for number in range(8)]

    assert ToolIndex(same).search("read", limit=5) == tuple(same[:5])


@given(st.text(), st.integers(1, 10))
def test_any_text_is_a_question(query: str, limit: int) -> None:
    found = ToolIndex(TOOLS).search(query, limit=limit)

    assert len(found) <= limit
    assert len(set(found)) == len(found)


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="limit is 0"):
        ToolIndex(TOOLS).search("read", limit=0)


def test_the_search_follows_what_the_toolbox_offers(wire: Wire) -> None:
    server = wire.server(tools=[tool("read_file"), tool("echo")])
    with Toolbox({"wire": server}) as toolbox:
        assert [found.name for found in toolbox.search("read a file")] == ["wire_read_file"]
        wire.rewrite(tools=[tool("write_file"), tool("echo")])
        toolbox.refresh()

        assert toolbox.search("read") == ()
        assert toolbox.search("write")[0] is toolbox["wire_write_file"]


def test_found_tools_become_native_tools_alone(wire: Wire) -> None:
    server = wire.server(tools=[tool("read_file"), tool("write_file"), tool("echo")])
    with Toolbox({"wire": server}) as toolbox:
        found = toolbox.search("write a file", limit=1)

        assert [native.name for native in toolbox.to("langchain", tools=found)] == ["wire_write_file"]
        assert [d["name"] for d in toolbox.to("anthropic", tools=found)] == ["wire_write_file"]


def _scripted_agent(toolbox: Toolbox) -> Any:
    calls = [
        {
            "name": "find_tools",
            "args": {"query": "take a picture", "limit": 1},
            "id": "1",
            "type": "tool_call",
        },
        {"name": "call_tool", "args": {"name": "wire_picture"}, "id": "2", "type": "tool_call"},
        {
            "name": "call_tool",
            "args": {"name": "wire_pictur", "arguments": {}},
            "id": "3",
            "type": "tool_call",
        },
    ]

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            assert [offered.name for offered in tools] == ["find_tools", "call_tool"]
            return self

    answers = [*(AIMessage("", tool_calls=[call]) for call in calls), AIMessage("done")]
    return create_agent(Model(messages=iter(answers)), toolbox.to("langchain", tools=toolbox.meta_tools()))


async def test_an_agent_finds_and_calls_tools_through_two_definitions(wire: Wire) -> None:
    tools = [tool("picture"), *(tool(f"other_{number}") for number in range(300))]
    async with Toolbox({"wire": wire.server(tools=tools)}) as toolbox:
        state = await _scripted_agent(toolbox).ainvoke({"messages": [("user", "a picture, please")]})
        first, second, third = [m for m in state["messages"] if isinstance(m, ToolMessage)]

        picture = toolbox["wire_picture"]
        assert json.loads(first.content) == [
            {"name": picture.name, "description": picture.description, "parameters": picture.model_schema}
        ]
        assert [block["type"] for block in second.content] == ["text", "image"]
        assert third.status == "error"
        assert "'wire_picture'" in third.content
    methods = [event.get("method") for event in wire.events()]
    assert methods.count("tools/call") == 1


async def test_llamaindex_gets_the_same_two(wire: Wire) -> None:
    async with Toolbox({"wire": wire.server()}) as toolbox:
        find, call = toolbox.to("llamaindex", tools=toolbox.meta_tools())
        found: ToolOutput = await find.acall(query="what does echo do")
        answer: ToolOutput = await call.acall(name="wire_echo", arguments={"text": "hello"})

    assert json.loads(found.content)[0]["name"] == "wire_echo"
    assert json.loads(answer.content) == {"text": "hello"}


def test_interceptors_see_the_tool_that_is_called(wire: Wire) -> None:
    seen: list[str] = []

    def note(request: CallRequest, call: Any) -> Any:
        seen.append(request.exposed_name)
        return call(request)

    with Toolbox({"wire": wire.server()}, interceptors=[note]) as toolbox:
        find, call = toolbox.meta_tools()
        find.call({"query": "echo"})
        call.call({"name": "wire_echo", "arguments": {}})

    assert seen == ["wire_echo"]


@pytest.mark.parametrize(
    ("which", "arguments", "error"),
    [
        (0, {}, InvalidArgumentsError),
        (0, {"query": "x", "limit": 0}, InvalidArgumentsError),
        (0, {"query": "x", "more": 1}, InvalidArgumentsError),
        (1, {"arguments": {}}, InvalidArgumentsError),
        (1, {"name": "nothing_like_it"}, ToolNotFoundError),
        (1, {"name": "find_tools"}, ToolNotFoundError),
        (1, {"name": "wire_echo", "arguments": {"number": "no"}}, InvalidArgumentsError),
    ],
)
async def test_wrong_arguments_are_refused_before_anything_is_sent(
    wire: Wire, which: int, arguments: dict[str, Any], error: type[Exception]
) -> None:
    server = wire.server(tools=[tool("echo", number={"type": "integer"})])
    async with Toolbox({"wire": server}) as toolbox:
        chosen = toolbox.meta_tools()[which]
        with pytest.raises(error):
            await chosen.acall(arguments)
        with pytest.raises(error):
            chosen.call(arguments)

    assert "tools/call" not in [event.get("method") for event in wire.events()]


def test_nothing_found_is_said_in_words(wire: Wire) -> None:
    with Toolbox({"wire": wire.server()}) as toolbox:
        result = toolbox.meta_tools()[0].call({"query": "zebra"})

    assert (result.text, result.structured) == ("No tool has these words; try others.", {"tools": []})


def test_the_two_yield_to_tools_of_the_same_names(wire: Wire) -> None:
    server = wire.server(tools=[tool("find_tools"), tool("call_tool")])
    with Toolbox({"wire": server}, names=NamePolicy(prefix="never")) as toolbox:
        names = [meta.name for meta in toolbox.meta_tools()]

        assert {*names}.isdisjoint({"find_tools", "call_tool"})
        assert [name.rsplit("_", 1)[0] for name in names] == ["find_tools", "call_tool"]


def test_the_two_travel_to_another_process(wire: Wire) -> None:
    with Toolbox({"wire": wire.server()}) as toolbox:
        [find, _] = toolbox.to("langchain", tools=toolbox.meta_tools())
        program = "import pickle, sys; print(pickle.load(sys.stdin.buffer).invoke({'query': 'echo'}))"
        ended = subprocess.run(
            [sys.executable, "-c", program],
            input=pickle.dumps(find),
            capture_output=True,
            check=True,
            timeout=120,
        )

    assert json.loads(ended.stdout)[0]["name"] == "wire_echo"


def test_a_missing_extra_names_the_line_for_pip(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with Toolbox({"wire": wire.server()}) as toolbox, pytest.raises(ConfigError) as caught:
        toolbox.search("echo")

    assert str(caught.value) == (
        "searching needs the module 'bm25s', which is not installed; "
        'run: pip install "mcp-adapters[search]"'
    )


def _real_specs() -> list[ToolSpec]:
    specs = []
    for path in sorted(CORPUS.rglob("*.json")):
        listed = json.loads(path.read_text())
        entries = listed.get("tools", []) if isinstance(listed, dict) else []
        specs += [spec(entry["name"], str(entry.get("description") or ""), path.stem) for entry in entries]
    return specs


@pytest.mark.skipif(not CORPUS.exists(), reason="the listings of real servers are not here")
def test_every_real_tool_is_among_the_first_for_its_own_description() -> None:
    specs = [real for real in _real_specs() if len(real.description.split()) > 3]
    index = ToolIndex(specs)
    said = {}
    for real in specs:
        said.setdefault(real.description, []).append(real)
    missed = [
        real.id
        for real in specs
        if real not in index.search(real.description, limit=10) and len(said[real.description]) == 1
    ]

    assert len(specs) > 1_000
    assert len(missed) <= len(specs) // 100, missed
