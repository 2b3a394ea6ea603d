"""Fault servers for the tests, and a look at what is left behind.

Nothing here waits for a time: ends of processes are waited for as events, and everything else has
happened when a call returns. The bounds only keep a broken test from hanging for ever.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

from mcp_adapters._portal import portal

from .harness import FaultServer, HttpFaults, StdioFaults, gone

Faults: TypeAlias = Callable[..., Any]


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Faults]:
    """Makes fault servers: `servers("stdio", "key", **script)`.

    When the test is over no call may have been carried out twice, and no process may be left but
    those that left the server's session.
    """
    made: list[FaultServer] = []

    def make(transport: Literal["stdio", "http"], key: str = "srv", **script: Any) -> FaultServer:
        kind = StdioFaults if transport == "stdio" else HttpFaults
        made.append(kind(tmp_path, key, **script))
        return made[-1]

    yield make
    for server in made:
        server.end()
        assert len(set(server.calls)) == len(server.calls), "a call was carried out twice"
        for pid in (*server.pids(), *(e["pid"] for e in server.events("child", own_session=False))):
            assert gone(pid), f"process {pid} of server {server.key!r} is left"


@pytest.fixture(autouse=True)
def no_open_files() -> Iterator[None]:
    """Every test closes its sockets and pipes."""
    portal()  # its own pair of sockets stays
    before = _open_files()
    yield
    until(lambda: _open_files() <= before)
    assert _open_files() <= before


def _open_files() -> set[str]:
    if not Path("/proc/self/fd").exists():
        return set()
    names = (_target(entry) for entry in Path("/proc/self/fd").iterdir())
    return {name for name in names if name.startswith(("socket:", "pipe:"))}


def _target(entry: Path) -> str:
    try:
        return os.readlink(entry)
    except OSError:
        return ""


def until(true: Callable[[], bool], *, turns: int = 100_000) -> bool:
    """Let the background loop turn until something is true; False if it never is."""
    return any(true() or portal().run(asyncio.sleep, 0) for _ in range(turns)) or true()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment instead of seconds: for the probe, and for servers that do not end by themselves."""
    # How long the SDK waits until a cancellation is written.
    monkeypatch.setattr("mcp.shared.jsonrpc_dispatcher._ABANDON_WRITE_TIMEOUT", 0.1, raising=False)
    monkeypatch.setattr("mcp_adapters._handshake.PROBE_PATIENCE_S", 0.1)
    monkeypatch.setattr("mcp_adapters._stdio.EXIT_GRACE_S", 0.1)
    monkeypatch.setattr("mcp_adapters._stdio.TERM_GRACE_S", 0.1)
