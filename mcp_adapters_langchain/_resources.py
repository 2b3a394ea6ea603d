"""Resources of MCP servers as LangChain's `Blob` and `Document`.

In: a toolbox and which resources, or contents that were read. Out: blobs with everything, or documents
with all that is text. What is no text is no document: it is left out, and the log says so.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document
from langchain_core.documents.base import Blob

from mcp_adapters.resources import Resource, ResourceContents, bytes_of, text_of
from mcp_adapters.spec import BlobResourcePart, TextResourcePart, UnknownPart

if TYPE_CHECKING:
    from mcp_adapters import Toolbox

__all__ = (
    "McpResourceLoader",
    "aload_blobs",
    "aload_documents",
    "load_blobs",
    "load_documents",
    "to_blobs",
    "to_documents",
)

logger = logging.getLogger(__name__)


def load_blobs(
    toolbox: Toolbox, resources: Iterable[Resource | str] | str | None = None, *, server: str | None = None
) -> list[Blob]:
    """Read resources as blobs, of text or of bytes.

    Args:
        toolbox: An open toolbox.
        resources: Addresses, or what `toolbox.list_resources` gave; None means all that are listed.
        server: Whose; None means all servers, or the one that has a resource.

    Returns:
        A blob for each part of each resource, in order. Its metadata has `source` (the address),
        `uri`, `server` and `mime_type`, and the name, title and description of a listed resource.

    Raises:
        ResourceNotFoundError and others: As `Toolbox.read_resource` and `Toolbox.list_resources`.

    """
    chosen = toolbox.list_resources(server=server) if resources is None else _several(resources)
    read = ((one, toolbox.read_resource(one, server=server)) for one in chosen)
    return [blob for resource, contents in read for blob in to_blobs(contents, resource=_listed(resource))]


async def aload_blobs(
    toolbox: Toolbox, resources: Iterable[Resource | str] | str | None = None, *, server: str | None = None
) -> list[Blob]:
    """Read resources as blobs; as `load_blobs`."""
    chosen = await toolbox.alist_resources(server=server) if resources is None else _several(resources)
    read = [(one, await toolbox.aread_resource(one, server=server)) for one in chosen]
    return [blob for resource, contents in read for blob in to_blobs(contents, resource=_listed(resource))]


def load_documents(
    toolbox: Toolbox, resources: Iterable[Resource | str] | str | None = None, *, server: str | None = None
) -> list[Document]:
    """Read resources as documents; arguments and errors as `load_blobs`.

    Returns:
        A document for each part that is text, in order, with metadata as `load_blobs` gives it. Bytes
        whose type says that they are text are decoded.

    """
    return list(McpResourceLoader(toolbox, resources, server=server).lazy_load())


async def aload_documents(
    toolbox: Toolbox, resources: Iterable[Resource | str] | str | None = None, *, server: str | None = None
) -> list[Document]:
    """Read resources as documents; as `load_documents`."""
    loader = McpResourceLoader(toolbox, resources, server=server)
    return [document async for document in loader.alazy_load()]


class McpResourceLoader(BaseLoader):
    """A document loader over the resources of MCP servers, one resource after the other.

    Args:
        toolbox: A toolbox; it must be open when documents are loaded.
        resources: As `load_blobs`.
        server: As `load_blobs`.

    """

    def __init__(
        self,
        toolbox: Toolbox,
        resources: Iterable[Resource | str] | str | None = None,
        *,
        server: str | None = None,
    ) -> None:
        self._toolbox = toolbox
        self._resources = None if resources is None else _several(resources)
        self._server = server

    def lazy_load(self) -> Iterator[Document]:
        """Read and give one document after the other."""
        chosen = self._resources
        for one in self._toolbox.list_resources(server=self._server) if chosen is None else chosen:
            contents = self._toolbox.read_resource(one, server=self._server)
            yield from to_documents(contents, resource=_listed(one))

    async def alazy_load(self) -> AsyncIterator[Document]:
        """Read and give one document after the other."""
        chosen = self._resources
        for one in await self._toolbox.alist_resources(server=self._server) if chosen is None else chosen:
            contents = await self._toolbox.aread_resource(one, server=self._server)
            for document in to_documents(contents, resource=_listed(one)):
                yield document


def to_blobs(contents: ResourceContents, *, resource: Resource | None = None) -> list[Blob]:
    """Make blobs of what was read.

    Args:
        contents: What `Toolbox.read_resource` gave.
        resource: What the listing says of it; None when that is not known.

    """
    blobs = []
    for part in contents.parts:
        if isinstance(part, UnknownPart):
            logger.warning("a part of %r is left out: %s", contents.uri, part.problem)
            continue
        data = part.text if isinstance(part, TextResourcePart) else bytes_of(part)
        blobs.append(Blob(data=data, mimetype=part.mime_type, metadata=_metadata(contents, part, resource)))
    return blobs


def to_documents(contents: ResourceContents, *, resource: Resource | None = None) -> list[Document]:
    """Make documents of what was read, as far as it is text; arguments as `to_blobs`."""
    documents = []
    for part in contents.parts:
        text = text_of(part)
        if text is None or isinstance(part, UnknownPart):
            kind = part.problem if isinstance(part, UnknownPart) else f"{part.mime_type} is no text"
            logger.warning("a part of %r is left out of the documents: %s", contents.uri, kind)
            continue
        documents.append(Document(page_content=text, metadata=_metadata(contents, part, resource)))
    return documents


def _metadata(
    contents: ResourceContents, part: TextResourcePart | BlobResourcePart, resource: Resource | None
) -> dict[str, Any]:
    known: dict[str, Any] = {
        "source": part.uri,
        "uri": part.uri,
        "server": contents.server,
        "mime_type": part.mime_type,
    }
    if resource is not None:
        told = {"name": resource.name, "title": resource.title, "description": resource.description}
        known.update(told)
    return {key: value for key, value in known.items() if value is not None}


def _several(resources: Iterable[Resource | str] | str) -> list[Resource | str]:
    return [resources] if isinstance(resources, str) else list(resources)


def _listed(resource: Resource | str) -> Resource | None:
    return resource if isinstance(resource, Resource) else None
