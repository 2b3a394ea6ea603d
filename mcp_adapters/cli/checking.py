"""`mcp-adapters check`: whether model providers would take these tools.

In: an open toolbox and providers. Out: findings, one for each rule that is broken. Names are those
that models see, or the servers' own when that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mcp_adapters import Toolbox
from mcp_adapters.providers import ProviderProfile, profile, violations

from .screen import Screen
from .texts import line

__all__ = ("findings", "providers_of", "show")


def providers_of(words: str) -> list[ProviderProfile]:
    """The profiles behind names with commas between them.

    Raises:
        ConfigError: A name is not known; the message lists those that are.

    """
    return [profile(word.strip()) for word in words.split(",") if word.strip()]


def findings(
    toolbox: Toolbox, providers: Sequence[ProviderProfile], *, original: bool
) -> list[dict[str, Any]]:
    """Everything that would be refused, as JSON: provider, server, tool, problem, date of the rule."""
    skipped = [
        {"provider": None, "server": s.server, "tool": s.name, "problem": s.reason, "as_of": None}
        for s in toolbox.skipped
        if s.remedy
    ]
    failed = [
        {"provider": None, "server": key, "tool": None, "problem": str(status.last_error), "as_of": None}
        for key, status in toolbox.status.items()
        if status.state == "failed"
    ]
    return [
        *failed,
        *skipped,
        *(found for provider in providers for found in _of(toolbox, provider, original)),
    ]


def _of(toolbox: Toolbox, provider: ProviderProfile, original: bool) -> Iterator[dict[str, Any]]:
    about: dict[str, Any] = {"provider": provider.name, "as_of": provider.as_of}
    for problem in violations(provider, count=len(toolbox)):
        yield {**about, "server": None, "tool": None, "problem": problem}
    for tool in toolbox.tools:
        name = tool.remote_name if original else tool.name
        for problem in violations(provider, name=name, description=tool.description):
            yield {**about, "server": tool.server, "tool": tool.remote_name, "problem": problem}


def show(
    found: Sequence[dict[str, Any]], tools: int, providers: Sequence[ProviderProfile], screen: Screen
) -> None:
    """Show findings to people; one line when there are none."""
    names = ", ".join(provider.title for provider in providers)
    if not found:
        screen.say(f"{tools} tools are fine for {names}.", style="green")
        return
    rows = [
        [
            entry["provider"] or "any",
            entry["server"] or "",
            line(entry["tool"] or "", limit=60),
            line(entry["problem"]),
        ]
        for entry in found
    ]
    screen.table(["PROVIDER", "SERVER", "TOOL", "PROBLEM"], rows)
