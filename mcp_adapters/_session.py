"""Sessions as this package makes them: who we are, who listens, and who answers.

In: a link and a transport's streams. Out: a session that is entered and has agreed on a protocol.
"""

from __future__ import annotations

import contextlib
from contextlib import AsyncExitStack
from typing import Any

from mcp import ClientSession
from mcp.shared.dispatcher import Dispatcher
from mcp.shared.exceptions import MCPError
from mcp_types import (
    ClientCapabilities,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitationCapability,
    ElicitCompleteNotification,
    ElicitResult,
    EmptyResult,
    ErrorData,
    FormElicitationCapability,
    Implementation,
    ListRootsResult,
    LoggingLevel,
    LoggingMessageNotificationParams,
    ResourceUpdatedNotification,
    SamplingCapability,
    SamplingToolsCapability,
    SetLevelRequest,
    SetLevelRequestParams,
    ToolListChangedNotification,
    UrlElicitationCapability,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_adapters._exchange import WireDispatcher, holding
from mcp_adapters._handshake import Protocol, negotiate
from mcp_adapters._link import Inbox, Link
from mcp_adapters._questions import Refused
from mcp_adapters.tasks import EXTENSION

__all__ = ("ask_for_logs", "make_session", "session_over")


def _options(link: Link) -> dict[str, Any]:
    """What every session is made with: who we are, who listens, and who answers."""
    return {
        **_listeners(link.inbox),
        **_answerers(link),
        "client_info": Implementation(name="mcp-adapters", version=_version()),
    }


def _listeners(inbox: Inbox) -> dict[str, Any]:
    async def on_log(params: LoggingMessageNotificationParams) -> None:
        inbox.logged(params.level, params.logger, params.data)

    async def on_message(message: Any) -> None:
        match message:
            case ToolListChangedNotification():
                inbox.tools_changed()
            case ElicitCompleteNotification():
                inbox.page_done(message.params.elicitation_id)
            case ResourceUpdatedNotification():
                inbox.resource_updated(message.params.uri)

    return {"logging_callback": on_log, "log_level": inbox.log_level, "message_handler": on_message}


def _answerers(link: Link) -> dict[str, Any]:
    """Their presence alone tells servers that somebody answers; `OurSession` says more exactly what."""

    async def answered_as(kind: Any, method: str, params: Any) -> Any:
        asked = params.model_dump(by_alias=True, mode="json", exclude_none=True) if params else {}
        with holding(link.pulses):
            try:
                return kind.model_validate(await link.inbox.answer(method, asked))
            except Refused as refused:
                return ErrorData(code=refused.code, message=refused.reason)

    async def on_elicitation(_: Any, params: Any) -> Any:
        return await answered_as(ElicitResult, "elicitation/create", params)

    async def on_sampling(_: Any, params: Any) -> Any:
        kind = CreateMessageResultWithTools if params.tools else CreateMessageResult
        return await answered_as(kind, "sampling/createMessage", params)

    async def on_roots(_: Any) -> Any:
        return await answered_as(ListRootsResult, "roots/list", None)

    able = link.inbox.abilities(modern=False)
    return {
        "elicitation_callback": on_elicitation if able.form or able.url else None,
        "sampling_callback": on_sampling if able.sampling else None,
        "list_roots_callback": on_roots if able.roots else None,
    }


class OurSession(ClientSession):
    """Tells servers what they may ask for, kind by kind and by protocol; the SDK tells all or nothing."""

    inbox: Inbox

    def _build_capabilities(self, version: str) -> ClientCapabilities:
        able = self.inbox.abilities(modern=version in MODERN_PROTOCOL_VERSIONS)
        elicitation = ElicitationCapability(
            form=FormElicitationCapability() if able.form else None,
            url=UrlElicitationCapability() if able.url else None,
        )
        sampling = SamplingCapability(tools=SamplingToolsCapability() if able.sampling_tools else None)
        told: dict[str, Any] = {
            "elicitation": elicitation if able.form or able.url else None,
            "sampling": sampling if able.sampling else None,
            "extensions": {EXTENSION: {}} if version in MODERN_PROTOCOL_VERSIONS else None,
        }
        return super()._build_capabilities(version).model_copy(update=told)


def make_session(link: Link, dispatcher: Dispatcher[Any]) -> OurSession:
    """A session of ours over any dispatcher; not entered."""
    session = OurSession(dispatcher=dispatcher, **_options(link))
    session.inbox = link.inbox
    return session


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
    session = await stack.enter_async_context(make_session(link, dispatcher))
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
