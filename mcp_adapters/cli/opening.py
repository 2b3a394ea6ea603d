"""Open the servers that a command is about, and hear what there is to say about them.

In: the servers and the choices of the command line. Out: an open toolbox, and the warnings that it
gave, as lines. What the servers' processes and loggers say stays out of the command's output.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp_adapters import Handlers, Toolbox

from .screen import Screen, Starting

__all__ = ("Opened", "opened")


@dataclass(frozen=True, slots=True)
class Opened:
    """An open toolbox and what was said while it opened."""

    toolbox: Toolbox
    warnings: list[str] = field(default_factory=list)


@contextmanager
def opened(servers: str | Mapping[str, Any], screen: Screen, **options: Any) -> Iterator[Opened]:
    """Open a toolbox that leaves out what cannot be used, and close it at the end.

    Args:
        servers: As `Toolbox` takes them.
        screen: Where it is shown that servers start.
        options: Further options of `Toolbox`.

    """
    starting = Starting(screen)
    toolbox = Toolbox(
        servers,
        **{"on_bad_tool": "skip", "on_server_failure": "skip", **options},
        handlers=Handlers(state_changed=starting.state_changed),
    )
    with _heard() as warnings:
        try:
            with starting.shown():
                toolbox.open()
            yield Opened(toolbox, warnings)
        finally:
            toolbox.close()


@contextmanager
def _heard() -> Iterator[list[str]]:
    """Collect the package's warnings instead of printing them."""
    heard: list[str] = []
    logger = logging.getLogger("mcp_adapters")
    listener = _Listener(heard)
    logger.addHandler(listener)
    before, logger.propagate = logger.propagate, False
    try:
        yield heard
    finally:
        logger.propagate = before
        logger.removeHandler(listener)


class _Listener(logging.Handler):
    def __init__(self, heard: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        self._heard.append(record.getMessage())
