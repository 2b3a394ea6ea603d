"""What the documentation's site has beyond the pages in docs/: hooks of mkdocs.

In: the pages, README, CONTRIBUTING and CHANGELOG, and the public modules. Out: these files as pages too, a
reference with a page for each public module, a menu in the order of docs/index.md, and links that fit.
Nothing is written but the site.
"""

from __future__ import annotations

import importlib
import posixpath
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

__all__ = ("on_config", "on_files", "on_page_markdown")

PROJECT = Path(__file__).resolve().parent.parent
BESIDE = {"README.md": "readme.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Files of the project's folder -> their pages."""
PACKAGES = ("mcp_adapters_langchain", "mcp_adapters_llamaindex")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
_BARE = "::: {}\n    options: {{members: false, show_root_heading: false, show_root_toc_entry: false}}"
_ENTRY = "::: {}\n    options: {{heading_level: 2, inherited_members: {}, show_bases: {}}}"
CSS = """
.md-grid { max-width: 84rem; }
.md-typeset h1, .md-typeset h2 { color: inherit; font-weight: 500; }
.md-typeset table:not([class]) td code { white-space: pre-wrap; }
"""
IMPORT = re.compile(r"^from (mcp_adapters\w*(?:\.\w+)*) import ", flags=re.MULTILINE)


def pages_in_order() -> list[str]:
    """The pages in docs/, in the order in which the index leads to them."""
    index = (PROJECT / "docs" / "index.md").read_text()
    linked = [target.partition("#")[0] for _, target in LINK.findall(index)]
    return list(dict.fromkeys(page for page in linked if page.endswith(".md") and not page.startswith("..")))


def exported() -> dict[str, list[str]]:
    """The names of `mcp_adapters`, by the module that each comes from."""
    core = importlib.import_module("mcp_adapters")
    homes: dict[str, list[str]] = {}
    for name in core.__all__:
        homes.setdefault(core._MODULE[name], []).append(name)  # noqa: SLF001 - of this project
    return homes


def shown_modules() -> list[str]:
    """The modules that have a page of the reference: where public names live, and what the pages import."""
    pages = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
    imported = {name for page in pages for name in IMPORT.findall(page.read_text())}
    modules = {*exported(), *imported, *PACKAGES, *(f"{package}.history" for package in PACKAGES)}
    return sorted(name for name in modules if name != "mcp_adapters" and "._" not in name)


def reference() -> dict[str, str]:
    """Each page of the reference, by its path: the toolbox with its like, then module by module."""
    homes = exported()
    hidden = [name for module in homes if "._" in module for name in homes[module]]
    pages = {
        "reference/toolbox.md": "\n\n".join(
            [
                "# Toolbox",
                "All of it is in `mcp_adapters`.",
                *(_entry("mcp_adapters", name) for name in sorted(hidden, key=_toolbox_first)),
            ]
        )
    }
    for module in shown_modules():
        pages[f"reference/{module.removeprefix('mcp_adapters.')}.md"] = _module(module, homes.get(module, ()))
    return pages


def _short(path: str) -> str:
    """What a page of the reference is called in the menu, which is narrow."""
    return Path(path).name.removesuffix(".md").removeprefix("mcp_adapters_")


def _toolbox_first(name: str) -> tuple[bool, str]:
    return name != "Toolbox", name


def _module(module: str, at_the_top: Iterable[str]) -> str:
    parts = [f"# {module.removeprefix('mcp_adapters.')}", _BARE.format(module)]
    if names := ", ".join(f"`{name}`" for name in at_the_top):
        parts.append(f"Also in `mcp_adapters` itself: {names}.")
    names_in_order = importlib.import_module(module).__all__
    return "\n\n".join([*parts, *(_entry(module, name) for name in names_in_order)])


def _entry(module: str, name: str) -> str:
    """One name with all that it inherits from classes that are not shown themselves."""
    value = getattr(importlib.import_module(module), name)
    whole = isinstance(value, type) and any(
        base.__module__.startswith("mcp_adapters") for base in value.__mro__[1:]
    )
    inherits = whole and not issubclass(value, Exception)
    bases = not inherits or name != "Toolbox"
    return _ENTRY.format(f"{module}.{name}", str(inherits).lower(), str(bases).lower())


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Make the menu."""
    sys.path.insert(0, str(PROJECT))
    config.nav = [
        {"Which page": "index.md"},
        {"First steps": BESIDE["README.md"]},
        {"Guide": pages_in_order()},
        {"Reference": [{_short(path): path} for path in reference()]},
        {"Project": [{"Contributing": BESIDE["CONTRIBUTING.md"]}, {"Changelog": BESIDE["CHANGELOG.md"]}]},
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    from mkdocs.structure.files import File

    for name, page in BESIDE.items():
        text = (PROJECT / name).read_text()
        files.append(File.generated(config, page, content=text))
    for path, text in reference().items():
        files.append(File.generated(config, path, content=text))
    files.append(File.generated(config, "site.css", content=CSS))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links lead to pages; a file that is not on the site is named without a link."""
    inverse = {there: name for name, there in BESIDE.items()}
    source = inverse.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    return LINK.sub(lambda found: _link(source, found[1], found[2]), markdown)


def _link(source: str, text: str, target: str) -> str:
    path, _, anchor = target.partition("#")
    if not path or "://" in target:
        return f"[{text}]({target})"
    file = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    place = BESIDE.get(file) or (file.removeprefix("docs/") if file.startswith("docs/") else None)
    if place is None or not place.endswith(".md"):
        return f"{text} (`{file}`)"
    return f"[{text}]({place}{'#' + anchor if anchor else ''})"
