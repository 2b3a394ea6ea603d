"""The page on architecture names the rooms that there are, in the order that import-linter holds them to."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.rooms import layers, page_with_table

PROJECT = Path(__file__).parents[1]
PAGE = (PROJECT / "docs" / "architecture.md").read_text()


def test_the_table_of_rooms_is_that_of_the_layers() -> None:
    """If not: run `python scripts/rooms.py`."""
    assert page_with_table(PAGE) == PAGE


def test_every_module_of_the_core_has_its_place_in_the_layers() -> None:
    there = {
        path.stem for path in (PROJECT / "mcp_adapters").iterdir() if path.suffix == ".py" or path.is_dir()
    }

    assert {module for layer in layers() for module in layer} == there - {"__init__", "__pycache__"}


def test_every_module_and_file_that_the_page_names_is_there() -> None:
    modules = {module for layer in layers() for module in layer}
    named = set(re.findall(r"(?<![\w.])_[a-z]\w*", PAGE))
    files = set(re.findall(r"`((?:tests|scripts|docs)/[\w./]+)`", PAGE))

    assert named - modules == set()
    assert {file for file in files if not (PROJECT / file).exists()} == set()
