"""Read the content of a tool's answer part by part.

In: the `content` of a `CallToolResult` as parsed JSON, of any shape. Out: one `Part` for each
entry, in the server's order. Nothing here raises because of what a server sent, and nothing decodes
or re-encodes binary data: its base64 is checked, and its size is computed from the length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mcp_adapters.spec import (
    AudioPart,
    BlobResourcePart,
    ImagePart,
    Part,
    ResourceLinkPart,
    TextPart,
    TextResourcePart,
    UnknownPart,
)

__all__ = (
    "PORTABLE_IMAGE_TYPES",
    "PortableImage",
    "base64_of",
    "decoded_size",
    "looks_like_base64",
    "media_type",
    "portable_image",
    "read_parts",
)

PORTABLE_IMAGE_TYPES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""The image types that the large providers all take; any other type fails a whole request at some."""

_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}", re.ASCII)
_LONGEST_QUOTE = 60


class PortableImage(NamedTuple):
    """An image that every large provider takes."""

    mime_type: str
    """One of `PORTABLE_IMAGE_TYPES`."""
    data: str
    """Base64 without line breaks; never empty."""


class _MalformedError(Exception):
    """A content entry lacks something; the message is the problem in one short phrase."""


def read_parts(content: Any) -> tuple[Part, ...]:
    """Turn the `content` of a result into parts.

    Args:
        content: Normally a list of content entries. Missing content (None) has no parts; a single
            entry without its list counts as a list of one, and a bare string as text.

    Returns:
        One part for each entry, in order. What is malformed or of an unknown kind becomes an
        `UnknownPart` that holds the entry and the problem.

    Source: MCP 2025-11-25, server/tools, "Tool Result".

    """
    if content is None:
        return ()
    return tuple(map(_read_part, content if isinstance(content, list | tuple) else [content]))


def _read_part(entry: Any) -> Part:
    if isinstance(entry, str):
        return TextPart(text=entry)
    if not isinstance(entry, Mapping):
        return UnknownPart(raw=entry, problem="the entry is not an object")
    kind = entry.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        return UnknownPart(raw=entry, problem=f"unknown type {_quoted(kind)}")
    try:
        return reader(entry)
    except _MalformedError as error:
        return UnknownPart(raw=entry, problem=f"{kind}: {error}")


def _quoted(value: Any) -> str:
    if not isinstance(value, str):
        return "that is not a string"
    return repr(value if len(value) <= _LONGEST_QUOTE else value[:_LONGEST_QUOTE] + "...")


def _text(entry: Mapping[str, Any]) -> Part:
    return TextPart(text=_required(entry, "text"), **_extras(entry))


def _image(entry: Mapping[str, Any]) -> Part:
    return ImagePart(data=_media(entry), mime_type=_required(entry, "mimeType"), **_extras(entry))


def _audio(entry: Mapping[str, Any]) -> Part:
    return AudioPart(data=_media(entry), mime_type=_required(entry, "mimeType"), **_extras(entry))


def _resource(entry: Mapping[str, Any]) -> Part:
    resource = entry.get("resource")
    if not isinstance(resource, Mapping):
        raise _MalformedError("'resource' is not an object")
    facts = {**_extras(resource), **_said(_extras(entry))}
    # Without its address the content is still worth reading.
    uri, mime_type = _optional(resource, "uri") or "", _optional(resource, "mimeType")
    if isinstance(resource.get("text"), str):
        return TextResourcePart(uri=uri, text=resource["text"], mime_type=mime_type, **facts)
    return BlobResourcePart(uri=uri, blob=_base64(resource, "blob"), mime_type=mime_type, **facts)


def _resource_link(entry: Mapping[str, Any]) -> Part:
    uri, size = _required(entry, "uri"), entry.get("size")
    return ResourceLinkPart(
        uri=uri,
        name=_optional(entry, "name") or _optional(entry, "title") or uri,
        title=_optional(entry, "title"),
        description=_optional(entry, "description"),
        mime_type=_optional(entry, "mimeType"),
        size=size if isinstance(size, int) and not isinstance(size, bool) else None,
        **_extras(entry),
    )


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Part]] = {
    "text": _text,
    "image": _image,
    "audio": _audio,
    "resource": _resource,
    "resource_link": _resource_link,
}


def _extras(entry: Mapping[str, Any]) -> dict[str, Any]:
    annotations, meta = entry.get("annotations"), entry.get("_meta")
    return {
        "annotations": annotations if isinstance(annotations, Mapping) else None,
        "meta": meta if isinstance(meta, Mapping) else None,
    }


def _said(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if value is not None}


def _required(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str):
        raise _MalformedError(f"'{key}' is not a string" if key in entry else f"'{key}' is missing")
    return value


def _optional(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    return value if isinstance(value, str) else None


def _media(entry: Mapping[str, Any]) -> str:
    data = _base64(entry, "data")
    if not data:
        raise _MalformedError("'data' is empty")
    return data


def _base64(entry: Mapping[str, Any], key: str) -> str:
    data = _required(entry, key)
    if looks_like_base64(data):
        return data
    # Some encoders wrap lines; providers and frameworks take the data for broken then.
    joined = "".join(data.split())
    if not looks_like_base64(joined):
        raise _MalformedError(f"'{key}' is not base64")
    return joined


def looks_like_base64(text: str) -> bool:
    """Whether a text is base64 with the standard alphabet and complete padding.

    Source: RFC 4648, section 4.
    """
    return len(text) % 4 == 0 and _BASE64.fullmatch(text) is not None


def decoded_size(data: str) -> int:
    """How many bytes a valid base64 text stands for, without decoding it."""
    return len(data) // 4 * 3 - data[-2:].count("=")


def base64_of(part: Part) -> str | None:
    """Return the base64 that a part holds; None when it holds none."""
    match part:
        case ImagePart() | AudioPart():
            return part.data
        case BlobResourcePart():
            return part.blob
        case _:
            return None


def media_type(declared: str | None) -> str:
    """Write a MIME type in lower case, without parameters, by its registered name; "" for None."""
    plain = (declared or "").partition(";")[0].strip().lower()
    return "image/jpeg" if plain == "image/jpg" else plain


def portable_image(part: Part) -> PortableImage | None:
    """Find the image in a part, also in an embedded resource; None unless every provider takes it."""
    if not isinstance(part, ImagePart | BlobResourcePart):
        return None
    mime_type, data = media_type(part.mime_type), base64_of(part)
    return PortableImage(mime_type, data) if data and mime_type in PORTABLE_IMAGE_TYPES else None
