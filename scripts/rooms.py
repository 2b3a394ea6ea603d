"""Write the table of rooms in docs/architecture.md: each module, in the order of the layers, and its purpose.

In: the layers in pyproject.toml and the first line of each module's docstring. Out: the section of the
page between its two marks. A test says when it is out of date.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

__all__ = ("main", "page_with_table")

PROJECT = Path(__file__).resolve().parent.parent
PAGE = PROJECT / "docs" / "architecture.md"
SECTION = re.compile(r"(?<=<!-- rooms -->\n).*?(?=<!-- end of rooms -->)", flags=re.DOTALL)


def layers() -> list[list[str]]:
    """The modules of the core, from the outermost layer to the innermost."""
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [rooms] = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [re.findall(r"\w+", layer) for layer in rooms]


def purpose(module: str) -> str:
    """The first sentence of a module's docstring."""
    folder = PROJECT / "mcp_adapters"
    path = folder / f"{module}.py"
    source = path if path.exists() else folder / module / "__init__.py"
    text = ast.get_docstring(ast.parse(source.read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split())


def page_with_table(page: str) -> str:
    """The page as it ought to be.

    Args:
        page: Its text, with the two marks.

    """
    rows = [f"| `{module}` | {purpose(module)} |" for layer in layers() for module in layer]
    table = "\n".join(["", "| module | for |", "| --- | --- |", *rows, "", ""])
    return SECTION.sub(lambda _: table, page)


def main() -> int:
    """Rewrite the section."""
    PAGE.write_text(page_with_table(PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
