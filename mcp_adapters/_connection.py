"""One server over all the lives of its connection: what is asked of it, and what it asks back.

In: a server's key and description, and who wants to hear of it. Out: listings and results as JSON,
or an error of `mcp_adapters.errors`. All of it runs on the background loop. Only what changes nothing,
and calls that are known to be safe, are ever sent a second time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    URL_ELICITATION_REQUIRED,
    CallToolRequest,
    CallToolRequestParams,
    RootsListChangedNotification,
)

from mcp_adapters._context import mirroring, sending
from mcp_adapters._exchange import LinkTimeout, Request
from mcp_adapters._handlers import Messenger
from mcp_adapters._link import LinkEnded
from mcp_adapters._questions import Abilities, Asking, Questions, Refused
from mcp_adapters._refusals import Subject
from mcp_adapters._requests import FOREIGN, Requests
from mcp_adapters._rounds import FIRST_PAUSE_S, LONGEST_PAUSE_S, MAX_ROUNDS, Clock, PagesRequired, Rounds
from mcp_adapters._supervision import Observer, Supervision
from mcp_adapters._tasks import Tasks
from mcp_adapters.errors import ConnectError, ConnectionLostError, McpAdaptersError, ToolExecutionError
from mcp_adapters.spec import CallAnswers

__all__ = ("Connection",)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manner:
    """How one call is sent; see `Connection.call`."""

    idle: float
    clock: Clock
    retry_safe: bool
    headers: Mapping[str, str] | None
    on_progress: ProgressFnT | None


class Connection(Requests):
    """The connection to one server.

    Args:
        key: The server's key in the configuration.
        server: What to connect to; its own timeouts come before those of `supervision`.
        supervision: How it is looked after.
        observer: Is told what happens.
        questions: Answers what the server asks.
        loop: The user's event loop, on which a connected client lives; None without one.

    """

    def __init__(
        self,
        key: str,
        server: Any,
        *,
        supervision: Supervision,
        observer: Observer,
        questions: Questions,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        super().__init__(key, server, supervision=supervision, observer=observer, loop=loop)
        self._questions = questions
        self._elsewhere = Asking(Messenger(loop))
        self._asking: list[Asking] = []
        self.tasks = Tasks(key, super().read, observer.task_changed)
        """Calls that the server made tasks of."""
        self._places = asyncio.Semaphore(supervision.max_concurrent_calls or 2**31)

    # -- what the server asks -----------------------------------------------------------------

    def abilities(self, *, modern: bool) -> Abilities:
        """What the server is told that it may ask for."""
        return self._questions.abilities(modern=modern)

    async def answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a question that came on a way of its own.

        The protocol does not say which call it belongs to: with one call in flight it is that one.

        Raises:
            Refused: There is no answer.

        """
        asking = self._asking[0] if len(self._asking) == 1 else self._elsewhere
        return await self._questions.answer(method, params, asking)

    def page_done(self, elicitation_id: str) -> None:
        """Take note that a person is done with a page, if anybody was sent to it."""
        if self._questions.completed(elicitation_id):
            self._observer.page_done(self.key, elicitation_id)

    async def roots_changed(self) -> None:
        """Tell a server of the handshake years that it may list the roots again."""
        if self._link is not None and self._link.alive and self.abilities(modern=False).roots:
            await self._link.notify(RootsListChangedNotification())

    # -- requests that may ask ----------------------------------------------------------------

    async def read(
        self,
        request: Request,
        *,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """One request that changes nothing, as JSON; what the server asks back is answered.

        Raises:
            RequestError: As `Requests.read`; or a question got no answer.
            ProtocolError: As `Requests.read`; or the server asks for what nobody answers, or for ever.
            ConnectionLostError, ConnectError, ToolboxClosedError: As `Requests.read`.

        Source: MCP 2026-07-28, basic/patterns, "Multi Round-Trip Requests".

        """
        subject, asking = Subject.of(self.key, request), Asking(self._elsewhere.messenger)
        for number in range(MAX_ROUNDS):
            answer = await super().read(request, timeout=timeout, headers=headers)
            if answer.get("resultType", "complete") != "input_required":
                return answer
            requests = answer.get("inputRequests") or {}
            if not requests:
                await asyncio.sleep(min(FIRST_PAUSE_S * 2**number, LONGEST_PAUSE_S))
            responses = {name: await self._reply(asked, asking, subject) for name, asked in requests.items()}
            state = answer.get("requestState")
            request = _going_on(request, CallAnswers(state=state, responses=responses))
        raise subject.asks_for_ever(MAX_ROUNDS)

    async def _reply(self, asked: Mapping[str, Any], asking: Asking, subject: Subject) -> dict[str, Any]:
        method = str(asked.get("method"))
        if not self._questions.answers(method):
            raise subject.asks_back()
        try:
            return await self._questions.answer(method, asked.get("params") or {}, asking)
        except Refused as refused:
            raise subject.unanswered(refused.reason) from refused

    # -- calls --------------------------------------------------------------------------------

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        timeout: float | None = None,
        retry_safe: bool = False,
        headers: Mapping[str, str] | None = None,
        on_progress: ProgressFnT | None = None,
        messenger: Messenger | None = None,
        resume: CallAnswers | None = None,
    ) -> dict[str, Any]:
        """One `tools/call`, as JSON.

        Args:
            tool: The server's own name for the tool.
            arguments: What to send, as it is.
            timeout: Seconds without a sign of life; None means the server's or the toolbox's setting.
            retry_safe: The user says that calling twice does no harm: a call that was lost on its
                way is then sent once more.
            headers: For the HTTP requests of this call; None for none.
            on_progress: Told of progress, on the background loop.
            messenger: Brings the server's questions to where the call was made; None means to where
                the toolbox was opened.
            resume: What an earlier call goes on with; None makes a new one.

        Raises:
            InputRequiredError: The server asks a person, and questions end calls.
            ProtocolError: The server asks for what nobody answers, or does not stop asking.
            ToolCancelledError: What the server asked got no answer without which the call cannot go on.
            ToolExecutionError: The server answered with a JSON-RPC error.
            ToolTimeoutError: No answer in time; `limit` says by which limit.
            ConnectionLostError: The connection ended; `outcome` says whether the call was sent.
            ConnectError: There was no connection and none can be made.
            InvalidResultError: The answer is not of the protocol.
            ToolboxClosedError: The connection is closed.

        """
        asking = Asking(messenger or self._elsewhere.messenger, tool)
        manner = _Manner(
            idle=timeout or self._call_timeout,
            clock=Clock(self._supervision.total_timeout),
            retry_safe=retry_safe,
            headers=headers,
            on_progress=on_progress,
        )

        async def send(answers: CallAnswers | None) -> dict[str, Any]:
            answer = await self._sent(self._request(tool, arguments, answers), manner)
            made = answer.get("task") if "content" not in answer else None
            return {**made, "resultType": "task"} if isinstance(made, Mapping) else answer

        rounds = Rounds(
            tool=tool,
            send=send,
            questions=self._questions,
            asking=asking,
            failures=self._failures,
            clock=manner.clock,
            tasks=self.tasks,
            modern=self._modern,
            idle=manner.idle,
            on_progress=on_progress,
        )
        async with self._places:
            self._asking.append(asking)
            try:
                return await rounds.run(resume)
            finally:
                self._asking.remove(asking)
                if not self._asking:
                    self._elsewhere.models = 0

    def _request(
        self, tool: str, arguments: Mapping[str, Any], answers: CallAnswers | None
    ) -> CallToolRequest:
        params: dict[str, Any] = {"name": tool, "arguments": dict(arguments), **_carried(answers)}
        if tool in self.task_tools:
            params["task"] = {}
        return CallToolRequest(params=CallToolRequestParams.model_validate(params))

    async def _modern(self) -> bool:
        return (await self._live()).modern

    async def _sent(self, request: CallToolRequest, manner: _Manner) -> dict[str, Any]:
        """Send one request; with other headers once more when the server misses what they should repeat.

        Source: MCP 2026-07-28, basic/transports/streamable-http, "Client Behavior".
        """
        mirrored = self._mirrored(request)
        try:
            return await self._safely_sent(request, manner)
        except ToolExecutionError as error:
            if error.code != HEADER_MISMATCH or not await self._mirrors_anew(request, mirrored, error):
                raise
        return await self._safely_sent(request, manner)

    def _mirrored(self, request: CallToolRequest) -> dict[str, str]:
        return self.mirrors.headers(request.params.name, request.params.arguments or {})

    async def _mirrors_anew(
        self, request: CallToolRequest, mirrored: Mapping[str, str], refusal: ToolExecutionError
    ) -> bool:
        """Whether the tool's headers have changed since it was listed."""
        if self._link is None or not self._link.modern:
            return False
        try:
            await self._pages()
        except McpAdaptersError as error:
            raise refusal from error
        if self._mirrored(request) == mirrored:
            return False
        self.tools_changed()
        return True

    async def _safely_sent(self, request: CallToolRequest, manner: _Manner) -> dict[str, Any]:
        """Send one request, and once more when it was lost and that can do no harm."""
        try:
            return await self._called(request, manner)
        except ConnectionLostError as error:
            if not error.retriable and not (manner.retry_safe and error.outcome == "unknown"):
                raise
            try:
                return await self._called(request, manner)
            except ConnectError as gone:
                # The first error says more: what became of the call, and that the server is away.
                raise error from gone

    async def _called(self, request: CallToolRequest, manner: _Manner) -> dict[str, Any]:
        link = await self._live()
        tool = request.params.name
        try:
            with sending(manner.headers), mirroring(self._mirrored(request)):
                return await link.request(
                    request, idle=manner.idle, total=manner.clock.left(), on_progress=manner.on_progress
                )
        except LinkEnded as ended:
            if self._state == "closed":
                raise self._failures.closed() from ended
            raise await self._lost(link, "call", tool) from (link.cause or ended)
        except FOREIGN as error:
            if isinstance(error, LinkTimeout) and self._transport.stuck:
                link.end()
            if isinstance(error, LinkTimeout) and error.limit == "total":
                error = LinkTimeout("total", manner.clock.total or error.seconds)
            failure = self._failures.calling(error, tool, end=link.retire)
            if pages := _pages(error):
                raise PagesRequired(pages, failure) from error
            raise failure from (failure.__cause__ or error)


def _carried(answers: CallAnswers | None) -> dict[str, Any]:
    """What a request carries that goes on where it was asked something."""
    if answers is None:
        return {}
    told = {"inputResponses": answers.responses or None, "requestState": answers.state}
    return {name: value for name, value in told.items() if value is not None}


def _pages(error: BaseException) -> list[Mapping[str, Any]]:
    """The pages that a person is to visit before the server does anything; empty for other errors."""
    if not isinstance(error, MCPError) or error.code != URL_ELICITATION_REQUIRED:
        return []
    data = error.error.data
    pages = data.get("elicitations") if isinstance(data, Mapping) else None
    return [page for page in pages if isinstance(page, Mapping)] if isinstance(pages, list) else []


def _going_on(request: Request, answers: CallAnswers) -> Request:
    """The same request with the answers of its latest round only."""
    params = request.params
    told = params.model_dump(by_alias=True, exclude_none=True, exclude={"input_responses", "request_state"})
    fresh = type(params).model_validate({**told, **_carried(answers)})
    return request.model_copy(update={"params": fresh})
