"""Configuration files of other programs are found where those programs keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcp_adapters.config import FoundConfig, discover_configs

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = [
    ("claude-code", ".mcp.json"),
    ("cursor", ".cursor/mcp.json"),
    ("vscode", ".vscode/mcp.json"),
    ("gemini-cli", ".gemini/settings.json"),
    ("roo-code", ".roo/mcp.json"),
    ("kiro", ".kiro/settings/mcp.json"),
    ("opencode", "opencode.json"),
    ("opencode", "opencode.jsonc"),
]
CLINE = "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
ROO = "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"


@pytest.mark.parametrize(
    ("platform", "environ", "applications"),
    [
        ("darwin", {}, "Library/Application Support"),
        ("win32", {}, "AppData/Roaming"),
        ("linux", {}, ".config"),
    ],
)
def test_the_files_of_every_program_are_found_in_order(
    platform: str, environ: dict[str, str], applications: str, tmp_path: Path
) -> None:
    home, cwd = tmp_path / "home", tmp_path / "work"
    user = [
        ("claude-desktop", f"{applications}/Claude/claude_desktop_config.json"),
        ("vscode", f"{applications}/Code/User/mcp.json"),
        ("vscode-insiders", f"{applications}/Code - Insiders/User/mcp.json"),
        ("cline", f"{applications}/{CLINE}"),
        ("roo-code", f"{applications}/{ROO}"),
        ("claude-code", ".claude.json"),
        ("cursor", ".cursor/mcp.json"),
        ("gemini-cli", ".gemini/settings.json"),
        ("windsurf", ".codeium/windsurf/mcp_config.json"),
        ("lm-studio", ".lmstudio/mcp.json"),
        ("kiro", ".kiro/settings/mcp.json"),
        ("amazon-q", ".aws/amazonq/mcp.json"),
        ("copilot-cli", ".copilot/mcp-config.json"),
        ("opencode", ".config/opencode/opencode.json"),
        ("opencode", ".config/opencode/opencode.jsonc"),
    ]
    expected = [
        *(FoundConfig(client=client, scope="project", path=cwd / name) for client, name in PROJECT),
        *(FoundConfig(client=client, scope="user", path=home / name) for client, name in user),
    ]
    for place in expected:
        touch(place.path)

    assert discover_configs(home, cwd, platform, environ) == expected


@pytest.mark.parametrize(
    ("platform", "variable", "client", "name"),
    [
        ("win32", "APPDATA", "claude-desktop", "Claude/claude_desktop_config.json"),
        ("linux", "XDG_CONFIG_HOME", "vscode", "Code/User/mcp.json"),
        ("linux", "XDG_CONFIG_HOME", "opencode", "opencode/opencode.json"),
        ("darwin", "CLAUDE_CONFIG_DIR", "claude-code", ".claude.json"),
        ("darwin", "COPILOT_HOME", "copilot-cli", "mcp-config.json"),
    ],
)
def test_variables_move_the_places(
    platform: str, variable: str, client: str, name: str, tmp_path: Path
) -> None:
    path = touch(tmp_path / "moved" / name)

    found = discover_configs(tmp_path, tmp_path / "work", platform, {variable: str(tmp_path / "moved")})

    assert found == [FoundConfig(client=client, scope="user", path=path)]


def test_only_files_that_exist_are_found(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").mkdir()

    assert discover_configs(tmp_path, tmp_path, "linux", {}) == []


def test_a_file_of_the_project_that_is_also_the_users_is_found_once(tmp_path: Path) -> None:
    path = touch(tmp_path / ".cursor" / "mcp.json")

    assert discover_configs(tmp_path, tmp_path, "linux", {}) == [
        FoundConfig(client="cursor", scope="project", path=path)
    ]


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path
