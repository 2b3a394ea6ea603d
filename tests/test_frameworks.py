"""How a framework is found: by the entry point of whoever offers it, and by nothing else."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from mcp_adapters import (
    DuplicateFrameworkError,
    FrameworkError,
    FrameworkNotInstalledError,
    Toolbox,
    UnknownFrameworkError,
)
from mcp_adapters.frameworks import available, load

from .conftest import Wire

THIRD_PARTY = Path(__file__).parent / "third_party"


@pytest.fixture(scope="module")
def third_party(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which somebody else's framework package was installed by pip."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(target), str(THIRD_PARTY)], check=True)
    return target


def offer(folder: Path, distribution_name: str, line: str) -> None:
    """Put the metadata of an installed distribution with one entry point into a folder."""
    info = folder / f"{distribution_name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution_name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[mcp_adapters.frameworks]\n{line}\n")


def test_the_built_in_packages_use_the_same_door_as_everybody() -> None:
    ours = {
        point.name
        for point in distribution("mcp-adapters").entry_points
        if point.group == "mcp_adapters.frameworks"
    }

    assert ours == {"langchain", "llamaindex"}
    assert ours <= set(available())


def test_a_package_of_somebody_else_is_used_by_its_name(
    wire: Wire, third_party: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(third_party))
    with Toolbox({"wire": wire.server()}) as toolbox:
        [echo] = toolbox.to("plainfunctions")
        [loud] = toolbox.to("plainfunctions", shout=True)
        assert echo.__name__ == "wire_echo"
        assert echo(word="hello") == '{"word": "hello"}'
        assert loud(word="hello") == '{"WORD": "HELLO"}'


def test_an_unknown_framework_is_told_with_those_that_there_are() -> None:
    with pytest.raises(UnknownFrameworkError) as caught:
        load("langchian")

    assert caught.value.framework == "langchian"
    assert {"langchain", "llamaindex"} <= set(caught.value.available)
    assert "'langchain'" in str(caught.value)


def test_two_distributions_with_one_name_are_an_error_naming_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first-package", "second-package"):
        offer(tmp_path, name, "twice = nowhere:framework")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(DuplicateFrameworkError, match="first-package and second-package"):
        load("twice")


def test_a_missing_module_is_told_with_the_line_for_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path, "needy-package", "needy = needy_module:framework")
    (tmp_path / "needy_module.py").write_text("import a_framework_that_is_not_installed\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(FrameworkNotInstalledError) as caught:
        load("needy")

    assert "a_framework_that_is_not_installed" in str(caught.value)
    assert 'pip install "needy-package"' in str(caught.value)


def test_a_broken_package_breaks_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(tmp_path, "broken-package", "broken = broken_module:framework")
    (tmp_path / "broken_module.py").write_text("raise ValueError('made wrong')\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(FrameworkError, match=r"'broken-package'.*made wrong"):
        load("broken")
    assert load("langchain").name == "langchain"
