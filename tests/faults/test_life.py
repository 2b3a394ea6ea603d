"""Calls and toolboxes end in every way that programs end them, on both transports and in both eras."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

from mcp_adapters import ToolboxClosedError, ToolTimeoutError

from .conftest import Faults, until
from .harness import FOR_EVER_S, Era, FaultServer, arguments, gone

Kind: TypeAlias = Literal["stdio", "http"]
everywhere = pytest.mark.parametrize(
    ("transport", "era"), [("stdio", "legacy"), ("stdio", "modern"), ("http", "legacy"), ("http", "modern")]
)


# -- timeouts -----------------------------------------------------------------------------------------


@everywhere
def test_progress_keeps_a_call_alive_for_longer_than_its_timeout(
    servers: Faults, transport: Kind, era: Era
) -> None:
    """Six waits of 0.2 s, under a timeout of 1 s without a sign of life."""
    server = servers(transport, era=era)
    with server.toolbox(call_timeout=1.0) as toolbox:
        assert server.call(toolbox, "progress", count=6, every=0.2).text == server.calls[0]


@everywhere
def test_progress_that_is_slower_than_the_timeout_does_not_keep_a_call_alive(
    servers: Faults, transport: Kind, era: Era
) -> None:
    server = servers(transport, era=era)
    with server.toolbox(call_timeout=0.3) as toolbox:
        with pytest.raises(ToolTimeoutError) as caught:
            server.call(toolbox, "progress", count=2, every=30)
        assert server.works(toolbox)

    assert (caught.value.server, caught.value.tool, caught.value.timeout) == ("srv", "do", 0.3)


@everywhere
def test_one_call_that_times_out_does_not_touch_the_others(
    servers: Faults, transport: Kind, era: Era
) -> None:
    server = servers(transport, era=era)
    with server.toolbox() as toolbox, ThreadPoolExecutor(1) as thread:
        slow = thread.submit(server.call, toolbox, "late", until="signal")
        assert until(lambda: len(server.calls) == 1)
        with pytest.raises(ToolTimeoutError):
            server.call(toolbox, "hang", timeout=0.2)
        server.signal()
        assert slow.result().text == server.calls[0]


# -- cancellation -------------------------------------------------------------------------------------


def was_cancelled(server: FaultServer) -> bool:
    """Whether the server was told that its last call is no longer wanted."""
    [*_, call] = server.events("message", method="tools/call")
    notices = server.events("message", method="notifications/cancelled")
    return bool(server.events("aborted", id=call["id"])) or any(
        notice["params"]["requestId"] == call["id"] for notice in notices
    )


@everywhere
async def test_cancelling_a_task_cancels_its_call_at_the_server(
    servers: Faults, transport: Kind, era: Era
) -> None:
    server = servers(transport, era=era)
    async with server.toolbox() as toolbox:
        task = asyncio.create_task(toolbox.acall("srv_do", arguments("hang")))
        assert await asyncio.to_thread(until, lambda: len(server.calls) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(until, lambda: was_cancelled(server))
        assert await asyncio.to_thread(server.works, toolbox)

    assert server.starts == 1


@everywhere
async def test_a_timeout_of_the_callers_own_cancels_the_call_at_the_server(
    servers: Faults, transport: Kind, era: Era
) -> None:
    server = servers(transport, era=era)
    async with server.toolbox() as toolbox:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await toolbox.acall("srv_do", arguments("hang"))
        assert await asyncio.to_thread(until, lambda: was_cancelled(server))
        assert await asyncio.to_thread(server.works, toolbox)


@everywhere
async def test_cancelling_half_of_many_calls_leaves_the_other_half(
    servers: Faults, transport: Kind, era: Era
) -> None:
    server = servers(transport, era=era)
    async with server.toolbox() as toolbox:
        given = [arguments("late", until="signal") for _ in range(10)]
        tasks = [asyncio.create_task(toolbox.acall("srv_do", each)) for each in given]
        assert await asyncio.to_thread(until, lambda: len(server.calls) == 10)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.wait(tasks[::2])
        server.signal()
        kept = await asyncio.gather(*tasks[1::2])

    assert [result.text for result in kept] == [each["id"] for each in given[1::2]]
    assert all(task.cancelled() for task in tasks[::2])


# -- closing ------------------------------------------------------------------------------------------


@everywhere
def test_closing_under_load_answers_every_call(servers: Faults, transport: Kind, era: Era) -> None:
    server = servers(transport, era=era)
    toolbox = server.toolbox().open()
    with ThreadPoolExecutor(12) as threads:
        calls = [threads.submit(server.call, toolbox, "hang") for _ in range(12)]
        assert until(lambda: len(server.calls) == 12)
        toolbox.close()
        errors = [call.exception(FOR_EVER_S) for call in calls]

    assert {type(error) for error in errors} == {ToolboxClosedError}
    with pytest.raises(ToolboxClosedError):
        server.works(toolbox)


@everywhere
def test_closing_twice_from_any_thread_and_loop_is_closing_once(
    servers: Faults, transport: Kind, era: Era
) -> None:
    server = servers(transport, era=era)
    toolbox = server.toolbox().open()
    tool = toolbox["srv_do"]
    with ThreadPoolExecutor(4) as threads:
        jobs = [threads.submit(toolbox.close) for _ in range(2)]
        jobs += [threads.submit(asyncio.run, toolbox.aclose()) for _ in range(2)]
        for job in jobs:
            job.result(FOR_EVER_S)
    toolbox.close()

    with pytest.raises(ToolboxClosedError):
        tool.call(arguments())
    assert (server.starts, server.calls) == (1, [])


@everywhere
def test_a_toolbox_may_be_closed_before_it_was_opened_and_opened_after_it_was_closed(
    servers: Faults, transport: Kind, era: Era
) -> None:
    server = servers(transport, era=era)
    toolbox = server.toolbox()
    toolbox.close()
    for _ in range(2):
        with toolbox:
            assert server.works(toolbox)

    assert len(server.calls) == 2


def test_closing_while_it_opens_ends_the_opening(servers: Faults) -> None:
    server = servers("stdio", on={"initialize": {"fault": "hang"}})
    toolbox = server.toolbox(connect_timeout=2.0)
    with ThreadPoolExecutor(1) as thread:
        opening = thread.submit(toolbox.open)
        assert until(lambda: server.count("initialize") == 1)
        toolbox.close()
        assert all(map(gone, server.pids()))

    assert type(opening.exception()) is ToolboxClosedError


async def test_cancelling_an_opening_leaves_no_process(servers: Faults, impatient: None) -> None:
    server = servers("stdio", on={"initialize": {"fault": "hang"}}, at_start="child")
    opening = asyncio.create_task(server.toolbox().aopen())
    assert await asyncio.to_thread(until, lambda: server.count("initialize") == 1)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening

    assert all(map(gone, server.pids() + server.pids("child")))


# -- programs -----------------------------------------------------------------------------------------

HEAD = """
import os, signal, sys, threading, time
from mcp_adapters import HttpServer, StdioServer, Toolbox

