"""What all tests share: the event loop's kind, scripted servers, and a look at what is left behind."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from mcp_adapters import StdioServer

# The same examples in every run; a search for others is `--hypothesis-profile=search` by hand.
settings.register_profile("same", derandomize=True)
settings.register_profile("search", max_examples=1_000)
settings.load_profile("same")

WIRE_SERVER = Path(__file__).parent / "wire_server.py"


@pytest.fixture
def anyio_backend() -> str:
    """The frameworks run on asyncio."""
    return "asyncio"


def tool(name: str, **properties: Any) -> dict[str, Any]:
    """A well-formed entry of tools/list."""
    return {
        "name": name,
        "description": f"Does what {name} does.",
        "inputSchema": {"type": "object", "properties": properties},
    }


class Wire:
    """Scripted servers in one test's folder, and what they saw."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def server(self, key: str = "wire", **script: Any) -> StdioServer:
        script.setdefault("tools", [tool("echo")])
        path = self._folder / f"{key}.json"
        path.write_text(json.dumps({**script, "ledger": str(self._ledger(key))}))
        return StdioServer(command=sys.executable, args=[str(WIRE_SERVER), str(path)])

    def rewrite(self, key: str = "wire", **script: Any) -> None:
        """Change what a server that is running answers from now on."""
        path = self._folder / f"{key}.json"
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps({**json.loads(path.read_text()), **script}))
        fresh.replace(path)  # in one step: the server may be reading it

    def _ledger(self, key: str) -> Path:
        return self._folder / f"{key}.ledger"

    def events(self, key: str = "wire") -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._ledger(key).read_text().splitlines()]

    def count(self, method: str, key: str = "wire") -> int:
        return sum(event.get("method") == method for event in self.events(key))

    def starts(self, key: str = "wire") -> int:
        return sum(event["event"] == "start" for event in self.events(key))


@pytest.fixture
def wire(tmp_path: Path) -> Wire:
    return Wire(tmp_path)


def children() -> set[int]:
    """The child processes of this process that have not ended."""
    return {
        int(pid)
        for path in Path("/proc/self/task").glob("*/children")
        for pid in _read(path).split()
        if " Z " not in (_read(Path(f"/proc/{pid}/stat")) or " Z ")
        and "resource_tracker" not in _read(Path(f"/proc/{pid}/cmdline"))
    }


def _read(path: Path) -> str:
    """A file of /proc; threads and processes may end while one looks."""
    try:
        return path.read_text()
    except OSError:
        return ""


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Every test ends the processes that it started."""
    if not Path("/proc/self/task").exists():
        yield
        return
    before = children()
    yield
    left = children() - before
    assert not left, f"child processes left behind: {left}"
