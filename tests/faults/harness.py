"""Fault servers as a test or a benchmark holds them: their scripts, their processes, their ledgers.

In: a folder, a key and a script (see `protocol`). Out: what a toolbox takes to reach the server, and
what the server saw. A stdio server's processes belong to the toolbox, an HTTP server's to whoever
made it.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, TypeAlias

from mcp_adapters import HttpServer, StdioServer, Toolbox, ToolResult

Era: TypeAlias = Literal["legacy", "modern"]

HERE = Path(__file__).parent
PYTHON = (sys.executable, "-S", "-E")
"""Without site packages: a fault server is up in a few hundredths of a second."""
FOR_EVER_S = 20.0
"""Only keeps what is broken from hanging for ever."""
VERSION = {"legacy": "2025-11-25", "modern": "2026-07-28"}
FAST = {"call_timeout": 10.0, "connect_timeout": 10.0}
"""Bounds for toolboxes whose test expects no timeout."""

_ids = itertools.count(1)


class FaultServer:
    """One scripted server, its calls and its ledger.

    Args:
        folder: Where its script and ledger are kept.
        key: Its key in the toolbox.
        script: See `protocol`.

    """

    def __init__(self, folder: Path, key: str, **script: Any) -> None:
        self.key = key
        self.era: Era = script.get("era", "legacy")
        self._script = folder / f"{key}.json"
        self.ledger = folder / f"{key}.ledger"
        self._script.write_text(json.dumps({**script, "ledger": str(self.ledger)}))

    def config(self) -> StdioServer | HttpServer:
        """What a toolbox takes."""
        raise NotImplementedError

    def restart(self) -> None:
        """Make sure that a new process can be reached."""

    def end(self) -> None:
        """End what the toolbox does not end."""

    def toolbox(self, **options: Any) -> Toolbox:
        return Toolbox({self.key: self.config()}, **{**FAST, **options})

    def call(
        self, toolbox: Toolbox, fault: str = "none", *, timeout: float | None = None, **options: Any
    ) -> ToolResult:
        """Call `do` with an id of its own."""
        return toolbox.call(f"{self.key}_do", arguments(fault, **options), timeout=timeout)

    def works(self, toolbox: Toolbox) -> bool:
        """Whether a call is answered, and the answer is its own."""
        given = arguments()
        answer = toolbox.call(f"{self.key}_do", given).text
        return answer == str(given["id"])

    def signal(self) -> None:
        """Let the calls that are late until "signal" be answered."""
        os.kill(self.pids()[-1], signal.SIGUSR1)

    def events(self, event: str | None = None, **facts: Any) -> list[dict[str, Any]]:
        """The ledger's entries of one kind, in order."""
        text = self.ledger.read_text() if self.ledger.exists() else ""
        start = json.dumps({"event": event})[:-1] if event else "{"
        entries = [json.loads(line) for line in text.splitlines() if line.startswith(start)]
        wanted = {**({"event": event} if event else {}), **facts}
        return [entry for entry in entries if wanted.items() <= entry.items()]

    def count(self, method: str) -> int:
        return len(self.events("message", method=method))

    @property
    def starts(self) -> int:
        return len(self.events("start"))

    @property
    def calls(self) -> list[str]:
        """The ids of all calls that were carried out, in order."""
        return [entry["call"] for entry in self.events("message", method="tools/call")]

    def pids(self, event: str = "start") -> list[int]:
        return [entry["pid"] for entry in self.events(event)]


class StdioFaults(FaultServer):
    def config(self) -> StdioServer:
        return StdioServer(command=[*PYTHON, str(HERE / "stdio_server.py"), str(self._script)])


class HttpFaults(FaultServer):
    """The same over HTTP; the process is the test's own and listens when this returns."""

    def __init__(self, folder: Path, key: str, **script: Any) -> None:
        super().__init__(folder, key, **script)
        self.port = 0
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        command = [*PYTHON, str(HERE / "http_server.py"), str(self._script), str(self.port)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        with process.stdout as output:
            self.port = int(output.readline() or 0)
        return process

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def config(self) -> HttpServer:
        return HttpServer(url=f"http://127.0.0.1:{self.port}/mcp")

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        """A new process on the same port, which knows nothing of the old one's sessions."""
        self.end()
        self._process = self._started()


def arguments(fault: str = "none", **options: Any) -> dict[str, Any]:
    """Arguments of `do`, with an id that no other call has."""
    return {"id": f"call-{next(_ids)}", **({} if fault == "none" else {"fault": fault}), **options}


def gone(pid: int) -> bool:
    """Whether a process ends; waits for its end as an event."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(FOR_EVER_S * 1000))
    finally:
        os.close(handle)