ledger = sys.argv[1]

def when_called(act):
    def watch():
        while '"tools/call"' not in open(ledger).read():
            time.sleep(0.01)
        act()
    threading.Thread(target=watch, daemon=True).start()

toolbox = Toolbox({"srv": SERVER}, call_timeout=20)
"""


def program(server: FaultServer, body: str) -> subprocess.CompletedProcess[str]:
    """Run a script that has `toolbox`, not yet open, and wait for its end."""
    config: Any = server.config()
    made = (
        f"StdioServer(command={config.argv()!r})"
        if hasattr(config, "argv")
        else f"HttpServer(url={config.url!r})"
    )
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-c", HEAD.replace("SERVER", made) + body, str(server.ledger)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


ENDINGS = {
    "after a call": "print(toolbox.open().call('srv_do', {'id': 'x'}).text)",
    "while a thread calls": (
        "toolbox.open()\n"
        "called = threading.Event()\n"
        "when_called(called.set)\n"
        "threading.Thread(target=toolbox.call, args=('srv_do', {'id': 'x', 'fault': 'hang'}), daemon=True).start()\n"
        "called.wait(); print('x')"
    ),
    "from within the block": (
        "with toolbox:\n    print(toolbox.call('srv_do', {'id': 'x'}).text)\n    sys.exit(0)"
    ),
    "in an event loop": (
        "import asyncio\n"
        "async def main():\n"
        "    await toolbox.aopen()\n"
        "    print((await toolbox.acall('srv_do', {'id': 'x'})).text)\n"
        "asyncio.run(main())"
    ),
}


@pytest.mark.parametrize(
    ("transport", "ending"),
    [*(("stdio", ending) for ending in ENDINGS), ("http", "after a call"), ("http", "while a thread calls")],
)
def test_a_program_may_end_without_closing(servers: Faults, transport: Kind, ending: str) -> None:
    """It ends at once, says nothing, and its server ends with it."""
    server = servers(transport)
    done = program(server, ENDINGS[ending])

    assert (done.returncode, done.stdout, done.stderr) == (0, "x\n", "")
    if transport == "stdio":
        assert all(map(gone, server.pids()))


INTERRUPTED = """
with toolbox:
    when_called(lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        toolbox.call("srv_do", {"id": "first", "fault": "hang"})
    except KeyboardInterrupt:
        print("interrupted")
    print(toolbox.call("srv_do", {"id": "second"}).text)
"""


@everywhere
def test_an_interrupt_cancels_a_blocking_call_and_leaves_the_connection_usable(
    servers: Faults, transport: Kind, era: Era
) -> None:
    server = servers(transport, era=era)
    done = program(server, INTERRUPTED)

    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\nsecond\n", "")
    first = server.events("message", call="first")[0]
    notices = server.events("message", method="notifications/cancelled")
    aborted = server.events("aborted", id=first["id"])
    assert aborted or [notice["params"]["requestId"] for notice in notices] == [first["id"]]
    assert (server.starts, server.calls) == (1, ["first", "second"])


def test_an_interrupt_that_nobody_catches_ends_the_program_and_its_server(servers: Faults) -> None:
    server = servers("stdio")
    body = (
        "with toolbox:\n"
        "    when_called(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "    toolbox.call('srv_do', {'id': 'x', 'fault': 'hang'})\n"
    )
    done = program(server, body)

    assert done.returncode == -signal.SIGINT
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert all(map(gone, server.pids()))


def test_a_program_that_is_killed_takes_its_server_with_it(servers: Faults) -> None:
    """The server sees the end of its input."""
    server = servers("stdio")
    done = program(server, "toolbox.open()\nos.kill(os.getpid(), signal.SIGKILL)")

    assert done.returncode == -signal.SIGKILL
    assert all(map(gone, server.pids()))
