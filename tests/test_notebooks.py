"""The notebooks run from top to bottom in a fresh kernel, and keep the outputs that they then have."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

from .conftest import Wire, tool

PROJECT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((PROJECT / "notebooks").glob("*.ipynb"))
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
FONTS = "building the font cache"
"""What matplotlib says at its very first use on a slow machine."""
sys.path.insert(0, str(PROJECT / "scripts"))

from run_notebooks import run  # noqa: E402 - the folder of the scripts is no package

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def shown(notebook: Any) -> list[list[tuple[str, str]]]:
    """What a reader sees below each cell, without what differs from run to run; pictures are pictures."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [[one for output in cell.outputs for one in _shown(output)] for cell in cells]


def _shown(output: Any) -> Iterator[tuple[str, str]]:
    if output.output_type == "stream":
        if FONTS not in output.text:
            yield output.name, TIME.sub("TIME", output.text)
        return
    for kind, value in sorted(output.get("data", {}).items()):
        yield kind, "a picture" if kind.startswith("image/") else TIME.sub("TIME", value)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_kept_outputs_are_those_of_the_run(path: Path) -> None:
    """If only the outputs differ: run `make notebooks`."""
    kept = nbformat.read(path, as_version=4)

    assert shown(run(path)) == shown(kept)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_one_that_was_run_in_order_and_holds_no_failure(path: Path) -> None:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]

    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert [output for cell in cells for output in cell.outputs if output.output_type == "error"] == []


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 6


class Kernel:
    """A real kernel that runs cells."""

    def __init__(self, folder: Path) -> None:
        self._manager, self._client = start_new_kernel(kernel_name="python3", cwd=str(folder))

    def start(self, code: str) -> str:
        return str(self._client.execute(code))

    def interrupt(self) -> None:
        self._manager.interrupt_kernel()

    def end(self, cell: str) -> tuple[str, str]:
        """Wait for a cell's end; the name of its exception, and what it printed."""
        printed = ""
        failure = ""
        while True:
            try:
                message = self._client.get_iopub_msg(timeout=60)
            except Empty:
                raise AssertionError(f"no news for a minute; printed: {printed}") from None
            if message["parent_header"].get("msg_id") != cell:
                continue
            content = message["content"]
            printed += content.get("text", "")
            failure = content.get("ename", failure)
            if content.get("execution_state") == "idle":
                return failure, printed

    def close(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    one = Kernel(tmp_path)
    yield one
    one.close()


@pytest.mark.parametrize(
    "call", ['toolbox.call("wire_hang")', 'await toolbox.acall("wire_hang")'], ids=["sync", "async"]
)
def test_a_kernels_interrupt_cancels_the_call_and_keeps_the_connection(
    wire: Wire, kernel: Kernel, call: str
) -> None:
    server = wire.server(tools=[tool("hang"), tool("echo")])
    opened = kernel.start(
        "from mcp_adapters import StdioServer, Toolbox\n"
        f"server = StdioServer(command={server.command!r}, args={list(server.args)!r})\n"
        'toolbox = Toolbox({"wire": server}).open()'
    )
    assert kernel.end(opened) == ("", "")
    hanging = kernel.start(call)
    for _ in range(3_000):  # a minute
        if wire.count("tools/call"):
            break
        time.sleep(0.02)
    kernel.interrupt()
    interrupted, _ = kernel.end(hanging)
    next_call = kernel.end(kernel.start('print(toolbox.call("wire_echo", {"n": 1}).text)\ntoolbox.close()'))

    assert interrupted in ("KeyboardInterrupt", "CancelledError")
    assert next_call == ("", '{"n": 1}\n')
    assert wire.starts() == 1
    assert wire.count("notifications/cancelled") == 1
