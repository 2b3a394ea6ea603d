"""Every link between the project's pages leads to a file and a heading that are there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
FOLDERS = ("docs", "examples", "notebooks", "benchmarks")
PAGES = [
    *sorted(PROJECT.glob("*.md")),
    *(page for folder in FOLDERS for page in sorted((PROJECT / folder).rglob("*.md"))),
]
FENCED = re.compile(r"^```.*?^```$", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?) *$", flags=re.MULTILINE)


def prose(page: Path) -> str:
    return FENCED.sub("", page.read_text())


def links(page: Path) -> list[str]:
    """The relative links of a page."""
    return [target for target in LINK.findall(prose(page)) if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links; one that comes again gets a number."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in HEADING.findall(prose(page)):
        plain = LINK.sub(lambda link: link[0].partition("]")[0][1:], heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def broken(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    return not file.exists() or (anchor != "" and anchor not in anchors(file))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert [target for target in links(page) if broken(page, target)] == []


def test_a_link_that_leads_nowhere_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One `thing`\n\n[a](#one-thing) [b](#two) [c](other.md) [d](page.md#one-thing)\n")

    assert [target for target in links(page) if broken(page, target)] == ["#two", "other.md"]


def test_every_page_has_its_question_in_the_index() -> None:
    index = PROJECT / "docs" / "index.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for target in links(index)}

    assert {page for page in (PROJECT / "docs").rglob("*.md") if page != index} - linked == set()
