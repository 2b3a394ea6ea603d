"""The library server over both transports and in both eras of the protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from mcp_adapters import HttpServer, StdioServer, Toolbox

from ..web import Web
from . import library

Protocol = Literal["legacy", "2026-07-28"]


def library_server(protocol: Protocol) -> StdioServer:
    """The library as a process of its own."""
    return StdioServer(command=sys.executable, args=[str(Path(library.__file__))], protocol=protocol)


@pytest.fixture(params=["legacy", "2026-07-28"])
def protocol(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(
    scope="package", params=["stdio legacy", "stdio 2026-07-28", "http legacy", "http 2026-07-28"]
)
def lib(request: pytest.FixtureRequest) -> Iterator[Toolbox]:
    """An open toolbox of the library, the same for all tests that change nothing."""
    transport, protocol = request.param.split()
    if transport == "stdio":
        with Toolbox({"lib": library_server(protocol)}) as toolbox:
            yield toolbox
    else:
        with Web(lambda _: library.make().streamable_http_app()) as web:
            with Toolbox({"lib": HttpServer(url=web.mcp, protocol=protocol)}) as toolbox:
                yield toolbox
