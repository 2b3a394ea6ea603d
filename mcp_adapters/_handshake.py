"""Which protocol a server speaks: the modern discovery, or the handshake of the years before.

In: a session over an open transport. Out: the same session, negotiated. The wait is not bounded
here: whoever opens the connection bounds it.

A slow modern server must not be taken for an old one, so the probe is never given up: after a
moment of silence the handshake is sent beside it, and whichever is answered first counts.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Literal, TypeAlias

from mcp import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, UNSUPPORTED_PROTOCOL_VERSION, DiscoverResult
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_adapters._faults import NEVER_ASKED_CODE

__all__ = ("DiedInProbe", "Protocol", "negotiate")

Protocol: TypeAlias = Literal["auto", "legacy", "2026-07-28"]
"""`auto` finds out; the others are a user's word."""

PROBE_PATIENCE_S = 10.0
"""Silence after which the handshake is sent beside the unanswered probe."""


class DiedInProbe(Exception):  # noqa: N818 - a fact for the layer above, not an error of its own
    """The server ended without an answer to the probe, at once or at the handshake that followed.

    Servers on version 1.8 and older of the Python SDK do so; a fresh process that gets the
    handshake first works.
    """


async def negotiate(session: ClientSession, protocol: Protocol) -> None:
    """Agree with the server on a protocol version.

    Raises:
        DiedInProbe: The server needs a fresh start with the handshake alone.
        MCPError: The server refused.

    Source: MCP 2026-07-28, basic/versioning, "Discovery"; MCP 2025-11-25, basic/lifecycle.

    """
    if protocol == "legacy":
        await session.initialize()
    elif protocol == "auto":
        await _find_out(session)
    else:
        session.adopt(DiscoverResult.model_validate(await session.send_discover(protocol)))


async def _find_out(session: ClientSession) -> None:
    probe = asyncio.create_task(_probe(session))
    try:
        done, _ = await asyncio.wait({probe}, timeout=PROBE_PATIENCE_S)
        if done and _answered(probe):
            await _adopt_or_initialize(session, probe.result())
        elif done:
            await _after_the_end(session)
        else:
            await _race(session, probe)
    finally:
        await _cancelled(probe)


async def _after_the_end(session: ClientSession) -> None:
    """The probe failed as if the connection had ended: if it has, so does the handshake."""
    refusal = await _initialize(session)
    if refusal is None:
        return
    if refusal.code == CONNECTION_CLOSED:
        raise DiedInProbe from refusal
    raise refusal


async def _race(session: ClientSession, probe: asyncio.Task[DiscoverResult | None]) -> None:
    """The probe is silent: send the handshake too and take what is answered first."""
    handshake = asyncio.create_task(_initialize(session))
    try:
        await asyncio.wait({probe, handshake}, return_when=asyncio.FIRST_COMPLETED)
        if _answered(probe) and (found := probe.result()) is not None:
            await _adopt_or_initialize(session, found)
        elif (refusal := await handshake) is not None:
            await _after_refusal(session, probe, refusal)
    finally:
        await _cancelled(handshake)


async def _after_refusal(
    session: ClientSession, probe: asyncio.Task[DiscoverResult | None], refusal: MCPError
) -> None:
    if refusal.code == CONNECTION_CLOSED and not _answered(probe):
        raise DiedInProbe from refusal
    if refusal.code != UNSUPPORTED_PROTOCOL_VERSION:
        raise refusal
    # The late probe settled the era after all: the server no longer takes the handshake.
    await _adopt_or_initialize(session, await probe)


def _answered(probe: asyncio.Task[DiscoverResult | None]) -> bool:
    """Whether the probe has its answer; raises when it never left, since nothing else would leave either."""
    if probe.done() and isinstance(error := probe.exception(), MCPError) and error.code == NEVER_ASKED_CODE:
        raise error
    return probe.done() and probe.exception() is None


async def _probe(session: ClientSession) -> DiscoverResult | None:
    """What the server says of itself; None when it is of the handshake years."""
    try:
        raw = await session.send_discover(LATEST_MODERN_VERSION)
    except MCPError as error:
        if error.code in (CONNECTION_CLOSED, NEVER_ASKED_CODE):
            raise  # the end of the connection, or a server's own use of the code: the handshake will tell
        if error.code != UNSUPPORTED_PROTOCOL_VERSION:
            return None
        return await _second_probe(session, error)
    with contextlib.suppress(ValidationError):
        return DiscoverResult.model_validate(raw)
    return None


async def _second_probe(session: ClientSession, refusal: MCPError) -> DiscoverResult | None:
    """The server named the versions it speaks: ask again in one that both know."""
    supported = _supported(refusal.data)
    mutual = [version for version in MODERN_PROTOCOL_VERSIONS if version in supported]
    if mutual:
        return DiscoverResult.model_validate(await session.send_discover(mutual[-1]))
    if supported and not any(version in HANDSHAKE_PROTOCOL_VERSIONS for version in supported):
        raise refusal
    return None


def _supported(data: Any) -> list[Any]:
    found = data.get("supported") if isinstance(data, dict) else None
    return found if isinstance(found, list) else []


async def _adopt_or_initialize(session: ClientSession, found: DiscoverResult | None) -> None:
    if found is not None and any(version in found.supported_versions for version in MODERN_PROTOCOL_VERSIONS):
        session.adopt(found)
    elif session.initialize_result is None:
        await session.initialize()


async def _initialize(session: ClientSession) -> MCPError | None:
    try:
        await session.initialize()
    except MCPError as refusal:
        return refusal
    return None


async def _cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await task
