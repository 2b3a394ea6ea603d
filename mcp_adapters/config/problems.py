"""What is wrong with a configuration, as values and as one error.

In: the places and the sentences. Out: `ConfigProblem` values and the `ConfigError` that lists them
all. No value of a configuration enters a problem, only names: keys, fields, variables, paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_adapters.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ("ConfigProblem", "config_error")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigProblem:
    """One thing that is wrong with a configuration."""

    message: str
    """What is wrong and what to do, without the place and without any configured value."""
    source: str | None = None
    """The file, or the class of a server that was made in Python; None for a parsed configuration."""
    server: str | None = None
    """The server's key; None when no single server is meant."""
    field: str | None = None
    """The field as the configuration spells it, such as `env.TOKEN` or `args[2]`; None for all of it."""

    def __str__(self) -> str:
        places = (
            None if self.source is None else repr(self.source),
            None if self.server is None else f"server {self.server!r}",
            None if self.field is None else f"field {self.field!r}",
        )
        place = ", ".join(filter(None, places))
        return f"{place}: {self.message}" if place else self.message


def config_error(problems: Iterable[ConfigProblem]) -> ConfigError:
    """Make the one error that lists every problem, in the given order.

    Its `server` is set when all problems are of one server.
    """
    found = tuple(problems)
    servers = {problem.server for problem in found}
    server = next(iter(servers)) if len(servers) == 1 else None
    if len(found) == 1:
        return ConfigError(str(found[0]), problems=found, server=server)
    lines = "".join(f"\n- {problem}" for problem in found)
    return ConfigError(f"the configuration has {len(found)} problems:{lines}", problems=found, server=server)
