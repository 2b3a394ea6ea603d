"""The threat model names tests; each of them is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PAGE = (PROJECT / "docs" / "security.md").read_text()
NAMED = re.findall(r"`(tests/[\w/.]+)::(\w+)`", PAGE)


def test_every_row_names_a_test() -> None:
    rows = [
        line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| What it may")
    ]

    assert len(rows) > 15
    assert [row for row in rows if "::" not in row] == []


@pytest.mark.parametrize(("file", "name"), NAMED, ids=lambda value: str(value))
def test_a_test_that_the_page_names_is_there(file: str, name: str) -> None:
    assert re.search(rf"^(async )?def {name}\(", (PROJECT / file).read_text(), flags=re.MULTILINE)
