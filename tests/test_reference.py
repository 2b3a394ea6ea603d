"""Every public name says what it is, what goes in, what comes out, and which errors there are.

Public is what the reference shows: the names of `mcp_adapters` and of the packages of the frameworks, and the
modules that the pages import from. The docstrings are read as the reference reads them.
"""

from __future__ import annotations

import builtins
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import griffe
import pytest

from mcp_adapters import errors
from scripts.site import PACKAGES, exported, shown_modules

PROJECT = Path(__file__).parents[1]
REFERS = re.compile(r"\b([Aa]s|[Ss]ee|the same as) `")
KNOWN_ERRORS = {*errors.__all__, *dir(builtins)}


@pytest.fixture(scope="module")
def packages() -> griffe.ModulesCollection:
    """The packages as they are read without being imported."""
    logging.getLogger("griffe").setLevel(logging.ERROR)
    loader = griffe.GriffeLoader(search_paths=[PROJECT], docstring_parser=griffe.Parser.google)
    for package in ("mcp_adapters", *PACKAGES):
        loader.load(package)
    loader.resolve_aliases()
    return loader.modules_collection


@pytest.fixture(scope="module")
def public(packages: griffe.ModulesCollection) -> list[griffe.Object]:
    """Each public name, and each public member of a class, once."""
    found: dict[str, griffe.Object] = {}
    for module in ("mcp_adapters", *shown_modules()):
        loaded = packages[module]
        names = _names() if module == "mcp_adapters" else [str(name) for name in loaded.exports or ()]
        for name in names:
            for one in _with_members(loaded[name]) if name in loaded.members else ():
                found[one.path] = one
    return list(found.values())


def _names() -> list[str]:
    return [name for names in exported().values() for name in names]


def _with_members(found: griffe.Object | griffe.Alias) -> Iterator[griffe.Object]:
    one = found.final_target if isinstance(found, griffe.Alias) else found
    yield one
    if one.is_class:
        for name, member in one.all_members.items():
            if not name.startswith("_") and name != "model_config":
                yield member.final_target if isinstance(member, griffe.Alias) else member


def _text(one: griffe.Object) -> str:
    return one.docstring.value if one.docstring else ""


def test_type_checkers_know_every_name_that_is_loaded_at_first_use(
    packages: griffe.ModulesCollection,
) -> None:
    assert {name for name in _names() if name not in packages["mcp_adapters"].members} == set()


def test_every_public_name_is_described(public: list[griffe.Object]) -> None:
    """A plain field may be silent where its name and its type say it all."""
    fields = {one.path for one in public if one.is_attribute and one.parent and one.parent.is_class}

    assert {one.path for one in public if not _text(one)} - fields == set()
    assert len(public) > 400


def test_every_number_says_what_it_counts(public: list[griffe.Object]) -> None:
    """Seconds, bytes, characters: the type does not carry it."""
    numbers = [
        one for one in public if one.is_attribute and re.search(r"\b(int|float)\b", str(one.annotation or ""))
    ]

    assert numbers
    assert {one.path for one in numbers if not _text(one)} == set()


def test_every_argument_is_described_or_its_description_is_referred_to(public: list[griffe.Object]) -> None:
    undescribed = {}
    for one in public:
        if not isinstance(one, griffe.Function):
            continue
        wanted = [p.name.lstrip("*") for p in one.parameters if p.name not in ("self", "cls", "_", "__")]
        text = _text(one)
        if "Args:" in text:
            described = re.findall(r"^    (\w+): ", text.partition("Args:")[2], flags=re.MULTILINE)
            missing = [name for name in wanted if name not in described]
        elif len(wanted) < 2 or REFERS.search(text):
            missing = []
        else:
            missing = [name for name in wanted if not re.search(rf"`{name}`", text)]
        if missing:
            undescribed[one.path] = missing

    assert undescribed == {}


def test_every_error_that_is_announced_is_one_that_there_is(public: list[griffe.Object]) -> None:
    announced = {
        (one.path, name)
        for one in public
        for name in re.findall(r"\b\w+(?:Error|Exception)\b", _text(one).partition("Raises:")[2])
    }

    assert len(announced) > 50
    assert {(path, name) for path, name in announced if name not in KNOWN_ERRORS} == set()
