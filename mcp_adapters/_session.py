"""Sessions as this package makes them: who we are, who listens, and who answers.

In: a link and a transport's streams. Out: a session that is entered and has agreed on a protocol.
"""

from __future__ import annotations

import contextlib
from contextlib import AsyncExitStack
from typing import Any

from mcp import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    ElicitResult,
    EmptyResult,
    Implementation,
    LoggingLevel,
    LoggingMessageNotificationParams,
    ResourceUpdatedNotification,
    SetLevelRequest,
    SetLevelRequestParams,
    ToolListChangedNotification,
)

from mcp_adapters._exchange import WireDispatcher, holding
from mcp_adapters._handshake import Protocol, negotiate
from mcp_adapters._link import Link

__all__ = ("ask_for_logs", "session_options", "session_over")


def session_options(link: Link) -> dict[str, Any]:
    """What every session and client is made with: who we are, who listens, and who answers."""
    inbox = link.inbox

    async def on_log(params: LoggingMessageNotificationParams) -> None:
        inbox.logged(params.level, params.logger, params.data)

    async def on_message(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            inbox.tools_changed()
        if isinstance(message, ResourceUpdatedNotification):
            inbox.resource_updated(message.params.uri)

    async def on_elicitation(_: Any, params: Any) -> ElicitResult:
        with holding(link.pulses):
            asked = params.model_dump(by_alias=True, mode="json", exclude_none=True)
            return ElicitResult.model_validate(await inbox.elicited(asked))

    return {
        # Its presence alone tells servers that somebody answers.
        "elicitation_callback": on_elicitation if inbox.elicits else None,
        "logging_callback": on_log,
        "log_level": inbox.log_level,
        "message_handler": on_message,
        "client_info": Implementation(name="mcp-adapters", version=_version()),
    }


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mcp-adapters")
    except PackageNotFoundError:
        return "0"


async def session_over(
    stack: AsyncExitStack, link: Link, streams: tuple[Any, Any], protocol: Protocol
) -> ClientSession:
    """Build a session over a transport's streams, enter it and negotiate the protocol."""
    dispatcher = WireDispatcher(*streams)
    dispatcher.ended = link.end
    session = await stack.enter_async_context(ClientSession(dispatcher=dispatcher, **session_options(link)))
    await negotiate(session, protocol)
    await ask_for_logs(session, link.inbox.log_level)
    return session


async def ask_for_logs(session: ClientSession, level: LoggingLevel | None) -> None:
    """Tell a server of the handshake years from which level on to log; others hear it with each request."""
    capabilities = session.server_capabilities
    if level is None or session.initialize_result is None or not (capabilities and capabilities.logging):
        return
    with contextlib.suppress(MCPError):  # a server that refuses goes on as it likes
        await session.send_request(SetLevelRequest(params=SetLevelRequestParams(level=level)), EmptyResult)
