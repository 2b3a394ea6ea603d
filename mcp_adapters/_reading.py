"""Ask one server for what it offers besides tools.

In: a connection. Out: frozen values of `resources` and `prompts`, or an error of the family. Entries that
cannot be read are left out and logged; nothing is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Protocol, TypeVar

from mcp_types import ReadResourceRequest, ReadResourceRequestParams

from mcp_adapters._connection import Connection
from mcp_adapters.prompts import Prompt, read_prompts
from mcp_adapters.resources import (
    Resource,
    ResourceContents,
    ResourceTemplate,
    read_contents,
    read_resources,
    read_templates,
)

__all__ = ("Lister", "list_prompts", "list_resources", "list_templates", "read_resource")

logger = logging.getLogger(__name__)

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Lister(Protocol[T_co]):
    """Lists one kind of thing at one server."""

    async def __call__(self, connection: Connection, /) -> tuple[T_co, ...]:
        """Everything of that kind, in the server's order."""
        ...


async def list_resources(
    connection: Connection, headers: Mapping[str, str] | None = None
) -> tuple[Resource, ...]:
    """The resources that one server lists."""
    return _told(read_resources(connection.key, await connection.offered("resources", headers)))


async def list_templates(connection: Connection) -> tuple[ResourceTemplate, ...]:
    """The resource templates that one server lists."""
    return _told(read_templates(connection.key, await connection.offered("resource templates")))


async def list_prompts(connection: Connection) -> tuple[Prompt, ...]:
    """The prompts that one server lists."""
    return _told(read_prompts(connection.key, await connection.offered("prompts")))


def _told(read: tuple[tuple[T, ...], tuple[str, ...]]) -> tuple[T, ...]:
    values, problems = read
    for problem in problems:
        logger.warning("%s", problem)
    return values


async def read_resource(
    connection: Connection,
    uri: str,
    timeout: float | None = None,
    headers: Mapping[str, str] | None = None,
) -> ResourceContents:
    """Read one resource of one server; errors as `Connection.read`."""
    request = ReadResourceRequest(params=ReadResourceRequestParams(uri=uri))
    answer = await connection.read(request, timeout=timeout, headers=headers)
    return read_contents(connection.key, uri, answer)
