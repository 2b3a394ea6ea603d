"""Start a server where its description says: plainly, or inside a sandbox, after what must be done before.

In: a stdio server. Out: the command, variables and folder to start it with; and its installation, carried
out once. An installation that is cancelled or takes too long is ended with all that it started.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from subprocess import PIPE, STDOUT

import anyio
from mcp.client.stdio import get_default_environment

from mcp_adapters._stdio import STDERR_TAIL, end_group
from mcp_adapters.config import StdioServer
from mcp_adapters.config.masking import mask
from mcp_adapters.errors import SandboxError, ServerStartError

__all__ = ("Command", "Workshop")


@dataclass(frozen=True, slots=True)
class Command:
    """What a process is started with."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str | None


class Workshop:
    """Makes one server ready to be started, again and again.

    Args:
        key: The server's key.
        server: Its description.

    """

    def __init__(self, key: str, server: StdioServer) -> None:
        self._key = key
        self._server = server

    async def ready(self) -> Command:
        """Install what has to be installed, once, and give the command that starts the server.

        Raises:
            SandboxError: The program that makes the sandbox is not on this machine.
            ServerStartError: The installation failed; it is tried again the next time.

        """
        server = self._server
        self._require_executable()
        if server.install is not None:
            done = _installation(server)
            async with done.lock:
                if not done.succeeded:
                    await self._install()
                    done.succeeded = True
        return self._inside(server.argv(), server.environment(), server.cwd)

    def _require_executable(self) -> None:
        sandbox = self._server.sandbox
        if sandbox is None or shutil.which(sandbox.executable) is not None:
            return
        there = [kind for kind, name in _EXECUTABLES.items() if shutil.which(name) is not None]
        raise SandboxError(
            f"server {self._key!r} is to run in a sandbox of the kind {sandbox.type!r}, which needs the "
            f"program {sandbox.executable!r}; it was not found. Kinds that this machine has: "
            f"{', '.join(there) or 'none'}",
            server=self._key,
        )

    def _inside(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: str | None, *, network: bool = False
    ) -> Command:
        sandbox = self._server.sandbox
        if sandbox is None:
            return Command(argv, env, cwd)
        if network:
            sandbox = sandbox.model_copy(update={"network": True})
        return Command(sandbox.wrap(argv, cwd=cwd, env=env), env, None)

    async def _install(self) -> None:
        install = self._server.install
        assert install is not None
        env = {**self._server.environment(), **install.environment()}
        command = self._inside(install.argv(), env, install.cwd or self._server.cwd, network=install.network)
        tail = bytearray()
        code: int | None = None
        try:
            with anyio.move_on_after(install.timeout):
                code = await _run(command, tail)
        except OSError as error:
            raise self._failed(f"cannot be started: {error.strerror}", bytes(tail), None) from error
        if code is None:
            raise self._failed(f"took longer than {install.timeout:g} s", bytes(tail), None)
        if code != 0:
            raise self._failed(f"ended with exit code {code}", bytes(tail), code)

    def _failed(self, what: str, tail: bytes, code: int | None) -> ServerStartError:
        install = self._server.install
        secrets = [] if install is None else [one for one in install.secret_values() if len(one) >= 4]
        said = mask(self._server.redact(tail.decode("utf-8", "replace").strip()), secrets)
        command = "" if install is None else install.command
        message = f"the installation of server {self._key!r} ({command!r}) {what}"
        return ServerStartError(
            f"{message}; it said:\n{said}" if said else message, server=self._key, stderr=said, exit_code=code
        )


@dataclass(slots=True)
class _Installation:
    """Whether one description's installation was done; whoever carries it out holds the lock."""

    server: StdioServer
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    succeeded: bool = False


_installations: list[_Installation] = []
"""Of this process; equal descriptions share one."""


def _installation(server: StdioServer) -> _Installation:
    for one in _installations:
        if one.server == server:
            return one
    _installations.append(_Installation(server))
    return _installations[-1]


_EXECUTABLES = {"bubblewrap": "bwrap", "docker": "docker", "podman": "podman"}


async def _run(command: Command, tail: bytearray) -> int:
    """Run a command to its end and keep the last of what it says; ends all of it when it is given up."""
    process = await anyio.open_process(
        list(command.argv),
        stdin=None,
        stdout=PIPE,
        stderr=STDOUT,
        env={**get_default_environment(), **command.env},
        cwd=command.cwd,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        async for piece in process.stdout:
            tail += piece
            del tail[:-STDERR_TAIL]
        return await process.wait()
    finally:
        with anyio.CancelScope(shield=True):
            await end_group(process)
