"""Every Python example of every page in docs/ runs, in the order of the page.

A block whose first line is a comment with a file's name is that file; `model` and `llm` stand for the chat
model that a reader has. The commands that pages show are understood, and the first of each kind is run.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from typer.main import get_command

from mcp_adapters import load_servers
from mcp_adapters.cli import main
from mcp_adapters.cli.app import app
from mcp_adapters.cli.sources import split_command

from .test_langchain import ScriptedModel, calling
from .test_llamaindex import scripted

PAGES = sorted((Path(__file__).parents[1] / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w.]+\.(?:py|toml))\n")
COMMAND_LINE = Path(__file__).parents[1] / "docs" / "command-line.md"
CALL = ("notes_add_note", {"text": "Buy milk"})


@pytest.fixture(autouse=True)
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An mcp.json as in the README, in the current folder, with the tests' Python."""
    notes = {"command": sys.executable, "args": ["-m", "mcp_adapters.demo.notes_server", "notes.db"]}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"notes": notes}}))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def whole_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents of LlamaIndex do not stream: the scripted model answers whole messages only."""
    from llama_index.core.agent import workflow

    class NotStreaming(workflow.FunctionAgent):
        streaming: bool = False

    monkeypatch.setattr(workflow, "FunctionAgent", NotStreaming)


def written(text: str, folder: Path) -> list[str]:
    """Write the files that a page shows into a folder; their names."""
    names = []
    for _, code in BLOCK.findall(text):
        if named := FILE.match(code):
            names.append(named[1])
            folder.mkdir(exist_ok=True)
            (folder / named[1]).write_text(code)
    return names


def installed(project: Path) -> Path:
    """The folder into which pip installed a page's project."""
    target = project / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(target), str(project)], check=True)
    return target


def test_there_are_pages() -> None:
    assert PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text()
    if "pyproject.toml" in written(text, tmp_path / "project"):
        monkeypatch.syspath_prepend(str(installed(tmp_path / "project")))
    model = ScriptedModel(script=[calling(CALL), AIMessage("done")])
    namespace: dict[str, Any] = {"__name__": "docs", "model": model, "llm": scripted([CALL])}
    for match in BLOCK.finditer(text):
        if match[1] != "python" or FILE.match(match[2]):
            continue
        # As many lines before the code as in the page, so that a traceback names the page's own line.
        lines_before = text[: match.start(2)].count("\n")
        exec(compile("\n" * lines_before + match[2], str(page), "exec"), namespace)


def commands(page: Path) -> list[list[str]]:
    """The words after `mcp-adapters` of each command that a page shows."""
    shown = [code for language, code in BLOCK.findall(page.read_text()) if language == "shell"]
    lines = "".join(shown).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("mcp-adapters ")]


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_the_commands_of_a_page_are_understood(page: Path) -> None:
    group: Any = get_command(app)
    for command in commands(page):
        [name, *words], _ = split_command(command)
        assert group.commands[name].make_context(name, words).command.name == name


@pytest.mark.parametrize("name", ["inspect", "call", "check"])
def test_the_first_example_of_a_command_ends_well(name: str) -> None:
    [words, *_] = [words for words in commands(COMMAND_LINE) if words[0] == name]
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert (ended.value.code or 0) == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_configuration_of_a_page_can_be_loaded(page: Path) -> None:
    blocks = [json.loads(code) for language, code in BLOCK.findall(page.read_text()) if language == "json"]

    for block in blocks:
        if "mcpServers" in block:
            assert load_servers(block, environ={}).keys() == block["mcpServers"].keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_fence_of_a_page_is_closed_and_says_its_language(page: Path) -> None:
    fences = re.findall(r"^```(.*)$", page.read_text(), flags=re.MULTILINE)

    assert fences[1::2] == [""] * (len(fences) // 2)
    assert len(fences) % 2 == 0
    assert "" not in fences[::2]
