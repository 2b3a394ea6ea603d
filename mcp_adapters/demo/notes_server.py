"""A notebook behind MCP: notes with tags, kept in one SQLite file.

In: the path of the file, on the command line, and calls over stdio (or over HTTP on loopback with
`--http`). Out: notes as structured content and as text; a note that does not exist is a tool error
that says so. It never writes outside that file, and standard output carries nothing but the
protocol.

    python -m mcp_adapters.demo.notes_server notes.db
    python -m mcp_adapters.demo.notes_server notes.db --http 8000
"""

from __future__ import annotations

import argparse
import inspect
import sqlite3
import struct
import sys
import threading
import zlib
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ("Notebook", "make_server")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL,
    tag TEXT,
    created_at TEXT NOT NULL
)
"""

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_OVERWRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)

NoteId: TypeAlias = Annotated[
    int, Field(description="The note's id, as add_note and list_notes give it.", ge=1, lt=2**53)
]
NoteText: TypeAlias = Annotated[
    str, Field(description="What the note says.", min_length=1, max_length=10_000)
]
Query: TypeAlias = Annotated[
    str, Field(description="Text that the note contains; case is ignored.", min_length=1)
]
Tag: TypeAlias = Annotated[str, Field(description="One word to group notes by.", min_length=1, max_length=40)]
Limit: TypeAlias = Annotated[int, Field(description="How many notes to return at most.", ge=1, le=100)]


class Note(BaseModel):
    """One note."""

    id: int
    text: str
    tag: str | None = None
    created_at: datetime


class Notes(BaseModel):
    """Some notes, newest first."""

    notes: list[Note]
    total: int = Field(description="How many notes match, also beyond the limit.")


class Statistics(BaseModel):
    """What the notebook holds."""

    notes: int
    untagged: int
    by_tag: dict[str, int] = Field(description="Number of notes for each tag, most used first.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Condition:
    """Which notes a query means: SQL and the values of its placeholders."""

    sql: str
    values: tuple[str, ...]


class Notebook:
    """Notes in a SQLite database; each public method but `close` is one tool of the server.

    All methods share one connection and may be called from any thread: each is one transaction,
    one after the other.

    Args:
        path: The database's file, made when it is absent; ":memory:" keeps nothing.
        now: The clock that dates new notes.

    Raises:
        sqlite3.Error: The file cannot be opened or is no SQLite database.

    """

    def __init__(self, path: str, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._connection.row_factory = sqlite3.Row
        # SQLite's own lower() knows ASCII only.
        self._connection.create_function("casefold", 1, str.casefold, deterministic=True)
        with self._transaction() as database:
            database.execute(_SCHEMA)

    def close(self) -> None:
        """Let go of the file; closing twice is harmless."""
        with self._lock:
            self._connection.close()

    def add_note(self, text: NoteText, tag: Tag | None = None) -> Note:
        """Write a new note, with a tag if one is given, and return it with its id."""
        with self._transaction() as database:
            cursor = database.execute(
                "INSERT INTO notes (text, tag, created_at) VALUES (?, ?, ?)",
                (text, tag, self._now().isoformat()),
            )
            return _existing(database, cursor.lastrowid)

    def get_note(self, note_id: NoteId) -> Note:
        """Read one note."""
        with self._transaction() as database:
            return _existing(database, note_id)

    def list_notes(self, tag: Tag | None = None, limit: Limit = 20) -> Notes:
        """List notes, newest first: all of them, or those with one tag."""
        with self._transaction() as database:
            return _select(database, _tagged(tag), limit=limit)

    def search_notes(self, query: Query, tag: Tag | None = None, limit: Limit = 20) -> Notes:
        """Find the notes that contain a text, newest first, in all notes or in those with one tag."""
        contains = _Condition(sql="instr(casefold(text), casefold(?)) > 0", values=(query,))
        with self._transaction() as database:
            return _select(database, contains, _tagged(tag), limit=limit)

    def update_note(self, note_id: NoteId, text: NoteText | None = None, tag: Tag | None = None) -> Note:
        """Replace a note's text, its tag, or both; what is left out stays as it is."""
        if text is None and tag is None:
            raise ToolError("nothing to change: give 'text', 'tag' or both")
        with self._transaction() as database:
            before = _existing(database, note_id)
            database.execute(
                "UPDATE notes SET text = ?, tag = ? WHERE id = ?",
                (text or before.text, tag or before.tag, note_id),
            )
            return _existing(database, note_id)

    def delete_note(self, note_id: NoteId) -> Note:
        """Remove a note for good and return what it said."""
        with self._transaction() as database:
            gone = _existing(database, note_id)
            database.execute("DELETE FROM notes WHERE id = ?", (note_id,))
            return gone

    def stats(self) -> Statistics:
        """Count the notes, in all and for each tag."""
        with self._transaction() as database:
            rows = database.execute(
                "SELECT tag, count(*) AS notes FROM notes GROUP BY tag ORDER BY notes DESC, tag"
            ).fetchall()
        counts: dict[str | None, int] = {row["tag"]: row["notes"] for row in rows}
        return Statistics(
            notes=sum(counts.values()),
            untagged=counts.get(None, 0),
            by_tag={tag: count for tag, count in counts.items() if tag is not None},
        )

    def chart(self) -> list[str | Image]:
        """Draw the number of notes for each tag as a bar chart (PNG), with the figures as text."""
        by_tag = self.stats().by_tag
        if not by_tag:
            raise ToolError("no note has a tag yet, so there is nothing to draw")
        legend = ", ".join(f"{tag}: {count}" for tag, count in by_tag.items())
        return [f"Bars from top to bottom: {legend}", Image(data=_bars(list(by_tag.values())), format="png")]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._connection:
            yield self._connection


