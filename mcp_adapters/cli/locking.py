"""`mcp-adapters lock`: write down what the tools are, and say what has changed since the last time.

In: an open toolbox and the path of a lock file. Out: the file, and the drift of each tool that is not
what the old file says. With `check` nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mcp_adapters import Toolbox
from mcp_adapters.lockfile import Drift

from .screen import Screen
from .texts import line

__all__ = ("show", "write")


def write(toolbox: Toolbox, path: Path) -> bool:
    """Write the lock file, unless it says the same already.

    Returns:
        Whether the file changed.

    """
    text = toolbox.locked().text()
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8")
    return True


def show(drifts: Sequence[Drift], screen: Screen) -> None:
    """Show what is not as the lock file says; nothing when all is."""
    if drifts:
        rows = [
            [
                drift.server,
                line(drift.name, limit=60),
                ", ".join(kind.replace("_", " ") for kind in drift.kinds),
                line("; ".join(drift.changes)),
            ]
            for drift in drifts
        ]
        screen.table(["SERVER", "TOOL", "CHANGE", "WHERE"], rows)
