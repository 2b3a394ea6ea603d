"""What people see: tables on a terminal, plain lines in a pipe.

In: tables as plain rows, and lines. Out: text on standard output, and what only accompanies it on
standard error. No word of a server is taken for markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mcp_adapters.handlers import StateChange

from .texts import plain

__all__ = ("Screen", "Starting")

_WIDE = 100_000
"""Columns where nobody looks: a line in a pipe is never broken."""


class Screen:
    """Standard output and standard error of one command.

    Args:
        columns: Width of a terminal; None takes the real one.

    """

    def __init__(self, *, columns: int | None = None) -> None:
        self.out = _console(stderr=False, columns=columns)
        self.err = _console(stderr=True, columns=columns)

    def say(self, text: str = "", *, style: str = "") -> None:
        """Put one text on standard output."""
        self.out.print(Text(plain(text), style=style), soft_wrap=not self.out.is_terminal)

    def note(self, text: str, *, style: str = "") -> None:
        """Put one text on standard error."""
        self.err.print(Text(plain(text), style=style), soft_wrap=not self.err.is_terminal)

    def json(self, value: Any) -> None:
        """Put a value on standard output as JSON, the same in a terminal and in a pipe."""
        self.out.file.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def table(self, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Put rows on standard output: as a table on a terminal, with tabs between the cells in a pipe."""
        if not self.out.is_terminal:
            for row in (titles, *rows):
                self.out.file.write("\t".join(plain(cell).replace("\n", " ") for cell in row) + "\n")
            return
        # On a terminal every column counts: one without a word in it is left out.
        said = [n for n in range(len(titles)) if n == 0 or any(row[n] for row in rows)]
        titles, rows = [titles[n] for n in said], [[row[n] for n in said] for row in rows]
        shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for number, title in enumerate(titles):
            last = number == len(titles) - 1
            # A name that is broken cannot be copied.
            shown.add_column(Text(title), overflow="fold", no_wrap=number == 0, ratio=1 if last else None)
        for row in rows:
            shown.add_row(*(Text(plain(cell)) for cell in row))
        self.out.print(shown)


def _console(*, stderr: bool, columns: int | None) -> Console:
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=columns)
    if not console.is_terminal:
        console.width = _WIDE
    return console


class Starting:
    """Shows on a terminal which servers are still to come; nothing in a pipe."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._states: dict[str, str] = {}
        self._status: Any = None

    def state_changed(self, change: StateChange) -> None:
        """Take note of a server's state; a handler."""
        self._states[change.server] = change.new
        waiting = sorted(key for key, state in self._states.items() if state == "connecting")
        if self._status is not None and waiting:
            self._status.update(Text(plain(f"starting {', '.join(waiting)}")))

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show it while the block runs."""
        if not self._screen.err.is_terminal:
            yield
            return
        with self._screen.err.status(Text("starting the servers")) as self._status:
            yield
        self._status = None
