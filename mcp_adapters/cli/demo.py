"""`mcp-adapters demo`: a real server, its tools and a few calls, offline.

In: nothing. Out: what a newcomer can expect: the tools as models see them, calls and their answers,
and which agent frameworks are there to be given them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp_adapters import FrameworkError, StdioServer, Toolbox
from mcp_adapters.frameworks import available

from .inspecting import report, show
from .opening import opened
from .screen import Screen

__all__ = ("run",)

_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("notes_add_note", {"text": "Buy milk", "tag": "shopping"}),
    ("notes_search_notes", {"query": "milk"}),
    ("notes_add_note", {"tag": 5}),
)


def run(screen: Screen) -> None:
    """Run it."""
    with tempfile.TemporaryDirectory() as folder:
        module = ["-m", "mcp_adapters.demo.notes_server", str(Path(folder) / "notes.db")]
        servers = {"notes": StdioServer(command=sys.executable, args=module)}
        with opened(servers, screen) as found:
            show(report(found.toolbox, found.warnings), screen)
            for name, arguments in _CALLS:
                screen.say()
                screen.say(f"{name} {arguments}", style="bold")
                screen.say(_answer(found.toolbox, name, arguments))
            screen.say()
            for framework in available():
                screen.say(f'toolbox.to("{framework}"): {_natives(found.toolbox, framework)}')


def _answer(toolbox: Toolbox, name: str, arguments: dict[str, Any]) -> str:
    from mcp_adapters import ToolError, error_text

    try:
        return toolbox.call(name, arguments).text
    except ToolError as error:
        return error_text(error)


def _natives(toolbox: Toolbox, framework: str) -> str:
    try:
        native = toolbox.to(framework)
    except FrameworkError as error:
        return str(error)
    return f"{len(native)} x {type(native[0]).__mro__[1].__name__}"
