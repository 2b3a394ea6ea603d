"""Thousands of calls from threads and tasks, while servers are killed at random; nothing may be lost.

    python benchmarks/soak.py [--seconds 120] [--seed 1]

Four fault servers (both transports, both protocol eras) serve one toolbox. Threads and tasks on
several event loops call them without a pause; another thread kills their processes. It must hold:

- every call is answered with its own answer, or reported with an error of the family, exactly once;
- by the servers' ledgers no call ran twice, and every answered one ran;
- when the killing stops, every server answers again;
- memory and open files stay flat (memory is judged from 30 seconds on), and closing leaves no process.

Prints a table; the exit code is 1 when something does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

# The fault servers live with the tests, which are not installed.
sys.path.insert(0, str(Path(__file__).parents[1]))

from mcp_adapters import McpAdaptersError, Toolbox
from tests.faults.harness import FaultServer, HttpFaults, StdioFaults, arguments, gone

THREADS = 4
LOOPS = 2
TASKS_PER_LOOP = 4
CALL_TIMEOUT_S = 3.0
SETTLING_S = 15.0
"""How long every server may take to answer again, and every caller to return, once the killing stops."""
JUDGED_FROM_S = 30.0
"""Shorter runs are too short to tell growth from warming up."""
GROWTH_BYTES = 12 * 2**20
"""Growth of memory that is still called flat."""

FAULTS: list[tuple[float, str, dict[str, object]]] = [
    (70, "none", {}),
    (8, "late", {"until": 0.05}),
    (6, "progress", {"count": 3, "every": 0.005}),
    (6, "log", {}),
    (4, "twice", {}),
    (3, "error", {}),
    (2, "hang", {}),
    (1, "exit_before", {}),
]
"""What the calls ask for: how often, which fault, its options."""


@dataclass
class Books:
    """What was asked and what came of it; the ids go to a file, so that memory shows leaks alone."""

    file: TextIO
    issued: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def issue(self, server: str) -> None:
        with self._lock:
            self.issued[server] += 1

    def settle(self, server: str, call: str, outcome: str) -> None:
        with self._lock:
            self.outcomes[server, outcome] += 1
            self.file.write(json.dumps([server, call, outcome]) + "\n")

    def violation(self, text: str) -> None:
        with self._lock:
            self.violations.append(text)


class Soak:
    """One run.

    Args:
        toolbox: Open, with the tools of all `servers`.
        servers: By key.
        books: What gets written down.
        seed: Of all random choices.

    """

    def __init__(self, toolbox: Toolbox, servers: dict[str, FaultServer], books: Books, *, seed: int) -> None:
        self._toolbox = toolbox
        self._servers = servers
        self._books = books
        self._seed = seed
        self._over = threading.Event()
        self.kills: Counter[str] = Counter()
        self.samples: list[tuple[int, int]] = []
        """Resident bytes and open files, over time."""

    def run(self, seconds: float) -> None:
        """Call and kill for some seconds, then wait until all callers have returned."""
        callers = [threading.Thread(target=self._thread, args=(n,), daemon=True) for n in range(THREADS)]
        callers += [threading.Thread(target=self._loop, args=(n,), daemon=True) for n in range(LOOPS)]
        killer = threading.Thread(target=self._kill, daemon=True)
        for thread in (*callers, killer):
            thread.start()
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.samples.append((resident_bytes(), open_files()))
            self._over.wait(min(left, 0.2))
        self._over.set()
        killer.join()
        until = time.monotonic() + SETTLING_S
        for thread in callers:
            thread.join(max(0.0, until - time.monotonic()))
        if any(thread.is_alive() for thread in callers):
            self._books.violation("a call neither was answered nor reported")

    def _thread(self, number: int) -> None:
        chance = random.Random(f"{self._seed} thread {number}")
        while not self._over.is_set():
            key, given, timeout = self._choice(chance)
            with self._settling(key, given) as answer:
                answer.append(self._toolbox.call(f"{key}_do", given, timeout=timeout).text)

    def _loop(self, number: int) -> None:
        async def work() -> None:
            await asyncio.gather(*(self._task(f"{number} {task}") for task in range(TASKS_PER_LOOP)))

        while not self._over.is_set():  # tools outlive the loops that use them
            asyncio.run(work())

    async def _task(self, name: str) -> None:
        chance = random.Random(f"{self._seed} task {name} {time.monotonic_ns()}")
        for _ in range(200):
            if self._over.is_set():
                return
            key, given, timeout = self._choice(chance)
            with self._settling(key, given) as answer:
                answer.append((await self._toolbox.acall(f"{key}_do", given, timeout=timeout)).text)

    def _choice(self, chance: random.Random) -> tuple[str, dict[str, object], float]:
        key = chance.choice(list(self._servers))
        [(_, fault, options)] = chance.choices(FAULTS, [weight for weight, *_ in FAULTS])
        return key, arguments(fault, **options), 0.1 if fault == "hang" else CALL_TIMEOUT_S

    @contextlib.contextmanager
    def _settling(self, key: str, given: dict[str, object]) -> Iterator[list[str]]:
        """One call: what the block appends is its answer, what it raises its report."""
        self._books.issue(key)
        call, answer = str(given["id"]), list[str]()
        try:
            yield answer
        except McpAdaptersError as error:
            self._books.settle(key, call, type(error).__name__)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is what must not happen
            self._books.settle(key, call, "violation")
            self._books.violation(f"a call raised {type(error).__name__}: {error}")
        else:
            self._books.settle(key, call, "answered")
            if answer != [call]:
                self._books.violation(f"call {call} got the answer {answer!r}")

    def _kill(self) -> None:
        chance = random.Random(f"{self._seed} killer")
        while not self._over.wait(chance.uniform(0.2, 0.8)):
            key = chance.choice(list(self._servers))
            self.kills[key] += 1
            kill(self._servers[key])
            self._revive()
        self._revive()

    def _revive(self) -> None:
        """Run the HTTP servers again that a call has ended."""
        for server in self._servers.values():
            if isinstance(server, HttpFaults) and not server.running:
                server.restart()

    def recovers(self) -> None:
        """Every server has to answer again."""
        until = time.monotonic() + SETTLING_S
        for key, server in self._servers.items():
            error: McpAdaptersError | None = None
            while time.monotonic() < until:
                try:
                    server.works(self._toolbox)
                    break
                except McpAdaptersError as caught:
                    error = caught
                    time.sleep(0.2)
            else:
                self._books.violation(f"server {key!r} never answers again: {error}")

    def flat(self, seconds: float) -> tuple[float, float]:
        """Growth of memory and open files from the second quarter of the run to the last."""
        quarter = max(1, len(self.samples) // 4)
        early, late = self.samples[quarter : 2 * quarter] or self.samples, self.samples[-quarter:]
        memory, files = (
            statistics.median(sample[n] for sample in late) - statistics.median(sample[n] for sample in early)
            for n in (0, 1)
        )
        if seconds >= JUDGED_FROM_S and memory > GROWTH_BYTES:
            self._books.violation(f"memory grew by {memory / 2**20:.1f} MiB")
        if files > THREADS + LOOPS * TASKS_PER_LOOP:
            self._books.violation(f"{files:g} more files are open than at first")
        return memory, files


def kill(server: FaultServer) -> None:
    """End a server's newest process without a word; an HTTP server is made anew, by whoever runs it."""
    if isinstance(server, HttpFaults):
        server.restart()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.kill(server.pids()[-1], signal.SIGKILL)


