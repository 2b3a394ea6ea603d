"""How tools, results and servers look in a notebook.

In: their facts as plain values. Out: HTML made of the pieces in `markup`, so that nothing a server chose
is taken for more than text. The classes themselves call these functions from `_repr_html_`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcp_adapters.markup import Markup, code, details, lines, media, plain, table

__all__ = ("result_view", "server_view", "servers_view", "skipped_view", "tool_view", "toolbox_view")


def tool_view(
    *, name: str, identity: str, description: str, hints: Mapping[str, Any], schema: Mapping[str, Any]
) -> Markup:
    """One tool: what it does, what it takes.

    Args:
        name: What models see.
        identity: `server:tool`.
        description: What it does.
        hints: What the server says of its behaviour; None for what it does not say.
        schema: The server's own input schema.

    """
    properties, required = schema.get("properties"), schema.get("required") or ()
    rows = [
        (key, _type_of(one), "yes" if key in required else "", _described(one))
        for key, one in (properties.items() if isinstance(properties, Mapping) else ())
        if isinstance(one, Mapping)
    ]
    said = ", ".join(f"{key}: {value}" for key, value in hints.items() if value is not None)
    return lines(
        [
            Markup(f"<b>{plain(name)}</b> {plain(f'({identity})')}"),
            code(description),
            said,
            table(("argument", "type", "required", "description"), rows) if rows else "no arguments",
            details("input schema", code(schema)),
        ]
    )


def _alternatives(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = schema.get("anyOf") or schema.get("oneOf")
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []


def _type_of(schema: Mapping[str, Any]) -> str:
    """The types that a schema names, its alternatives' included."""
    named = schema.get("type")
    own = named if isinstance(named, list) else [named] if named else []
    both = [str(one) for one in own] or [_type_of(one) for one in _alternatives(schema)]
    return " or ".join(dict.fromkeys(filter(None, both)))


def _described(schema: Mapping[str, Any]) -> str:
    """What a schema says of itself, or else the first of its alternatives that says something."""
    said = [one.get("description") for one in (schema, *_alternatives(schema))]
    return next((str(one) for one in said if one), "")


def result_view(*, text: str, files: Iterable[tuple[str, str]], structured: Any, is_error: bool) -> Markup:
    """What a tool answered.

    Args:
        text: What a model reads of it.
        files: The type and the base64 of each image and sound, in order.
        structured: The structured content; None without any.
        is_error: Whether the tool says that it failed.

    """
    failed = [Markup("<b style='color:#b00020'>The tool failed</b>")] if is_error else []
    folded = [] if structured is None else [details("structured content", code(structured))]
    return lines([*failed, code(text), *(media(*one) for one in files), *folded])


def skipped_view(rows: Sequence[Sequence[str]]) -> Markup:
    """What is left out: server, tool, reason, place and remedy of each."""
    return (
        table(("server", "tool", "reason", "place", "remedy"), rows) if rows else plain("nothing is left out")
    )


def server_view(facts: Mapping[str, object]) -> Markup:
    """What is known of one server, without what is not known."""
    return table((), [(name, code(str(value))) for name, value in facts.items() if value not in (None, "")])


def servers_view(rows: Sequence[Sequence[object]]) -> Markup:
    """Several servers: key, state, protocol version, name and version, tools, and the last error of each."""
    return table(("server", "state", "protocol", "calls itself", "tools", "last error"), rows)


def toolbox_view(title: str, servers: Markup, tools: Sequence[Sequence[str]], skipped: int) -> Markup:
    """A toolbox: its servers, its tools, and how many tools it leaves out.

    Args:
        title: Its own words for itself.
        servers: As `servers_view` shows them.
        tools: Name, `server:tool` and description of each.
        skipped: How many are left out.

    """
    listed = table(("tool", "of", "description"), tools) if tools else ""
    left_out = f"{skipped} left out, see skipped" if skipped else ""
    return lines([Markup(f"<b>{plain(title)}</b>"), servers, listed, left_out])
