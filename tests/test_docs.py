"""Every Python example of every page in docs/ runs, in the order of the page."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

PAGES = sorted((Path(__file__).parents[1] / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An mcp.json as in the README, in the current folder, with the tests' Python."""
    notes = {"command": sys.executable, "args": ["-m", "mcp_adapters.demo.notes_server", "notes.db"]}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"notes": notes}}))
    monkeypatch.chdir(tmp_path)


def test_there_are_pages() -> None:
    assert PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path) -> None:
    text = page.read_text()
    namespace: dict[str, Any] = {"__name__": "docs"}
    for match in BLOCK.finditer(text):
        # As many lines before the code as in the page, so that a traceback names the page's own line.
        lines_before = text[: match.start(1)].count("\n")
        exec(compile("\n" * lines_before + match[1], str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_fence_of_a_page_is_closed_and_says_its_language(page: Path) -> None:
    fences = re.findall(r"^```(.*)$", page.read_text(), flags=re.MULTILINE)

    assert fences[1::2] == [""] * (len(fences) // 2)
    assert len(fences) % 2 == 0
    assert "" not in fences[::2]
