"""`mcp-adapters resources` and `mcp-adapters prompts`: what servers offer besides tools.

In: an open toolbox, and perhaps an address or a name. Out: listings as rows or as JSON; what was read as its
text, with bytes as files when a folder is named; a prompt as its messages.
"""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any

from mcp_adapters import Prompt, PromptResult, Resource, ResourceContents, ResourceTemplate, Toolbox
from mcp_adapters.resources import bytes_of, text_of

from .screen import Screen
from .texts import line

__all__ = ("list_prompts", "list_resources", "save", "show_contents", "show_prompt")


def list_resources(toolbox: Toolbox, screen: Screen, *, as_json: bool) -> None:
    """Show the resources and the templates of all servers, by server."""
    resources, templates = toolbox.list_resources(), toolbox.list_resource_templates()
    if as_json:
        screen.json(
            {"resources": [_raw(one) for one in resources], "templates": [_raw(one) for one in templates]}
        )
        return
    rows = [[one.server, one.uri, one.name, one.mime_type or "", _said(one)] for one in resources]
    rows += [[one.server, one.uri_template, one.name, one.mime_type or "", _said(one)] for one in templates]
    if not rows:
        screen.say("no server offers resources")
        return
    screen.table(("SERVER", "ADDRESS", "NAME", "TYPE", "WHAT IT IS"), rows)


def show_contents(contents: ResourceContents, screen: Screen, *, as_json: bool) -> None:
    """Show what was read: its text, and a line for each part that is none."""
    if as_json:
        screen.json(dict(contents.raw))
    else:
        screen.say(contents.text)


def save(contents: ResourceContents, folder: Path) -> list[Path]:
    """Write each part into a folder; gives the files, in order."""
    written = []
    for number, part in enumerate(contents.parts):
        text, data = text_of(part), bytes_of(part)
        data = text.encode() if data is None and text is not None else data
        if data is None:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        mime_type = getattr(part, "mime_type", None) or ("text/plain" if text is not None else "")
        path = folder / f"{number}{mimetypes.guess_extension(mime_type) or '.bin'}"
        path.write_bytes(data)
        written.append(path)
    return written


def list_prompts(toolbox: Toolbox, screen: Screen, *, as_json: bool) -> None:
    """Show the prompts of all servers, by server; arguments in brackets may be left out."""
    prompts = toolbox.list_prompts()
    if as_json:
        screen.json({"prompts": [_raw(one) for one in prompts]})
    elif prompts:
        rows = [[one.server, one.name, _arguments(one), _said(one)] for one in prompts]
        screen.table(("SERVER", "NAME", "ARGUMENTS", "WHAT IT IS FOR"), rows)
    else:
        screen.say("no server offers prompts")


def show_prompt(prompt: PromptResult, screen: Screen, *, as_json: bool) -> None:
    """Show a prompt's messages, each under its role."""
    if as_json:
        screen.json(dict(prompt.raw))
        return
    for number, message in enumerate(prompt.messages):
        screen.say(f"{'' if number == 0 else chr(10)}{message.role}:", style="bold")
        screen.say("\n".join(_shown(part) for part in message.parts))


def _shown(part: Any) -> str:
    text = text_of(part) if hasattr(part, "uri") else getattr(part, "text", None)
    return (
        text
        if text is not None
        else f"[{part.kind} {getattr(part, 'mime_type', None) or ''}]".replace(" ]", "]")
    )


def _arguments(prompt: Prompt) -> str:
    return " ".join(one.name if one.required else f"[{one.name}]" for one in prompt.arguments)


def _said(one: Resource | ResourceTemplate | Prompt) -> str:
    return line(one.description or one.title or "", limit=200)


def _raw(one: Resource | ResourceTemplate | Prompt) -> dict[str, Any]:
    return {"server": one.server, **one.raw}