def _tagged(tag: str | None) -> _Condition:
    return _Condition(sql="1", values=()) if tag is None else _Condition(sql="tag = ?", values=(tag,))


def _existing(database: sqlite3.Connection, note_id: int | None) -> Note:
    row = database.execute("SELECT * FROM notes WHERE id = ?", (note_id,)).fetchone()
    if row is None:
        raise ToolError(f"no note has the id {note_id}; list_notes shows the ids that exist")
    return Note.model_validate(dict(row))


def _select(database: sqlite3.Connection, *conditions: _Condition, limit: int) -> Notes:
    # Only the constants above reach the SQL text; what callers say goes through placeholders.
    where = "FROM notes WHERE " + " AND ".join(condition.sql for condition in conditions)
    values = [value for condition in conditions for value in condition.values]
    total = database.execute(f"SELECT count(*) {where}", values).fetchone()[0]
    rows = database.execute(f"SELECT * {where} ORDER BY id DESC LIMIT ?", [*values, limit])
    return Notes(notes=[Note.model_validate(dict(row)) for row in rows], total=total)


def _bars(values: Sequence[int], *, width: int = 160, thickness: int = 12, gap: int = 4) -> bytes:
    """Draw horizontal bars, the longest as wide as the picture, as an 8-bit greyscale PNG."""
    lines: list[bytes] = []
    for value in values:
        filled = max(1, value * width // max(values))
        lines += [b"\x40" * filled + b"\xff" * (width - filled)] * thickness + [b"\xff" * width] * gap
    return _png(lines, width=width)


def _png(lines: Sequence[bytes], *, width: int) -> bytes:
    """Encode rows of grey pixels, one byte each.

    Source: PNG (third edition), 5 "Datastream structure" and 11.2 "Critical chunks".
    """
    header = struct.pack(">IIBBBBB", width, len(lines), 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\x00" + line for line in lines))
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def make_server(notebook: Notebook) -> MCPServer[Any]:
    """Offer a notebook's methods as tools; the caller keeps the notebook and closes it."""
    server: MCPServer[Any] = MCPServer(
        "notes",
        title="Notes",
        instructions="A notebook. Notes have an id, a text and perhaps one tag.",
        log_level="WARNING",
    )
    for method, hints in _tools(notebook).items():
        server.add_tool(method, description=inspect.getdoc(method), annotations=hints)
    return server


def _tools(notebook: Notebook) -> Mapping[Callable[..., Any], ToolAnnotations]:
    return {
        notebook.add_note: _ADDS,
        notebook.get_note: _READS,
        notebook.list_notes: _READS,
        notebook.search_notes: _READS,
        notebook.update_note: _OVERWRITES,
        notebook.delete_note: _OVERWRITES,
        notebook.stats: _READS,
        notebook.chart: _READS,
    }


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="notes_server", description="A notebook as an MCP server.")
    parser.add_argument("path", help="the SQLite file with the notes; made when it is absent")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve http://127.0.0.1:PORT/mcp, not stdio")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> None:
    """Serve until the client hangs up (stdio) or the process is told to stop (HTTP)."""
    options = _arguments(argv)
    with closing(Notebook(options.path)) as notebook:
        server = make_server(notebook)
        if options.http is None:
            server.run("stdio")
        else:
            server.run("streamable-http", host="127.0.0.1", port=options.http)


if __name__ == "__main__":
    main(sys.argv[1:])
