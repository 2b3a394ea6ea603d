"""How tools, results and servers look in a notebook and in a terminal."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mcp_adapters import ServerStatus, SkippedTool, SkippedTools, Statuses, Toolbox, ToolFilter
from mcp_adapters.markup import MAX_CHARS, MAX_ROWS, media, plain, table
from mcp_adapters.results import read_result
from mcp_adapters.views import tool_view

from .conftest import Wire, tool

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n-not-really").decode()
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload='alert(1)'>",
    "</td></table><h1>owned</h1>",
    "</pre></details><iframe src=//evil.invalid>",
    "{{7*7}} ${7*7} [red]x[/red] %s",
    "javascript:alert(1)",
    "&lt;b&gt; & <b>",
]


class Reader(HTMLParser):
    """Which elements and attributes are in a text, and what a person reads of it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.attributes: list[str] = []
        self.sources: list[str] = []
        self.read = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.sources += [str(value) for name, value in attrs if name == "src"]

    def handle_data(self, data: str) -> None:
        self.read += data


ELEMENTS = {
    "div",
    "b",
    "pre",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "details",
    "summary",
    "img",
    "audio",
}


def harmless(html: str) -> Reader:
    seen = Reader(html)
    assert set(seen.elements) <= ELEMENTS
    assert set(seen.attributes) <= {"style", "src", "controls"}
    assert all(source.startswith("data:") for source in seen.sources)
    return seen


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_server_chose_is_text_wherever_it_is_shown(wire: Wire, text: str) -> None:
    bad = {"name": f"bad{text}", "description": "x", "inputSchema": {"type": "string"}}
    offered = tool("echo", **{text: {"type": "string", "description": text}})
    server = wire.server(tools=[offered | {"description": text, "title": text}, bad])
    with Toolbox({"wire": server}, on_bad_tool="skip") as toolbox:
        [one] = toolbox.tools
        result = read_result(
            {"content": [{"type": "text", "text": text}], "structuredContent": {text: text}, "isError": True}
        )
        info = {"name": text, "version": text}
        status = ServerStatus(state="failed", server_info=info, instructions=text, stderr=text)
        shown = [one, result, toolbox, Statuses({text: status}), status, toolbox.skipped]
        read = [harmless(thing._repr_html_()).read for thing in shown]

    assert [text in what for what in read] == [True] * 6


@pytest.mark.parametrize(
    "character",
    ["\x00", "\x07", "\x1b", "\x7f", "\x9b", "\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041"],
)
def test_characters_that_hide_or_turn_text_are_shown_as_numbers(character: str) -> None:
    assert plain(f"a{character}b") == f"a\\u{{{ord(character):x}}}b"


@pytest.mark.parametrize("text", ["Grüße", "שלום", "日本語", "👩‍🚀", "a\tb\nc"])
def test_text_of_all_languages_stays(text: str) -> None:
    assert plain(text).replace("\\u{200d}", "\u200d") == text


@pytest.mark.parametrize("kind", ["image/png", "image/jpeg", "IMAGE/PNG", "image/gif", "image/webp"])
def test_a_result_with_an_image_shows_the_image(kind: str) -> None:
    result = read_result({"content": [{"type": "image", "data": PNG, "mimeType": kind}]})

    assert harmless(result._repr_html_()).sources == [f"data:{kind.lower()};base64,{PNG}"]


def test_a_result_with_a_sound_can_be_heard() -> None:
    result = read_result({"content": [{"type": "audio", "data": PNG, "mimeType": "audio/wav"}]})

    seen = harmless(result._repr_html_())
    assert (seen.elements[-1], seen.sources) == ("audio", [f"data:audio/wav;base64,{PNG}"])


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("image/svg+xml", PNG),
        ("text/html", PNG),
        ("image/png", 'x" onerror="alert(1)'),
        ('image/png" onerror="alert(1)', PNG),
        ("image/png", ""),
        ("image/png", "A" * 20_000_004),
        ("application/pdf", PNG),
    ],
)
def test_what_cannot_be_shown_safely_is_not_shown(kind: str, data: str) -> None:
    assert media(kind, data) == ""


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": "string", "description": "A."}, ["string", "A."]),
        ({"type": ["string", "null"]}, ["string or null"]),
        ({"anyOf": [{"type": "string", "description": "B."}, {"type": "null"}]}, ["string or null", "B."]),
        (
            {"oneOf": [{"anyOf": [{"type": "integer"}]}, {"type": "integer"}], "description": "C."},
            ["integer", "C."],
        ),
        ({"anyOf": "nothing"}, []),
        ({"type": {}}, []),
        ({}, []),
    ],
)
def test_an_arguments_type_and_description_are_shown(schema: dict[str, Any], shown: list[str]) -> None:
    view = tool_view(
        name="n", identity="s:n", description="d", hints={}, schema={"properties": {"arg": schema}}
    )

    cells = re.findall(r"<td[^>]*>(.*?)</td>", view)
    assert [cell for cell in cells if cell] == ["arg", *shown]


def test_nothing_shown_is_endless() -> None:
    long = "x" * (MAX_CHARS + 5)
    many = table(("n",), [(n,) for n in range(MAX_ROWS + 7)])

    assert plain(long).endswith("[5 more characters]")
    assert (many.count("<tr>"), "and 7 more" in many) == (MAX_ROWS + 1, True)


def test_a_result_in_a_terminal_is_short_and_prints_its_text() -> None:
    content: list[Any] = [
        {"type": "text", "text": "y" * 10_000},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
    ]
    result = read_result({"content": content, "isError": True})

    assert len(repr(result)) < 400
    assert "with an error" in repr(result)
    assert re.search(r"more characters \(text, image\)", repr(result))
    assert str(result) == result.text


def test_status_and_skipped_print_a_line_for_each(wire: Wire) -> None:
    servers = {"one": wire.server("one"), "two": wire.server("two", tools=[tool("echo"), tool("fail")])}
    with Toolbox(servers, tools={"two": ToolFilter.deny("fail")}) as toolbox:
        status, skipped = str(toolbox.status), str(toolbox.skipped)

    assert [line.split()[:2] for line in status.splitlines()] == [["one", "ready"], ["two", "ready"]]
    assert skipped.startswith("two:fail: ")
    assert str(SkippedTools()) == "nothing is left out"
    assert str(
        SkippedTools([SkippedTool(server="s", name="t", reason="No.", pointer="/x", remedy="Do.")])
    ) == ("s:t: No. (at /x) Do.")


def test_a_toolbox_shows_itself_open_and_closed(wire: Wire, tmp_path: Path) -> None:
    toolbox = Toolbox(
        {"wire": wire.server(tools=[tool("echo"), tool("fail")])}, tools=ToolFilter.allow("echo")
    )
    with toolbox:
        opened = harmless(toolbox._repr_html_()).read
    closed = harmless(toolbox._repr_html_()).read

    assert "wire_echo" in opened
    assert "1 left out, see skipped" in opened
    assert "closed" in closed
    assert "wire_echo" not in closed
