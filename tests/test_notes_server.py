"""The notes server, through the SDK's own client: what it keeps, finds, changes and refuses."""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client

from mcp_adapters.demo.notes_server import Notebook, make_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    with closing(Notebook(":memory:", now=lambda: NEW_YEAR)) as opened:
        yield opened


def _ask(notebook: Notebook, question: Callable[[Client], Any]) -> Any:
    async def ask() -> Any:
        async with Client(make_server(notebook)) as client:
            return await question(client)

    return anyio.run(ask)


def _call(notebook: Notebook, tool: str, **arguments: Any) -> Any:
    return _ask(notebook, lambda client: client.call_tool(tool, arguments))


def _note(number: int, text: str, tag: str | None = None) -> dict[str, Any]:
    return {"id": number, "text": text, "tag": tag, "created_at": "2026-01-01T00:00:00Z"}


def test_each_tool_says_whether_it_only_reads_and_whether_it_destroys(notebook: Notebook) -> None:
    listed = _ask(notebook, lambda client: client.list_tools())

    hints = {
        tool.name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
        for tool in listed.tools
    }
    assert hints == {
        "add_note": (False, False),
        "chart": (True, None),
        "delete_note": (False, True),
        "get_note": (True, None),
        "list_notes": (True, None),
        "search_notes": (True, None),
        "stats": (True, None),
        "update_note": (False, True),
    }


def test_every_argument_is_described(notebook: Notebook) -> None:
    listed = _ask(notebook, lambda client: client.list_tools())

    undescribed = [
        (tool.name, argument)
        for tool in listed.tools
        for argument, schema in tool.input_schema["properties"].items()
        if not any(branch.get("description") for branch in (schema, *schema.get("anyOf", ())))
    ]
    assert undescribed == []


def test_a_note_that_was_added_can_be_read_by_its_id(notebook: Notebook) -> None:
    added = _call(notebook, "add_note", text="Buy milk", tag="shopping")
    read = _call(notebook, "get_note", note_id=1)

    assert added.structured_content == read.structured_content == _note(1, "Buy milk", "shopping")


@pytest.mark.parametrize(
    ("tool", "arguments", "found"),
    [
        ("list_notes", {}, [3, 2, 1]),
        ("list_notes", {"tag": "people"}, [3, 2]),
        ("list_notes", {"tag": "nothing"}, []),
        ("search_notes", {"query": "ÄRGER"}, [3]),
        ("search_notes", {"query": "%"}, [1]),
        ("search_notes", {"query": "a", "tag": "people"}, [3, 2]),
        ("search_notes", {"query": "x' OR '1'='1"}, []),
    ],
)
def test_notes_are_found_newest_first(
    notebook: Notebook, tool: str, arguments: dict[str, Any], found: list[int]
) -> None:
    """Text is searched as it stands, in any case, also outside ASCII."""
    notebook.add_note("50% off at the bakery")
    notebook.add_note("Call Ada", "people")
    notebook.add_note("Ärger avoided", "people")

    content = _call(notebook, tool, **arguments).structured_content

    assert [note["id"] for note in content["notes"]] == found
    assert content["total"] == len(found)


def test_a_limit_shortens_the_list_but_not_the_total(notebook: Notebook) -> None:
    for text in ("one", "two", "three"):
        notebook.add_note(text)

    content = _call(notebook, "list_notes", limit=2).structured_content

    assert content == {"notes": [_note(3, "three"), _note(2, "two")], "total": 3}


def test_an_update_changes_only_what_it_names(notebook: Notebook) -> None:
    notebook.add_note("Buy milk", "shopping")

    retagged = _call(notebook, "update_note", note_id=1, tag="done").structured_content
    rewritten = _call(notebook, "update_note", note_id=1, text="Bought milk").structured_content

    assert (retagged, rewritten) == (_note(1, "Buy milk", "done"), _note(1, "Bought milk", "done"))


def test_the_id_of_a_deleted_note_is_not_given_again(notebook: Notebook) -> None:
    notebook.add_note("gone soon")

    gone = _call(notebook, "delete_note", note_id=1).structured_content
    added = _call(notebook, "add_note", text="new").structured_content

    assert (gone, added) == (_note(1, "gone soon"), _note(2, "new"))


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("get_note", {"note_id": 99}, "no note has the id 99; list_notes shows the ids that exist"),
        ("delete_note", {"note_id": 99}, "no note has the id 99; list_notes shows the ids that exist"),
        (
            "update_note",
            {"note_id": 99, "tag": "x"},
            "no note has the id 99; list_notes shows the ids that exist",
        ),
        ("update_note", {"note_id": 1}, "nothing to change: give 'text', 'tag' or both"),
        ("chart", {}, "no note has a tag yet, so there is nothing to draw"),
    ],
)
def test_what_cannot_be_done_is_an_error_of_the_tool_that_says_why(
    notebook: Notebook, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    answer = _call(notebook, tool, **arguments)

    assert answer.is_error
    assert [block.text for block in answer.content] == [f"Error executing tool {tool}: {reason}"]


def test_statistics_count_notes_with_and_without_a_tag(notebook: Notebook) -> None:
    for tag in (None, "b", "a", "a"):
        notebook.add_note("text", tag)

    content = _call(notebook, "stats").structured_content

    assert content == {"notes": 4, "untagged": 1, "by_tag": {"a": 2, "b": 1}}


def test_the_chart_is_a_png_with_a_bar_for_each_tag(notebook: Notebook) -> None:
    for tag in ("b", "a", "a"):
        notebook.add_note("text", tag)

    legend, image = _call(notebook, "chart").content

    assert legend.text == "Bars from top to bottom: a: 2, b: 1"
    assert image.mime_type == "image/png"
    assert [line.count(b"\x40") for line in _lines(b64decode(image.data))] == (
        [160] * 12 + [0] * 4 + [80] * 12 + [0] * 4
    )


def _lines(png: bytes) -> list[bytes]:
    """The rows of an unfiltered greyscale PNG of the three chunks IHDR, IDAT, IEND."""
    width, height = struct.unpack_from(">II", png, 16)
    (size,) = struct.unpack_from(">I", png, 33)
    pixels = zlib.decompress(png[41 : 41 + size])
    return [pixels[row * (width + 1) + 1 : (row + 1) * (width + 1)] for row in range(height)]


def test_notes_outlive_the_server(tmp_path: Path) -> None:
    path = str(tmp_path / "notes.db")
    for text in ("one", "two"):
        with closing(Notebook(path, now=lambda: NEW_YEAR)) as notebook:
            notebook.add_note(text)

    with closing(Notebook(path)) as notebook:
        content = _call(notebook, "list_notes").structured_content

    assert content == {"notes": [_note(2, "two"), _note(1, "one")], "total": 2}


def test_calls_side_by_side_lose_no_note(notebook: Notebook) -> None:
    """The server runs tools in threads, all on one connection."""

    async def add_many(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(client.call_tool, "add_note", {"text": f"note {number}"})

    _ask(notebook, add_many)

    assert notebook.stats().notes == 20
