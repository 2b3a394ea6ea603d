"""A transport without a wire: messages of JSON-RPC in this process.

In: a function that hears each message of the client and may say something. Out: the pair of streams that
the SDK's sessions speak over. Every request is heard in a task of its own, as by a server that works on
several at once.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeAlias

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

__all__ = ("Hear", "Say", "spoken", "tapped")

Say: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]
Hear: TypeAlias = Callable[[dict[str, Any], Say], Awaitable[bool]]
"""Hears one message; False ends the connection."""
Note: TypeAlias = Callable[[dict[str, Any]], None]


def to_json(message: SessionMessage) -> dict[str, Any]:
    """A message of the SDK as the JSON that goes over a wire."""
    written: dict[str, Any] = message.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
    return written


def to_message(message: dict[str, Any]) -> SessionMessage:
    """JSON of a wire as a message of the SDK; only the envelope is looked at."""
    return SessionMessage(jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message}))


@contextmanager
def _pipes() -> Iterator[tuple[Any, Any, Any, Any]]:
    """To the client, from the server, to the server, from the client; all closed at the end."""
    to_client, from_server = anyio.create_memory_object_stream[Any](math.inf)
    to_server, from_client = anyio.create_memory_object_stream[Any](math.inf)
    ends = (to_client, from_server, to_server, from_client)
    try:
        yield ends
    finally:
        for end in ends:
            end.close()


@asynccontextmanager
async def spoken(hear: Hear) -> AsyncIterator[tuple[Any, Any]]:
    """Give the client's ends of a connection whose other end is `hear`."""
    with _pipes() as (to_client, from_server, to_server, from_client):

        async def say(message: dict[str, Any]) -> None:
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await to_client.send(to_message(message))

        async def heard(message: dict[str, Any]) -> None:
            if not await hear(message, say):
                to_client.close()

        async with anyio.create_task_group() as tasks:

            async def listen() -> None:
                async for message in from_client:
                    tasks.start_soon(heard, to_json(message))

            tasks.start_soon(listen)
            yield from_server, to_server
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def tapped(
    streams: tuple[Any, Any], inward: Note, outward: Note, ended: Callable[[], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """Give streams like the given ones, through which every message of both directions is noted.

    Args:
        streams: What comes from the server, and what goes to it.
        inward: Notes what comes from the server.
        outward: Notes what goes to it.
        ended: Notes that the server ended the connection.

    """
    received, sent = streams
    with _pipes() as (to_client, from_server, to_server, from_client):

        async def come() -> None:
            async with to_client:
                async for message in received:
                    if not isinstance(message, Exception):
                        inward(to_json(message))
                    await to_client.send(message)
                ended()

        async def go() -> None:
            async for message in from_client:
                outward(to_json(message))
                await sent.send(message)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(come)
            tasks.start_soon(go)
            yield from_server, to_server
            tasks.cancel_scope.cancel()
