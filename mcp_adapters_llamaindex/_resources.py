"""Resources of MCP servers as LlamaIndex documents.

In: a toolbox and which resources, or contents that were read. Out: a `Document` for text and an
`ImageDocument` for an image. All other bytes are left out, and the log says so.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from llama_index.core.schema import Document, ImageDocument

from mcp_adapters.parts import media_type
from mcp_adapters.resources import Resource, ResourceContents, text_of
from mcp_adapters.spec import BlobResourcePart, TextResourcePart, UnknownPart

if TYPE_CHECKING:
    from mcp_adapters import Toolbox

__all__ = ("aload_documents", "load_documents", "to_documents")

logger = logging.getLogger(__name__)


def load_documents(
    toolbox: Toolbox, resources: Iterable[Resource | str] | str | None = None, *, server: str | None = None
) -> list[Document]:
    """Read resources as documents.

    Args:
        toolbox: An open toolbox.
        resources: Addresses, or what `toolbox.list_resources` gave; None means all that are listed.
        server: Whose; None means all servers, or the one that has a resource.

    Returns:
        A document for each part that is text or an image, in order. Bytes whose type says that they are
        text are decoded. The id of a document is made of the server's key and the address, so that
        reading again brings the same ids; its metadata has `uri`, `server` and `mime_type`, and the
        name, title and description of a listed resource.

    Raises:
        ResourceNotFoundError and others: As `Toolbox.read_resource` and `Toolbox.list_resources`.

    """
    chosen = toolbox.list_resources(server=server) if resources is None else _several(resources)
    read = [(one, toolbox.read_resource(one, server=server)) for one in chosen]
    return _documents(read)


async def aload_documents(
    toolbox: Toolbox, resources: Iterable[Resource | str] | str | None = None, *, server: str | None = None
) -> list[Document]:
    """Read resources as documents; as `load_documents`."""
    chosen = await toolbox.alist_resources(server=server) if resources is None else _several(resources)
    read = [(one, await toolbox.aread_resource(one, server=server)) for one in chosen]
    return _documents(read)


def _documents(read: Iterable[tuple[Resource | str, ResourceContents]]) -> list[Document]:
    listed = ((one if isinstance(one, Resource) else None, contents) for one, contents in read)
    return [
        document for resource, contents in listed for document in to_documents(contents, resource=resource)
    ]


def to_documents(contents: ResourceContents, *, resource: Resource | None = None) -> list[Document]:
    """Make documents of what was read.

    Args:
        contents: What `Toolbox.read_resource` gave.
        resource: What the listing says of it; None when that is not known.

    """
    documents: list[Document] = []
    seen: dict[str, int] = {}
    for part in contents.parts:
        if isinstance(part, UnknownPart):
            logger.warning("a part of %r is left out of the documents: %s", contents.uri, part.problem)
            continue
        number = seen[part.uri] = seen.get(part.uri, 0) + 1
        facts = {
            "id_": f"{contents.server}:{part.uri}" + (f"#{number}" if number > 1 else ""),
            "metadata": _metadata(contents, part, resource),
        }
        made = _document(part, facts)
        if made is None:
            why = f"{part.mime_type} is neither text nor an image"
            logger.warning("a part of %r is left out of the documents: %s", contents.uri, why)
            continue
        documents.append(made)
    return documents


def _document(part: TextResourcePart | BlobResourcePart, facts: dict[str, Any]) -> Document | None:
    if (text := text_of(part)) is not None:
        return Document(text=text, **facts)
    kind = media_type(part.mime_type)
    if isinstance(part, BlobResourcePart) and part.blob and kind.startswith("image/"):
        return ImageDocument(image=part.blob, image_mimetype=kind, **facts)
    return None


def _metadata(
    contents: ResourceContents, part: TextResourcePart | BlobResourcePart, resource: Resource | None
) -> dict[str, Any]:
    known = {"uri": part.uri, "server": contents.server, "mime_type": part.mime_type}
    if resource is not None:
        told = {"name": resource.name, "title": resource.title, "description": resource.description}
        known.update(told)
    return {key: value for key, value in known.items() if value is not None}


def _several(resources: Iterable[Resource | str] | str) -> list[Resource | str]:
    return [resources] if isinstance(resources, str) else list(resources)
