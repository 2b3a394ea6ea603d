"""`mcp-adapters call`: one call of one tool.

In: a tool, arguments as words or as JSON. Out: what the tool answered, with media as files when a
folder is named.
"""

from __future__ import annotations

import base64
import json
import mimetypes
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcp_adapters import AudioPart, BlobResourcePart, ConfigError, ImagePart, Toolbox, ToolResult

from .screen import Screen

__all__ = ("find", "read_arguments", "save", "show")


def find(name: str, toolbox: Toolbox) -> str:
    """The name that models see of a tool that is named in either way; `name` itself where that says nothing.

    Args:
        name: What models see, or the server's own name where only one server has such a tool.
        toolbox: An open toolbox.

    """
    own = [tool.name for tool in toolbox if tool.remote_name == name]
    return own[0] if name not in toolbox and len(own) == 1 else name


def read_arguments(pairs: Sequence[str], text: str | None) -> dict[str, Any]:
    """The arguments of a call.

    Args:
        pairs: Texts of the form `name=value`; a name that comes again makes a list. Values that are no
            text by the tool's schema are read as JSON later.
        text: A JSON object, or "-" for one on standard input; None for neither.

    Raises:
        ConfigError: Something is of another form.

    """
    arguments = {} if text is None else _object(sys.stdin.read() if text == "-" else text)
    given: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ConfigError(f"--arg {pair!r} is not of the form name=value")
        given.setdefault(name, []).append(value)
    return {**arguments, **{name: v[0] if len(v) == 1 else v for name, v in given.items()}}


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"the arguments are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"the arguments are a JSON {type(value).__name__}; give an object")
    return value


def show(result: ToolResult, screen: Screen, *, raw: bool) -> None:
    """Show what the tool answered: its text on standard output, or all of it as JSON."""
    if raw:
        screen.json(dict(result.raw))
        return
    screen.say(result.text, style="red" if result.is_error else "")


def save(result: ToolResult, folder: Path) -> list[Path]:
    """Write images, sounds and other bytes of a result into a folder; gives the files, in order."""
    written = []
    for number, part in enumerate(result.parts):
        if not isinstance(part, ImagePart | AudioPart | BlobResourcePart):
            continue
        data = part.blob if isinstance(part, BlobResourcePart) else part.data
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{number}{mimetypes.guess_extension(part.mime_type or '') or '.bin'}"
        path.write_bytes(base64.b64decode(data))
        written.append(path)
    return written
