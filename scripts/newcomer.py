"""Time the way of a newcomer, step by step: from `pip install` to an agent's first call of a tool.

In: this project, Python, and npm's `npx`; packages come from PyPI and npm, without any cache. A fresh
virtual environment gets the wheel with the extra `langchain`, and the README's LangChain example runs
there, as a program and then in a fresh Jupyter kernel. The server is a real one from npm; a scripted
chat model, for want of a key, calls one of its tools. Out: a table of seconds. The exit code is 1 if a
step fails or the answer of the tool did not come.

It downloads some 100 MB and is no part of the tests.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ("main",)

PROJECT = Path(__file__).resolve().parent.parent
README = (PROJECT / "README.md").read_text()
ECHO = "Hello, newcomer"

MODEL = f'''
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage


class Scripted(GenericFakeChatModel):
    """Says what it was told to say, whatever its tools are."""

    def bind_tools(self, tools, **_):
        return self


call = {{"name": "everything_echo", "args": {{"message": {ECHO!r}}}, "id": "1"}}
model = Scripted(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("Done.")]))
'''
"""A chat model that needs no key."""

CHECK = f"assert {ECHO!r} in str(state['messages'][-2].content), state['messages']"

PROGRAM = """
import json, sys, time
pieces = json.load(sys.stdin)
space = {"__name__": "__main__"}
for step, code in pieces:
    begin = time.perf_counter()
    exec(compile(code, step or "unseen", "exec"), space)
    if step:
        print("::", json.dumps([step, time.perf_counter() - begin]))
"""
"""Runs pieces of code one after another and says how long those with a name took."""

KERNEL = """
import json, sys, time
from jupyter_client.manager import start_new_kernel
pieces = json.load(sys.stdin)
begin = time.perf_counter()
manager, client = start_new_kernel(kernel_name="python3")
print("::", json.dumps(["the kernel starts", time.perf_counter() - begin]))
try:
    for step, code in pieces:
        begin = time.perf_counter()
        reply = client.execute_interactive(code, timeout=600, output_hook=lambda _: None)
        if reply["content"]["status"] != "ok":
            sys.exit("\\n".join(reply["content"]["traceback"]))
        if step:
            print("::", json.dumps(["cell: " + step, time.perf_counter() - begin]))
finally:
    client.stop_channels()
    manager.shutdown_kernel()
"""
"""The same, each piece as the cell of a notebook."""


@dataclass(slots=True)
class Clock:
    """How long each step took, in seconds."""

    rows: list[tuple[str, float]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Take the time of a step."""
        print(f"  {name} ...", file=sys.stderr, flush=True)
        begin = time.perf_counter()
        yield
        self.rows.append((name, time.perf_counter() - begin))

    def told(self, output: str) -> None:
        """Take the times that a program said itself."""
        for line in re.findall(r"^:: (.+)$", output, flags=re.MULTILINE):
            name, seconds = json.loads(line)
            self.rows.append((name, seconds))


def example() -> list[tuple[str, str]]:
    """The README's LangChain example in pieces with a name each, and a model before it.

    The `with` statement comes apart into opening, what is done inside, and closing.
    """
    section = README.partition("\n## LangChain\n")[2]
    found = re.search(r"^```python\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
    assert found, "the README has no LangChain example"
    *imports, block = ast.parse(found[1]).body
    assert isinstance(block, ast.With)
    [item] = block.items
    assert isinstance(item.optional_vars, ast.Name)
    name = item.optional_vars.id
    body = [ast.unparse(statement) for statement in block.body]
    return [
        ("the imports", "\n".join(map(ast.unparse, imports))),
        ("", MODEL),
        ("the toolbox opens", f"{name} = {ast.unparse(item.context_expr)}.open()"),
        ("the tools become an agent's", body[0]),
        ("the agent calls a tool and answers", "\n".join(body[1:])),
        ("", CHECK),
        ("the toolbox closes", f"{name}.close()"),
    ]


def run(*command: str | Path, folder: Path, given: str | None = None) -> str:
    """Run a command in a folder, with the caches in it.

    Raises:
        SystemExit: It fails; with what it said.

    """
    environment = {**os.environ, "PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env={**environment, "JUPYTER_PATH": str(folder / "env" / "share" / "jupyter")},
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def write_config(folder: Path) -> None:
    """An mcp.json with the server from npm that the README names, whose downloads stay in the folder."""
    found = re.search(r"`({\"command\": \"npx\".+?})`", README)
    assert found, "the README names no server from npm"
    server = {**json.loads(found[1]), "env": {"npm_config_cache": str(folder / "npm")}}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"everything": server}}))


def table(rows: list[tuple[str, float]]) -> str:
    """Lay the steps out, with their sum."""
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {seconds:7.2f}" for name, seconds in rows]
    return "\n".join([*lines, "-" * (width + 9), f"{'in all':<{width}}  {sum(s for _, s in rows):7.2f}"])


def main() -> int:
    """Go the way once and print how long each step took."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = folder / "env" / "bin" / "python"
        run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, PROJECT, folder=folder)
        [wheel] = folder.glob("*.whl")
        write_config(folder)
        pieces = json.dumps(example())
        with clock.step("python -m venv"):
            run(sys.executable, "-m", "venv", folder / "env", folder=folder)
        with clock.step('pip install "mcp-adapters[langchain]" langchain'):
            run(python, "-m", "pip", "install", f"{wheel}[langchain]", "langchain", folder=folder)
        print("  the README's example ...", file=sys.stderr, flush=True)
        clock.told(run(python, "-c", PROGRAM, folder=folder, given=pieces))
        again = Clock()
        again.told(run(python, "-c", PROGRAM, folder=folder, given=pieces))
        clock.rows += [(f"again: {step}", seconds) for step, seconds in again.rows]
        with clock.step("pip install ipykernel"):
            run(python, "-m", "pip", "install", "ipykernel", folder=folder)
        print("  the same in a notebook ...", file=sys.stderr, flush=True)
        clock.told(run(python, "-c", KERNEL, folder=folder, given=pieces))
    print(table(clock.rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
