"""Where other programs keep their server configurations on this machine.

In: the home and the project directory, the platform, and the environment. Out: the files that are
there. It only looks whether files exist; it reads none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ("FoundConfig", "discover_configs")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundConfig:
    """A configuration file of another program."""

    client: str
    """The program: "claude-desktop", "claude-code", "cursor", "vscode", "gemini-cli", ..."""
    scope: Literal["project", "user"]
    """Whether it is for the project directory or for everything that the user does."""
    path: Path


_PROJECT = (
    ("claude-code", ".mcp.json"),
    ("cursor", ".cursor/mcp.json"),
    ("vscode", ".vscode/mcp.json"),
    ("gemini-cli", ".gemini/settings.json"),
    ("roo-code", ".roo/mcp.json"),
    ("kiro", ".kiro/settings/mcp.json"),
    ("opencode", "opencode.json"),
    ("opencode", "opencode.jsonc"),
)
"""Below the project directory."""

_HOME = (
    ("cursor", ".cursor/mcp.json"),
    ("gemini-cli", ".gemini/settings.json"),
    ("windsurf", ".codeium/windsurf/mcp_config.json"),
    ("lm-studio", ".lmstudio/mcp.json"),
    ("kiro", ".kiro/settings/mcp.json"),
    ("amazon-q", ".aws/amazonq/mcp.json"),
)
"""Below the home directory, on every platform."""

_APPLICATION = (
    ("claude-desktop", "Claude/claude_desktop_config.json"),
    ("vscode", "Code/User/mcp.json"),
    ("vscode-insiders", "Code - Insiders/User/mcp.json"),
    ("cline", "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
    ("roo-code", "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
)
"""Below the directory in which desktop applications keep their data."""


def discover_configs(home: Path, cwd: Path, platform: str, environ: Mapping[str, str]) -> list[FoundConfig]:
    """Find the configuration files that other programs keep.

    Args:
        home: The user's home directory.
        cwd: The project directory.
        platform: As `sys.platform`: "darwin", "win32", anything else counts as Linux.
        environ: For `APPDATA`, `XDG_CONFIG_HOME`, `CLAUDE_CONFIG_DIR` and `COPILOT_HOME`.

    Returns:
        The files that exist, those of the project first, each file once.

    """
    found = {place.path: place for place in reversed([*_places(home, cwd, platform, environ)])}
    return [place for place in reversed(found.values()) if place.path.is_file()]


def _places(home: Path, cwd: Path, platform: str, environ: Mapping[str, str]) -> Iterator[FoundConfig]:
    for client, name in _PROJECT:
        yield FoundConfig(client=client, scope="project", path=cwd / name)
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    copilot = Path(environ.get("COPILOT_HOME") or home / ".copilot")
    user = [
        *(
            (client, _application_data(home, config, platform, environ) / name)
            for client, name in _APPLICATION
        ),
        ("claude-code", Path(environ.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json"),
        *((client, home / name) for client, name in _HOME),
        ("copilot-cli", copilot / "mcp-config.json"),
        ("opencode", config / "opencode" / "opencode.json"),
        ("opencode", config / "opencode" / "opencode.jsonc"),
    ]
    for client, path in user:
        yield FoundConfig(client=client, scope="user", path=path)


def _application_data(home: Path, config: Path, platform: str, environ: Mapping[str, str]) -> Path:
    if platform == "darwin":
        return home / "Library" / "Application Support"
    if platform == "win32":
        return Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    return config
