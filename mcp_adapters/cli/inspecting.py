"""`mcp-adapters inspect`: the servers, their tools, and what was repaired, left out or lost.

In: an open toolbox. Out: one JSON-able report, and its form for people. The keys of the report are
stable: `servers`, `tools`, `skipped`, `warnings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_adapters import Tool, Toolbox

from .screen import Screen
from .texts import line

__all__ = ("report", "show")


def report(toolbox: Toolbox, warnings: Sequence[str]) -> dict[str, Any]:
    """What is to be said of an open toolbox, as JSON."""
    return {
        "servers": [
            {
                "key": key,
                "state": status.state,
                "protocol": status.protocol_version,
                "name": (status.server_info or {}).get("name"),
                "version": (status.server_info or {}).get("version"),
                "tools": status.tools,
                "error": None if status.last_error is None else str(status.last_error),
            }
            for key, status in toolbox.status.items()
        ],
        "tools": [_tool(tool) for tool in toolbox.tools],
        "skipped": [
            {"server": s.server, "tool": s.name, "at": s.pointer, "reason": s.reason, "remedy": s.remedy}
            for s in toolbox.skipped
        ],
        "warnings": list(warnings),
    }


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "server": tool.server,
        "original": tool.remote_name,
        "description": tool.description,
        "arguments": sorted(tool.model_schema["properties"]),
        "required": sorted(tool.model_schema.get("required", [])),
        "schema": tool.model_schema,
        "lost": [
            {"at": loss.pointer, "keyword": loss.keyword, "reason": loss.reason} for loss in tool.losses
        ],
    }


def show(found: dict[str, Any], screen: Screen) -> None:
    """Show a report to people."""
    rows = [
        [server["key"], server["state"], server["protocol"] or "", _software(server), str(server["tools"])]
        for server in found["servers"]
    ]
    screen.table(["SERVER", "STATE", "PROTOCOL", "SOFTWARE", "TOOLS"], rows)
    if found["tools"]:
        screen.say()
        screen.table(
            ["NAME", "ORIGINAL", "ARGUMENTS", "WHAT IT DOES"], [_row(tool) for tool in found["tools"]]
        )
    for title, lines in _remarks(found):
        screen.say()
        screen.say(f"{title}:", style="bold")
        for text in lines:
            screen.say(f"  {text}")


def _is_said(warning: str, failed: Sequence[str]) -> bool:
    """Whether a warning says what another part of the report says."""
    return "is left out" in warning or any(text.endswith(warning) for text in failed)


def _software(server: dict[str, Any]) -> str:
    return line(" ".join(str(word) for word in (server["name"], server["version"]) if word), limit=40)


def _row(tool: dict[str, Any]) -> list[str]:
    arguments = [name if name in tool["required"] else f"[{name}]" for name in tool["arguments"]]
    return [
        tool["name"],
        line(tool["original"], limit=80),
        line(" ".join(arguments), limit=60),
        line(tool["description"]),
    ]


def _remarks(found: dict[str, Any]) -> list[tuple[str, list[str]]]:
    failed = [f"{server['key']}: {server['error']}" for server in found["servers"] if server["error"]]
    skipped = [
        f"{entry['server']}:{line(entry['tool'], limit=80)}: {entry['reason']}" for entry in found["skipped"]
    ]
    lost = [
        f"{tool['name']}, at {loss['at'] or '/'}: {loss['keyword']} - {loss['reason']}"
        for tool in found["tools"]
        for loss in tool["lost"]
    ]
    remarks = [
        ("Servers that cannot be used", failed),
        ("Left out", skipped),
        ("Worth knowing", [text for text in found["warnings"] if not _is_said(text, failed)]),
        ("Not said to models", [line(text) for text in lost]),
    ]
    return [(title, lines) for title, lines in remarks if lines]
