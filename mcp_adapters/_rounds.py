"""The rounds of one call: send, answer what the server asks, send again, until there is a result.

In: a way to send the call, with answers or without, and who answers. Out: the server's result, or an
error. The rounds are limited in number; who waits for a person is limited by that person's own time and
by the time of the whole call.

Source: MCP 2026-07-28, basic/patterns, "Multi Round-Trip Requests"; MCP 2025-11-25, client/elicitation,
"URL Mode Elicitation Required Error".
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_adapters._exchange import LinkTimeout
from mcp_adapters._failures import Failures
from mcp_adapters._questions import Asking, Questions, Refused
from mcp_adapters.asking import ElicitationRequest
from mcp_adapters.elicitation import PendingCall
from mcp_adapters.errors import McpAdaptersError
from mcp_adapters.spec import CallAnswers

__all__ = ("Clock", "PagesRequired", "Rounds")

MAX_ROUNDS = 10
"""Rounds of questions of one call; a server that needs more is broken."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 30.0
"""Pause before a call is sent again that the server only wants to hear again; it doubles each time."""


class PagesRequired(Exception):  # noqa: N818 - a fact for the layer above, not an error of its own
    """The server does nothing before a person has visited pages; the failure is its cause."""

    def __init__(self, pages: Sequence[Mapping[str, Any]], failure: McpAdaptersError) -> None:
        super().__init__(failure)
        self.pages = pages
        self.failure = failure


class Clock:
    """The time of a whole call; it starts with the first look at it.

    Args:
        total: Seconds; None means no limit.

    """

    def __init__(self, total: float | None) -> None:
        self.total = total
        self._end: float | None = None

    def left(self) -> float | None:
        """Seconds that are left, at least 0; None without a limit."""
        if self.total is None:
            return None
        now = asyncio.get_running_loop().time()
        if self._end is None:
            self._end = now + self.total
        return max(0.0, self._end - now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """One call with all its rounds.

    Args:
        tool: The server's own name for the tool.
        send: Sends the call, with answers or without, and gives the answer as JSON.
        questions: Answers the server.
        asking: On whose behalf.
        failures: Names what goes wrong.
        clock: The time of the whole call.

    """

    tool: str
    send: Callable[[CallAnswers | None], Awaitable[dict[str, Any]]]
    questions: Questions
    asking: Asking
    failures: Failures
    clock: Clock

    async def run(self, answers: CallAnswers | None) -> dict[str, Any]:
        """Call, and call on with the answers as long as the server asks.

        Args:
            answers: What the call goes on with; None begins it.

        Raises:
            InputRequiredError: A person is to be asked, and questions end calls.
            ProtocolError: The server asks for what nobody answers, or does not stop asking.
            ToolCancelledError: A question got no answer without which the call cannot go on.

        """
        visited = False
        for number in range(0 if answers is None else answers.rounds, MAX_ROUNDS):
            try:
                answer = await self.send(answers)
            except PagesRequired as required:
                if visited:
                    raise required.failure from required.failure.__cause__
                await self._in_time(self._visit(required))
                visited = True
                continue
            match answer.get("resultType", "complete"):
                case "complete":
                    return answer
                case "input_required":
                    answers = await self._in_time(self._answered(answer, number))
                case _:
                    raise self.failures.not_a_result(self.tool)
        raise self.failures.asks_for_ever(self.tool, MAX_ROUNDS)

    async def _in_time(self, work: Awaitable[CallAnswers | None]) -> CallAnswers | None:
        limit = asyncio.timeout(self.clock.left())
        try:
            async with limit:
                return await work
        except TimeoutError as error:
            if not limit.expired() or self.clock.total is None:
                raise
            timeout = LinkTimeout("total", self.clock.total)
            raise self.failures.calling(timeout, self.tool, end=_nothing) from error

    async def _answered(self, answer: Mapping[str, Any], number: int) -> CallAnswers:
        requests, state = answer.get("inputRequests") or {}, answer.get("requestState")
        if not requests:
            await asyncio.sleep(min(FIRST_PAUSE_S * 2**number, LONGEST_PAUSE_S))
        responses: dict[str, Any] = {}
        asked: dict[str, Mapping[str, Any]] = {}
        for name, request in requests.items():
            response = await self._responded(request)
            if isinstance(response, ElicitationRequest):
                asked[name] = request["params"]
            else:
                responses[name] = response
        if asked:
            pending = PendingCall(
                server=self.failures.server,
                tool=self.tool,
                asked=asked,
                responses=responses,
                state=state,
                rounds=number + 1,
            )
            raise self.failures.input_required(pending)
        return CallAnswers(state=state, responses=responses)

    async def _responded(self, request: Mapping[str, Any]) -> ElicitationRequest | dict[str, Any]:
        """The answer to one question, or the question where it ends the call."""
        method, params = str(request.get("method")), request.get("params") or {}
        if not self._declared(method):
            raise self.failures.asks_back(self.tool)
        try:
            if method == "elicitation/create" and self.questions.pauses:
                return self.questions.screened(params, self.tool)
            return await self.questions.answer(method, params, self.asking)
        except Refused as refused:
            raise self.failures.unanswered(self.tool, refused.reason) from refused

    def _declared(self, method: str) -> bool:
        able = self.questions.abilities(modern=True)
        return {
            "elicitation/create": able.form or able.url,
            "sampling/createMessage": able.sampling,
            "roots/list": able.roots,
        }.get(method, False)

    async def _visit(self, required: PagesRequired) -> None:
        """Have the person visit the pages, and wait a while for the server to hear of it."""
        identifiers: list[str] = []
        for page in required.pages:
            try:
                answer = await self.questions.elicited({**page, "mode": "url"}, self.asking)
            except Refused as refused:
                raise required.failure from refused
            if answer["action"] != "accept":
                raise required.failure from required.failure.__cause__
            identifiers += [found] if isinstance(found := page.get("elicitationId"), str) else []
        waits = [wait for name in identifiers if (wait := self.questions.completion(name)) is not None]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.questions.completion_timeout):
                await asyncio.gather(*waits)


def _nothing() -> None:
    """The connection goes on: only a person did not answer in time."""
