"""Where a server's process may run: what it sees of this machine, and what it may do.

In: plain values, from code or a configuration. Out: frozen models that turn a command into one that runs
inside. Nothing here starts anything or looks at the machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import Field, field_validator

from .base import ReportingModel, Seconds, SecretText, Text, without_nul

__all__ = ("Bubblewrap", "Container", "Install", "Sandbox", "read_sandbox")

_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/alternatives",
    "/etc/ld.so.cache",
)
"""What programs need to run at all; nothing in it belongs to a person."""
_NETWORK = ("/etc/hosts", "/etc/nsswitch.conf", "/etc/pki", "/etc/resolv.conf", "/etc/ssl")
"""What programs need besides to find other machines and to know them."""


class _Places(ReportingModel):
    executable: ClassVar[str]

    read: tuple[str, ...] = ()
    """Absolute folders and files of this machine that the server may read."""
    write: tuple[str, ...] = ()
    """Absolute folders and files of this machine that the server may change."""
    network: bool = False
    """Whether the server reaches the network, this machine's loopback addresses included."""

    @field_validator("read", "write", mode="before")
    @classmethod
    def _as_texts(cls, value: Any) -> Any:
        if isinstance(value, str | os.PathLike) or not isinstance(value, Iterable):
            raise ValueError("must be a list of paths")
        return tuple(os.fspath(one) if isinstance(one, os.PathLike) else one for one in value)

    @field_validator("read", "write")
    @classmethod
    def _are_absolute(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            if not os.path.isabs(without_nul(one)):  # noqa: PTH117 - a text that is no path of this module
                raise ValueError(f"{one!r} must be absolute")
        return value


class Bubblewrap(_Places):
    """Bubblewrap (`bwrap`): the programs of this machine, read-only, and nothing else of it.

    The server sees the system's folders for programs and libraries (not the rest of `/etc`, no home), a
    `/tmp` of its own that is gone afterwards, no other process and, unless `network` is true, no network. Its
    own files, such as a virtual environment, belong into `read`.
    """

    executable: ClassVar[str] = "bwrap"

    type: Literal["bubblewrap"] = "bubblewrap"

    def wrap(self, argv: Sequence[str], *, cwd: str | None, env: Mapping[str, str]) -> list[str]:
        """Give the command that runs a command inside.

        Args:
            argv: The program and its arguments.
            cwd: Where it starts; None means `/tmp`.
            env: The variables that it gets. Their values are inherited, and not in the command.

        """
        system = (*_SYSTEM, *_NETWORK) if self.network else _SYSTEM
        binds = [("--ro-bind-try", one) for one in system]
        binds += [("--ro-bind", one) for one in self.read]
        binds += [("--bind", one) for one in self.write]
        home = () if "HOME" in env else ("--setenv", "HOME", "/tmp")  # noqa: S108 - the one inside, its own
        return [
            *(self.executable, "--unshare-all", *(("--share-net",) if self.network else ())),
            *("--die-with-parent", "--new-session", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),  # noqa: S108
            *(word for how, one in binds for word in (how, one, one)),
            *("--remount-ro", "/"),
            *("--chdir", cwd or "/tmp", *home, "--", *argv),  # noqa: S108
        ]


class Container(_Places):
    """A container of Docker or Podman, made anew for each start and removed afterwards.

    Its file system cannot be written to, but for a `/tmp` of its own; it has no capabilities and, unless
    `network` is true, no network.
    """

    type: Literal["docker", "podman"] = "docker"
    image: str = Field(min_length=1)
    """The image; it has to be there, or be one that the engine can fetch."""

    @property
    def executable(self) -> str:  # type: ignore[override] # it depends on the type
        """The engine's program."""
        return self.type

    def wrap(self, argv: Sequence[str], *, cwd: str | None, env: Mapping[str, str]) -> list[str]:
        """Give the command that runs a command inside; as `Bubblewrap.wrap`."""
        mounts = [f"type=bind,source={one},target={one},readonly" for one in self.read]
        mounts += [f"type=bind,source={one},target={one}" for one in self.write]
        return [
            *(self.type, "run", "-i", "--rm", "--init", "--read-only", "--tmpfs", "/tmp"),  # noqa: S108
            *("--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *(() if self.network else ("--network", "none")),
            *(word for mount in mounts for word in ("--mount", mount)),
            *(word for name in env for word in ("--env", name)),
            *("--workdir", cwd or "/tmp", self.image, *argv),  # noqa: S108
        ]


Sandbox: TypeAlias = Bubblewrap | Container
"""Where a process may run."""


class Install(ReportingModel):
    """What has to be done before a server starts for the first time, inside of its sandbox if it has one."""

    command: str = Field(min_length=1)
    args: tuple[Text, ...] = ()
    cwd: str | None = None
    """Where it runs; None means where the server starts."""
    env: Mapping[str, SecretText] = Field(default_factory=dict)
    """Added to the server's own variables."""
    timeout: Seconds = 600.0
    network: bool = False
    """Whether it reaches the network also where the server does not."""

    def argv(self) -> list[str]:
        """Give the program and its arguments."""
        return [self.command, *self.args]

    def environment(self) -> dict[str, str]:
        """Give the variables in plain text."""
        return {name: value.get_secret_value() for name, value in self.env.items()}

    def secret_values(self) -> Iterator[str]:
        """Give every secret in plain text, for masking."""
        yield from self.environment().values()


_KINDS: Mapping[str, type[Bubblewrap | Container]] = {
    "bubblewrap": Bubblewrap,
    "docker": Container,
    "podman": Container,
}


def read_sandbox(value: Any) -> Sandbox | None:
    """Read what a configuration says of a sandbox.

    Args:
        value: A model, an object with a `type`, "bubblewrap", or None.

    Raises:
        ValueError: There is no such type, or something of it is unusable.

    """
    described = {"type": value} if isinstance(value, str) else value
    if value is None or isinstance(value, Bubblewrap | Container):
        return value
    if not isinstance(described, Mapping):
        raise ValueError("must be a Bubblewrap, a Container, or an object with a 'type'")
    kind = _KINDS.get(str(described.get("type")))
    if kind is None:
        raise ValueError(f"needs a 'type' of {', '.join(map(repr, _KINDS))}")
    return kind.model_validate(dict(described))
