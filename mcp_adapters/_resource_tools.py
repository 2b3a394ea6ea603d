"""Tools that stand for reading a server's resources, in that server's listing like its own.

In: a connection and what its server lists. Out: the listing with more tools in it, and what carries each
of them out. They only read. They are filtered, checked, named and called like all other tools.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

from mcp_adapters._connection import Connection
from mcp_adapters._reading import list_resources, list_templates, read_resource
from mcp_adapters.catalog import Listing
from mcp_adapters.errors import DiscoveryError, RequestError
from mcp_adapters.resources import Resource, ResourceTemplate, entries_of_contents, text_of
from mcp_adapters.spec import BlobResourcePart, ListedTool, Part

__all__ = ("Reader", "Readers", "with_resource_tools")

logger = logging.getLogger(__name__)

Headers: TypeAlias = Mapping[str, str] | None
Reader: TypeAlias = Callable[[Mapping[str, Any], float | None, Headers], Awaitable[dict[str, Any]]]
"""Carries out one tool: from arguments, seconds without a sign of life and headers to a result as JSON."""
Readers: TypeAlias = dict[str, Reader]
"""By the name of the tool."""

_HINTS = {"readOnlyHint": True, "idempotentHint": True}


async def with_resource_tools(connection: Connection, listing: Listing) -> tuple[Listing, Readers]:
    """Add the tools that read a server's resources; none where it says that it has no resources.

    Args:
        connection: An open connection.
        listing: What the server lists. A name in it is never used again.

    Returns:
        The listing with `list_resources`, `read_resource` and a tool for each template at its end, and
        what carries each of them out.

    Raises:
        ConnectError, ConnectionLostError: As `Connection.offered`.

    """
    if (await connection.capabilities()).resources is None:
        return listing, {}
    taken = {tool.name for tool in listing.tools}
    added: list[tuple[dict[str, Any], Reader]] = [_lister(connection, taken), _reader(connection, taken)]
    added += [
        made for template in await _templates(connection) if (made := _filler(connection, template, taken))
    ]
    tools = tuple(
        ListedTool(server=connection.key, name=definition["name"], definition=definition)
        for definition, _ in added
    )
    readers = {definition["name"]: reader for definition, reader in added}
    return replace(listing, tools=(*listing.tools, *tools)), readers


async def _templates(connection: Connection) -> Sequence[ResourceTemplate]:
    try:
        return await list_templates(connection)
    except DiscoveryError as error:
        logger.warning("there are no tools for the templates of server %r: %s", connection.key, error)
        return ()


def _free(wanted: str, taken: set[str]) -> str:
    """A name that no tool of the server has; it is taken then."""
    name = next(n for n in (wanted, *(f"{wanted}_{i}" for i in range(2, len(taken) + 3))) if n not in taken)
    taken.add(name)
    return name


def _lister(connection: Connection, taken: set[str]) -> tuple[dict[str, Any], Reader]:
    async def read(_: Mapping[str, Any], __: float | None, headers: Headers) -> dict[str, Any]:
        try:
            found = [_shown(resource) for resource in await list_resources(connection, headers)]
        except DiscoveryError as error:
            return _failed(error)
        lines = [json.dumps(one, ensure_ascii=False) for one in found]
        text = "\n".join(lines) or "The server lists no resources."
        return {"content": [{"type": "text", "text": text}], "structuredContent": {"resources": found}}

    return {
        "name": _free("list_resources", taken),
        "title": "List resources",
        "description": f"List the resources of {connection.key}: their addresses (URIs) and what they are.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        "annotations": _HINTS,
    }, read


def _shown(resource: Resource) -> dict[str, Any]:
    known = {
        "uri": resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
        "size": resource.size,
    }
    return {key: value for key, value in known.items() if value is not None}


def _reader(connection: Connection, taken: set[str]) -> tuple[dict[str, Any], Reader]:
    async def read(arguments: Mapping[str, Any], timeout: float | None, headers: Headers) -> dict[str, Any]:
        return await _contents(connection, arguments["uri"], timeout, headers)

    return {
        "name": _free("read_resource", taken),
        "title": "Read a resource",
        "description": f"Read one resource of {connection.key} by its address (URI).",
        "inputSchema": {
            "type": "object",
            "properties": {"uri": {"type": "string", "description": "The address, as it was listed"}},
            "required": ["uri"],
            "additionalProperties": False,
        },
        "annotations": _HINTS,
    }, read


def _filler(
    connection: Connection, template: ResourceTemplate, taken: set[str]
) -> tuple[dict[str, Any], Reader] | None:
    """The tool of one template; None, and a warning, for one that cannot be filled in."""
    try:
        parsed = UriTemplate.parse(template.uri_template)
    except InvalidUriTemplate as error:
        logger.warning(
            "there is no tool for the template %r of server %r: %s",
            template.uri_template,
            connection.key,
            error,
        )
        return None

    async def read(arguments: Mapping[str, Any], timeout: float | None, headers: Headers) -> dict[str, Any]:
        return await _contents(connection, parsed.expand(arguments), timeout, headers)

    slug = re.sub(r"[^a-z0-9]+", "_", template.name.lower()).strip("_")
    about = template.description or template.title or template.name
    return {
        "name": _free(f"read_{slug}" if slug else "read_template", taken),
        "title": template.title or template.name,
        "description": f"Read a resource of {connection.key}: {about} (address: {template.uri_template})",
        "inputSchema": _variables(parsed),
        "annotations": _HINTS,
    }, read


def _variables(template: UriTemplate) -> dict[str, Any]:
    """The variables of a template as a schema; those of its query may be left out."""
    text = {"type": "string"}
    optional: Collection[str] = template.query_variable_names
    return {
        "type": "object",
        "properties": {
            variable.name: {"type": "array", "items": text} if variable.explode else text
            for variable in template.variables
        },
        "required": [name for name in dict.fromkeys(template.variable_names) if name not in optional],
        "additionalProperties": False,
    }


async def _contents(
    connection: Connection, uri: str, timeout: float | None, headers: Headers
) -> dict[str, Any]:
    """What is at an address, as a tool's result; a model reads why there is nothing."""
    try:
        contents = await read_resource(connection, uri, timeout, headers)
    except RequestError as error:
        return _failed(error)
    blocks = [
        {"type": "resource", "resource": _readable(part, entry)}
        for part, entry in zip(contents.parts, entries_of_contents(contents.raw), strict=True)
    ]
    return {"content": blocks or [{"type": "text", "text": f"The resource {uri} is empty."}]}


def _readable(part: Part, entry: Any) -> Any:
    """The entry as it came; as text where it holds the bytes of one, which no model can read."""
    text = text_of(part) if isinstance(part, BlobResourcePart) else None
    if text is None:
        return entry
    return {**{key: value for key, value in entry.items() if key != "blob"}, "text": text}


def _failed(error: Exception) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(error)}], "isError": True}
