"""What a newcomer gets from pip: an extra brings its framework, and no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

PROJECT = Path(__file__).parents[1]

PROGRAM = """
import sys
from importlib.util import find_spec
from mcp.server.mcpserver import MCPServer
from mcp_adapters import FrameworkNotInstalledError, Toolbox

server = MCPServer("calc")


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


with Toolbox({"calc": server}) as toolbox:
    for framework in ("langchain", "llamaindex"):
        try:
            [tool] = toolbox.to(framework)
        except FrameworkNotInstalledError as error:
            print(framework, "missing:", error)
        else:
            output = tool.invoke({"a": 2, "b": 3}) if framework == "langchain" else tool.call(a=2, b=3).content
            print(framework, "works:", output)
print("installed:", *[name for name in ("langchain_core", "llama_index", "typer") if find_spec(name)])
"""


def installed(extra: str, folder: Path) -> list[str]:
    """Install the project with an extra into a new environment and run the program there."""
    python = folder / "bin" / "python"
    wanted = f"{PROJECT}[{extra}]" if extra else str(PROJECT)
    for command in (
        ["venv", "--python", sys.executable, str(folder)],
        ["pip", "install", "--python", str(python), wanted],
    ):
        subprocess.run([find_uv_bin(), *command, "--quiet"], check=True)
    done = subprocess.run(
        [str(python), "-c", PROGRAM], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


MISSING = {
    "langchain": """missing: the framework 'langchain' needs the module 'langchain_core', which is not installed; run: pip install "mcp-adapters[langchain]\"""",
    "llamaindex": """missing: the framework 'llamaindex' needs the module 'llama_index', which is not installed; run: pip install "mcp-adapters[llamaindex]\"""",
}


@pytest.mark.parametrize(
    ("extra", "langchain", "llamaindex", "brought"),
    [
        ("", MISSING["langchain"], MISSING["llamaindex"], ""),
        ("langchain", "works: 5", MISSING["llamaindex"], " langchain_core"),
        ("llamaindex", MISSING["langchain"], "works: 5", " llama_index"),
    ],
)
def test_an_extra_brings_its_framework_and_the_others_are_named_with_the_line_for_pip(
    tmp_path: Path, extra: str, langchain: str, llamaindex: str, brought: str
) -> None:
    assert installed(extra, tmp_path) == [
        f"langchain {langchain}",
        f"llamaindex {llamaindex}",
        f"installed:{brought}",
    ]
