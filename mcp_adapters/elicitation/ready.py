"""Ready handlers for what servers ask of a person.

In: a question. Out: an answer. `ask_on_terminal` reads and writes with the functions that it is given,
by default `input` and `print`, which also work in a notebook's cell. A page is shown, with its host, and
never opened here.

Source: MCP 2025-11-25, client/elicitation, "Safe URL Handling".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from mcp_adapters.asking import ElicitationAnswer, ElicitationRequest
from mcp_adapters.elicitation.reading import check_answer

__all__ = ("ask_on_terminal", "decline")

_ATTEMPTS = 3
"""How many times a form is asked for before it counts as cancelled."""


def decline(request: ElicitationRequest) -> ElicitationAnswer:
    """Say no to whatever is asked; a handler."""
    return ElicitationAnswer(action="decline")


def ask_on_terminal(
    request: ElicitationRequest,
    *,
    read: Callable[[str], str] = input,
    write: Callable[[str], None] = print,
) -> ElicitationAnswer:
    """Ask the person at the terminal; a handler.

    It waits for the person where it runs: an event loop that it runs on stands still meanwhile.

    Args:
        request: The question.
        read: Shows a line and gives what is typed.
        write: Shows a line.

    Returns:
        "decline" for a clear no; "cancel" for an end of the input, an interrupt, or a form that was
        filled in wrongly three times.

    """
    during = "" if request.tool is None else f", in the middle of {request.tool!r},"
    write(f"The server {request.server!r}{during} asks: {_shown(request.message)}")
    try:
        return _page(request, read, write) if request.mode == "url" else _form(request, read, write)
    except (EOFError, KeyboardInterrupt):
        return ElicitationAnswer(action="cancel")


def _page(
    request: ElicitationRequest, read: Callable[[str], str], write: Callable[[str], None]
) -> ElicitationAnswer:
    write(f"  It wants you to visit a page of {request.host}:")
    write(f"  {_shown(request.url or '')}")
    if not _agrees(read, "Do you want to visit it? [y/n] "):
        return ElicitationAnswer(action="decline")
    read("Open it in your browser, and press Enter when you are done. ")
    return ElicitationAnswer(action="accept")


def _form(
    request: ElicitationRequest, read: Callable[[str], str], write: Callable[[str], None]
) -> ElicitationAnswer:
    if not _agrees(read, "Do you want to answer? [y/n] "):
        return ElicitationAnswer(action="decline")
    for _ in range(_ATTEMPTS):
        content = {name: _field(name, schema, read) for name, schema in request.fields.items()}
        given = {name: value for name, value in content.items() if value is not None}
        try:
            return check_answer(request, ElicitationAnswer(action="accept", content=given))
        except ValueError as error:
            write(f"  {error}")
    return ElicitationAnswer(action="cancel")


def _agrees(read: Callable[[str], str], prompt: str) -> bool:
    while (said := read(prompt).strip().lower()) not in ("y", "yes", "n", "no"):
        pass
    return said.startswith("y")


def _field(name: str, schema: Mapping[str, Any], read: Callable[[str], str]) -> Any:
    """What is typed for a field; its default, or None without one, when nothing is."""
    hint = "".join(f"; {_shown(str(text))}" for text in (_choices(schema), schema.get("description")) if text)
    default, title = schema.get("default"), schema.get("title")
    proposed = "" if default is None else f" [{_shown(json.dumps(default, ensure_ascii=False))}]"
    typed = read(f"  {_shown(title if isinstance(title, str) else name)}{hint}{proposed}: ").strip()
    return _value(typed, schema) if typed else default


def _choices(schema: Mapping[str, Any]) -> str:
    """What a field takes, in words."""
    kind = schema.get("type")
    items = schema.get("items") if kind == "array" else schema
    titled = items.get("oneOf") or items.get("anyOf") if isinstance(items, Mapping) else None
    plain = items.get("enum") if isinstance(items, Mapping) else None
    if isinstance(titled, list):
        pairs = [(entry.get("const"), entry.get("title")) for entry in titled if isinstance(entry, Mapping)]
        choices = " / ".join(f"{const} ({title})" if title else f"{const}" for const, title in pairs)
    else:
        choices = " / ".join(map(str, plain)) if isinstance(plain, list) else ""
    if kind == "array":
        return f"any of {choices}, with commas between"
    return choices or {"boolean": "y/n", "integer": "a whole number", "number": "a number"}.get(str(kind), "")


def _value(typed: str, schema: Mapping[str, Any]) -> Any:
    """What was typed, as the field's type; as it is when it is none, so that the check says so."""
    match schema.get("type"):
        case "boolean":
            return {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}.get(
                typed.lower(), typed
            )
        case "integer" | "number":
            return _number(typed)
        case "array":
            return [item.strip() for item in typed.split(",") if item.strip()]
    return typed


def _number(typed: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(typed)
        except ValueError:
            continue
    return typed


def _shown(text: str) -> str:
    """The text without characters that would move the cursor, hide text or turn its direction."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