def check_ledgers(servers: dict[str, FaultServer], books: Books) -> dict[str, int]:
    """How many calls ran on each server; none may have run twice, and each answered one must have run."""
    books.file.flush()
    answered: dict[str, set[str]] = {key: set() for key in servers}
    settled: Counter[str] = Counter()
    for line in Path(books.file.name).read_text().splitlines():
        key, call, outcome = json.loads(line)
        settled[call] += 1
        if outcome == "answered":
            answered[key].add(call)
    if settled.total() != books.issued.total() or settled.total() != len(settled):
        books.violation(f"{books.issued.total()} calls were issued, {settled.total()} came to an end")
    ran = {key: Counter(server.calls) for key, server in servers.items()}
    for key, calls in ran.items():
        if twice := [call for call, times in calls.items() if times > 1]:
            books.violation(f"{len(twice)} calls ran twice on server {key!r}, such as {twice[0]}")
        if missing := answered[key] - calls.keys():
            books.violation(f"{len(missing)} calls were answered by {key!r} and never ran there")
    return {key: calls.total() for key, calls in ran.items()}


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def table(books: Books, soak: Soak, ran: dict[str, int]) -> None:
    kinds = sorted({outcome for _, outcome in books.outcomes})
    heads: list[object] = ["server", "killed", "issued", "ran", *kinds]
    rows: list[list[object]] = [
        [key, soak.kills[key], books.issued[key], ran[key], *(books.outcomes[key, kind] for kind in kinds)]
        for key in ran
    ]
    widths = [max(len(str(cell)) for cell in column) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        print("  ".join(str(cell).rjust(width) for cell, width in zip(row, widths, strict=True)))


def soak(folder: Path, seconds: float, seed: int) -> list[str]:
    """Run, print, and give what does not hold."""
    servers: dict[str, FaultServer] = {
        "pipe-old": StdioFaults(folder, "pipe-old"),
        "pipe-new": StdioFaults(folder, "pipe-new", era="modern"),
        "http-old": HttpFaults(folder, "http-old"),
        "http-new": HttpFaults(folder, "http-new", era="modern", answers="sse"),
    }
    with (folder / "outcomes").open("w") as file:
        books = Books(file)
        try:
            with Toolbox({key: server.config() for key, server in servers.items()}) as toolbox:
                run = Soak(toolbox, servers, books, seed=seed)
                run.run(seconds)
                run.recovers()
            memory, files = run.flat(seconds)
        finally:
            for server in servers.values():
                server.end()
        ran = check_ledgers(servers, books)
    if left := [pid for server in servers.values() for pid in server.pids() if not gone(pid)]:
        books.violation(f"processes are left: {left}")
    table(books, run, ran)
    rate = books.issued.total() / seconds
    print(f"{books.issued.total()} calls, {rate:.0f} a second; {run.kills.total()} kills")
    print(f"memory {memory / 2**20:+.1f} MiB, open files {files:+g}, from the second quarter to the last")
    return books.violations


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        violations = soak(Path(folder), options.seconds, options.seed)
    for violation in violations:
        print(f"VIOLATION: {violation}")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
