"""One MCP server as a child process, spoken to over its standard input and output.

In: a command. Out: a transport for the SDK (a pair of message streams), the tail of what the
process wrote to standard error, and its exit code. The process leads a process group of its own;
leaving the transport ends the whole group, in bounded time, whatever the process does.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from subprocess import PIPE
from typing import TypeAlias

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

__all__ = ("STDERR_TAIL", "ChildProcess", "end_group")

logger = logging.getLogger(__name__)

STDERR_TAIL = 8 * 1024
"""Bytes of standard error that are kept."""
EXIT_GRACE_S = 2.0
"""How long a server may take to end by itself once its input is closed."""
TERM_GRACE_S = 2.0
"""How long a server may take to end once it got SIGTERM."""
_PIPE_GRACE_S = 0.5
_POLL_S = 0.01

_Reader: TypeAlias = MemoryObjectReceiveStream[SessionMessage | Exception]
_Writer: TypeAlias = MemoryObjectSendStream[SessionMessage]


class ChildProcess:
    """The process of one server, for one life of its connection.

    Args:
        command: The program and its arguments.
        env: Variables to add to the minimal environment that a child gets.
        cwd: Its working directory; None means this process's.
        label: What to call the server in the log.

    """

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: str | None, label: str
    ) -> None:
        self._command = list(command)
        self._env = {**get_default_environment(), **env}
        self._cwd = cwd
        self._label = label
        self._process: Process | None = None
        self._tail = bytearray()
        self._writing = False
        self._noise = 0

    @property
    def stderr(self) -> str:
        """The last of what the process wrote to standard error; at most 8 KiB."""
        return self._tail.decode("utf-8", "replace").strip()

    @property
    def exit_code(self) -> int | None:
        """Exit status, or minus the signal that ended it; None while it runs or never ran."""
        return None if self._process is None else self._process.returncode

    @property
    def stuck(self) -> bool:
        """Whether a message is waiting to be read by the process, whose pipe is full."""
        return self._writing

    @property
    def pid(self) -> int | None:
        """The process's id; None when it never ran."""
        return None if self._process is None else self._process.pid

    @contextlib.asynccontextmanager
    async def transport(self) -> AsyncGenerator[tuple[_Reader, _Writer]]:
        """Start the process and carry messages; leaving ends the process and all its children.

        Raises:
            OSError: The process cannot be started.

        """
        process = self._process = await anyio.open_process(
            self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._env,
            cwd=self._cwd,
            start_new_session=True,
        )
        # From here to the task group nothing may await, or a cancellation would leak the process.
        to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, process, to_session)
            tasks.start_soon(self._write, process, from_session, to_session)
            tasks.start_soon(self._drain, process)
            try:
                yield from_server, to_server
            finally:
                with anyio.CancelScope(shield=True):
                    from_server.close()
                    to_server.close()
                    await _end(process)
                tasks.cancel_scope.cancel()
        for stream in (to_session, from_session):
            stream.close()

    async def _read(
        self, process: Process, to_session: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        assert process.stdout is not None
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async with to_session, contextlib.aclosing(_lines(process.stdout)) as lines:
                async for line in lines:
                    message = self._parse(line)
                    if message is not None:
                        await to_session.send(SessionMessage(message))
        # Nobody listens any more, but a server that cannot write cannot end by itself.
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async for _ in process.stdout:
                pass

    async def _write(
        self,
        process: Process,
        from_session: MemoryObjectReceiveStream[SessionMessage],
        to_session: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        assert process.stdin is not None
        try:
            async with from_session:
                async for item in from_session:
                    text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    self._writing = True
                    await process.stdin.send(text.encode() + b"\n")
                    self._writing = False
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            # The server no longer reads: let the session see the end instead of waiting for answers.
            to_session.close()

    async def _drain(self, process: Process) -> None:
        """Keep standard error flowing: a full or closed pipe stops some servers."""
        assert process.stderr is not None
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async for chunk in process.stderr:
                self._tail += chunk
                del self._tail[:-STDERR_TAIL]

    def _parse(self, line: bytes) -> JSONRPCMessage | None:
        """One message, or None for noise; text that a print left in front of a message is cut off."""
        start = max(line.find(b'{"'), 0)
        for candidate in (line, line[start:]) if start else (line,):
            with contextlib.suppress(ValueError):
                text = candidate.decode("utf-8", "replace")
                return jsonrpc_message_adapter.validate_json(text, by_name=False)
        if line.strip():
            self._noise += 1
            if self._noise == 1:
                logger.debug(
                    "server %r writes text that is no message to its standard output; ignored", self._label
                )
        return None


async def _lines(stream: ByteReceiveStream) -> AsyncGenerator[bytes]:
    """Split a byte stream at newlines; the rest after the last newline is dropped."""
    pending: list[bytes] = []
    async for chunk in stream:
        *complete, rest = chunk.split(b"\n")
        for line in complete:
            pending.append(line)
            yield b"".join(pending)
            pending.clear()
        if rest:
            pending.append(rest)


async def _end(process: Process) -> None:
    """Close the input, wait, then end the whole group.

    Source: MCP 2025-11-25, basic/lifecycle, "Shutdown"; the times are ours.
    """
    assert process.stdin is not None
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    if not await _ended(process, EXIT_GRACE_S):
        _signal_group(process, signal.SIGTERM)
        await _ended(process, TERM_GRACE_S)
    # Also after a clean exit: what the server started must not outlive it.
    await end_group(process)


async def end_group(process: Process) -> None:
    """End the whole group of a process at once, also when the process itself has ended."""
    _signal_group(process, signal.SIGKILL)
    await _ended(process, TERM_GRACE_S)
    with anyio.move_on_after(_PIPE_GRACE_S):
        await process.aclose()


async def _ended(process: Process, seconds: float) -> bool:
    """Wait for the exit status by polling: `wait()` also waits for pipes that children hold open."""
    with anyio.move_on_after(seconds):
        while process.returncode is None:  # noqa: ASYNC110 - there is no event that children cannot delay
            await anyio.sleep(_POLL_S)
    return process.returncode is not None


def _signal_group(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
