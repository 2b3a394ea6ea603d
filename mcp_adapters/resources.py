"""What servers offer to be read: resources, templates of their addresses, and contents.

In: the pages of a listing and the answer to a read, as parsed JSON of any shape. Out: frozen values, and
one sentence for each entry that could not be read. Nothing here raises because of what a server sent, and
one malformed entry never loses its page.

Source: MCP 2025-11-25 and 2026-07-28, server/resources.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mcp_adapters.parts import base64_of, media_type, read_parts
from mcp_adapters.spec import BlobResourcePart, Part, TextPart, TextResourcePart, UnknownPart
from mcp_adapters.wording import placeholder

__all__ = (
    "Resource",
    "ResourceContents",
    "ResourceTemplate",
    "ResourceUpdated",
    "bytes_of",
    "entries_of",
    "entries_of_contents",
    "optional_size",
    "optional_text",
    "read_contents",
    "read_resources",
    "read_templates",
    "text_of",
)

_TEXT_TYPES = frozenset(
    {
        "application/ecmascript",
        "application/graphql",
        "application/javascript",
        "application/json",
        "application/jsonl",
        "application/ndjson",
        "application/sql",
        "application/toml",
        "application/x-javascript",
        "application/x-ndjson",
        "application/x-sh",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
    }
)
"""Types of text that are not called text; those that end in `+json` and the like are known by that."""
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w.:+-]+)", re.ASCII | re.IGNORECASE)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something that a server lists to be read. Everything but `server` is the server's own word."""

    server: str
    """The server's key in the configuration."""
    uri: str
    name: str
    """The server's name for it; its title or address where it gives none."""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    """In bytes; None when the server does not say."""
    annotations: Mapping[str, Any] | None = field(default=None, hash=False)
    meta: Mapping[str, Any] | None = field(default=None, hash=False)
    raw: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    """The entry as it came over the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTemplate:
    """Addresses of resources with variables in them. Everything but `server` is the server's own word."""

    server: str
    """The server's key in the configuration."""
    uri_template: str
    """By RFC 6570."""
    name: str
    """The server's name for it; its title or the template where it gives none."""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    """Of all resources that fit the template; None when they differ or the server does not say."""
    annotations: Mapping[str, Any] | None = field(default=None, hash=False)
    meta: Mapping[str, Any] | None = field(default=None, hash=False)
    raw: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    """The entry as it came over the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceContents:
    """What was read from one address: one part, or several, such as the files of a folder."""

    server: str
    """The server's key in the configuration."""
    uri: str
    """The address that was asked for; each part has its own."""
    parts: tuple[TextResourcePart | BlobResourcePart | UnknownPart, ...]
    """In the server's order; what could not be read is an `UnknownPart`."""
    raw: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    """The answer as it came over the wire."""

    @property
    def text(self) -> str:
        """All of its text, joined with line breaks; a line such as `[resource ...]` for what is no text."""
        texts = ((part, text_of(part)) for part in self.parts)
        return "\n".join(placeholder(part) if text is None else text for part, text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUpdated:
    """A resource has changed, or may have: read it again."""

    server: str
    """The server's key in the configuration."""
    uri: str
    """The resource that changed; it may lie below the one that was subscribed to."""
    subscribed_uri: str
    after_gap: bool = False
    """True when the server said nothing, but the subscription was interrupted and begins anew now."""


def text_of(part: Part) -> str | None:
    """The text of a part; bytes are decoded where their type says that they are text. None for all else."""
    if isinstance(part, TextPart | TextResourcePart):
        return part.text
    if not isinstance(part, BlobResourcePart) or not _is_text(part.mime_type):
        return None
    charset = _CHARSET.search(part.mime_type or "")
    try:
        return base64.b64decode(part.blob).decode(charset[1] if charset else "utf-8")
    except (LookupError, UnicodeDecodeError):
        return None


def bytes_of(part: Part) -> bytes | None:
    """The bytes of an image, a sound or a resource of bytes; None for all else."""
    data = base64_of(part)
    return None if data is None else base64.b64decode(data)


def _is_text(mime_type: str | None) -> bool:
    kind = media_type(mime_type)
    return kind.startswith("text/") or kind.endswith(("+json", "+xml", "+yaml")) or kind in _TEXT_TYPES


def read_resources(
    server: str, pages: Iterable[Mapping[str, Any]]
) -> tuple[tuple[Resource, ...], tuple[str, ...]]:
    """Read the pages of a `resources/list`.

    Args:
        server: The server's key in the configuration.
        pages: The results as JSON, in order.

    Returns:
        Every entry that has an address, in order, and a sentence for each other entry.

    """
    return entries_of(pages, "resources", lambda entry: _resource(server, entry), server)


def read_templates(
    server: str, pages: Iterable[Mapping[str, Any]]
) -> tuple[tuple[ResourceTemplate, ...], tuple[str, ...]]:
    """Read the pages of a `resources/templates/list`; as `read_resources`."""
    return entries_of(pages, "resourceTemplates", lambda entry: _template(server, entry), server)


def entries_of(
    pages: Iterable[Mapping[str, Any]],
    key: str,
    read: Callable[[Mapping[str, Any]], T | None],
    server: str,
) -> tuple[tuple[T, ...], tuple[str, ...]]:
    """Read every entry of a listing.

    Args:
        pages: The results as JSON, in order.
        key: Where the entries are in a page.
        read: Gives the value of an entry; None when the entry lacks what identifies it.
        server: The server's key, for the sentences.

    Returns:
        The values in order, and a sentence for each entry that gave none.

    """
    values: list[T] = []
    problems: list[str] = []
    listed = (page.get(key) for page in pages)
    for number, entry in enumerate(e for one in listed if isinstance(one, list) for e in one):
        value = read(entry) if isinstance(entry, Mapping) else None
        if value is None:
            problems.append(
                f"entry {number} of the {key} of server {server!r} cannot be read and is left out"
            )
        else:
            values.append(value)
    return tuple(values), tuple(problems)


def _resource(server: str, entry: Mapping[str, Any]) -> Resource | None:
    uri = optional_text(entry, "uri")
    if uri is None:
        return None
    return Resource(server=server, uri=uri, size=optional_size(entry), **_described(entry, uri))


def _template(server: str, entry: Mapping[str, Any]) -> ResourceTemplate | None:
    uri = optional_text(entry, "uriTemplate")
    if uri is None:
        return None
    return ResourceTemplate(server=server, uri_template=uri, **_described(entry, uri))


def _described(entry: Mapping[str, Any], uri: str) -> dict[str, Any]:
    title, annotations, meta = optional_text(entry, "title"), entry.get("annotations"), entry.get("_meta")
    return {
        "name": optional_text(entry, "name") or title or uri,
        "title": title,
        "description": optional_text(entry, "description"),
        "mime_type": optional_text(entry, "mimeType"),
        "annotations": annotations if isinstance(annotations, Mapping) else None,
        "meta": meta if isinstance(meta, Mapping) else None,
        "raw": entry,
    }


def optional_text(entry: Mapping[str, Any], key: str) -> str | None:
    """The member `key` of `entry` where it is text; None when it is anything else or empty."""
    value = entry.get(key)
    return value if isinstance(value, str) and value else None


def optional_size(entry: Mapping[str, Any]) -> int | None:
    """The member `size` where it is a whole number; else None."""
    value = entry.get("size")
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_contents(server: str, uri: str, raw: Mapping[str, Any]) -> ResourceContents:
    """Read the answer to a `resources/read`.

    Args:
        server: The server's key in the configuration.
        uri: The address that was asked for; a part without one of its own gets it.
        raw: The result as parsed JSON. It is kept, not copied.

    """
    parts = tuple(_part(uri, entry) for entry in entries_of_contents(raw))
    return ResourceContents(server=server, uri=uri, parts=parts, raw=raw)


def entries_of_contents(raw: Mapping[str, Any]) -> list[Any]:
    """The entries of an answer to a `resources/read`, one for each part; one without its list counts."""
    contents = raw.get("contents")
    return contents if isinstance(contents, list) else ([] if contents is None else [contents])


def _part(uri: str, entry: Any) -> TextResourcePart | BlobResourcePart | UnknownPart:
    [part] = read_parts([{"type": "resource", "resource": entry}])
    if isinstance(part, TextResourcePart | BlobResourcePart):
        return part if part.uri else replace(part, uri=uri)
    problem = part.problem if isinstance(part, UnknownPart) else ""
    return UnknownPart(raw=entry, problem=problem)
