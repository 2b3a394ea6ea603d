"""The contract of a framework package, and how a framework is found by its name.

In: a name such as "langchain". Out: the `Framework` that an installed distribution offers under it
in the entry-point group `mcp_adapters.frameworks`. The built-in packages use the same door as
everybody else. A framework is imported only when it is asked for, and a broken package harms
nobody who does not ask for it.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, TypeVar

from mcp_adapters.errors import (
    DuplicateFrameworkError,
    FrameworkError,
    FrameworkNotInstalledError,
    UnknownFrameworkError,
)
from mcp_adapters.spec import Tool

__all__ = ("GROUP", "RESERVED_NAMES", "Framework", "available", "load")

GROUP = "mcp_adapters.frameworks"
"""The entry-point group; each entry point names a `Framework` object, or a callable that makes one."""

RESERVED_NAMES = ("handoff",)
"""Tool names that a framework keeps for itself: LlamaIndex's agents hand over to each other with this one."""

NativeT_co = TypeVar("NativeT_co", covariant=True)


class Framework(Protocol[NativeT_co]):
    """What a framework package offers."""

    @property
    def name(self) -> str:
        """The name under which users ask for it."""
        ...

    def wrap(self, tool: Tool, **options: Any) -> NativeT_co:
        """Make a native tool of the framework that calls `tool`.

        Args:
            tool: A tool of an open toolbox.
            options: The framework's own, as given to `Toolbox.to`.

        """
        ...


def available() -> tuple[str, ...]:
    """The names that installed distributions offer, sorted."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def load(name: str) -> Framework[Any]:
    """The framework of that name.

    Raises:
        UnknownFrameworkError: No installed distribution offers it.
        DuplicateFrameworkError: Two distributions offer it.
        FrameworkNotInstalledError: Its package lacks the framework; the message has the line for pip.
        FrameworkError: Its package cannot be imported for another reason.

    """
    found = _offers(name)
    if not found:
        offered = ", ".join(map(repr, available())) or "none"
        raise UnknownFrameworkError(
            f"no installed package offers the framework {name!r}; there is: {offered}",
            framework=name,
            available=available(),
        )
    if len(found) > 1:
        owners = " and ".join(sorted(found))
        raise DuplicateFrameworkError(
            f"the framework {name!r} is offered by {owners}; uninstall all but one of them", framework=name
        )
    [(owner, point)] = found.items()
    return _imported(point, owner)


def _offers(name: str) -> dict[str, EntryPoint]:
    """Distribution -> its entry point of that name; one distribution seen twice counts once."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP, name=name):
        owner = point.dist.name if point.dist is not None else point.value
        found.setdefault(owner, point)
    return found


def _imported(point: EntryPoint, owner: str) -> Framework[Any]:
    try:
        framework = point.load()
    except ModuleNotFoundError as error:
        raise FrameworkNotInstalledError(
            f"the framework {point.name!r} needs the module {error.name!r}, which is not installed; "
            f"run: {_pip_line(point, owner)}",
            framework=point.name,
        ) from error
    except Exception as error:
        raise FrameworkError(
            f"the package {owner!r} that offers the framework {point.name!r} cannot be imported: {error}",
            framework=point.name,
        ) from error
    made: Framework[Any] = framework() if isinstance(framework, type) else framework
    return made


def _pip_line(point: EntryPoint, owner: str) -> str:
    """What to install: the distribution's extra of that name when it has one, else the distribution."""
    extras = point.dist.metadata.get_all("Provides-Extra") if point.dist is not None else None
    wanted = f"{owner}[{point.name}]" if point.name in (extras or ()) else owner
    return f'pip install "{wanted}"'
