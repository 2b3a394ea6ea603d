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
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from mcp.shared.dispatcher import ProgressFnT

from mcp_adapters._exchange import LinkTimeout
from mcp_adapters._failures import Failures
from mcp_adapters._questions import Asking, Questions, Refused
from mcp_adapters._tasks import Following, Tasks
from mcp_adapters.asking import ElicitationRequest
from mcp_adapters.elicitation import PendingCall
from mcp_adapters.errors import McpAdaptersError
from mcp_adapters.spec import CallAnswers
from mcp_adapters.tasks import TaskState, read_task

__all__ = ("FIRST_PAUSE_S", "LONGEST_PAUSE_S", "MAX_ROUNDS", "Clock", "PagesRequired", "Rounds")

T = TypeVar("T")

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
        tasks: The server's.
        modern: Whether the server speaks protocol 2026-07-28 or later; connects to find out.
        idle: Seconds without a sign of life.
        on_progress: Is told what the server says of a task.

    """

    tool: str
    send: Callable[[CallAnswers | None], Awaitable[dict[str, Any]]]
    questions: Questions
    asking: Asking
    failures: Failures
    clock: Clock
    tasks: Tasks
    modern: Callable[[], Awaitable[bool]]
    idle: float
    on_progress: ProgressFnT | None

    async def run(self, answers: CallAnswers | None) -> dict[str, Any]:
        """Call, and call on with the answers as long as the server asks.

        Args:
            answers: What the call goes on with; None begins it.

        Raises:
            InputRequiredError: A person is to be asked, and questions end calls.
            ProtocolError: The server asks for what nobody answers, or does not stop asking.
            ToolCancelledError: A question got no answer without which the call cannot go on.

        """
        if answers is not None and answers.task is not None:
            known = TaskState(server=self.failures.server, tool=self.tool, task_id=answers.task)
            return await self._finished(known, answers)
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
                case "task":
                    return await self._finished(self._made(answer), None)
                case _:
                    raise self.failures.not_a_result(self.tool)
        raise self.failures.asks_for_ever(self.tool, MAX_ROUNDS)

    async def _in_time(self, work: Awaitable[T]) -> T:
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
        responses = await self._responses(requests, state=state, rounds=number + 1)
        return CallAnswers(state=state, responses=responses)

    async def _responses(self, requests: Mapping[str, Any], **pending: Any) -> dict[str, Any]:
        """The answers to some questions; `pending` is what else a `PendingCall` holds."""
        responses: dict[str, Any] = {}
        asked: dict[str, Mapping[str, Any]] = {}
        for name, request in requests.items():
            response = await self._responded(request)
            if isinstance(response, ElicitationRequest):
                asked[name] = request["params"]
            else:
                responses[name] = response
        if not asked:
            return responses
        server = self.failures.server
        raise self.failures.input_required(
            PendingCall(server=server, tool=self.tool, asked=asked, responses=responses, **pending)
        )

    # -- tasks --------------------------------------------------------------------------------

    async def _finished(self, task: TaskState, given: CallAnswers | None) -> dict[str, Any]:
        """The result of the task that the server made of the call."""
        rounds = itertools.count(1 if given is None else given.rounds + 1)

        async def respond(task: TaskState, requests: Mapping[str, Any]) -> dict[str, Any]:
            number = next(rounds)
            if number > MAX_ROUNDS:
                raise self.failures.asks_for_ever(self.tool, MAX_ROUNDS)
            return await self._responses(requests, rounds=number, task=task.task_id)

        way = Following(
            idle=self.idle,
            modern=await self.modern(),
            answer=respond,
            progressed=self.on_progress,
            given={} if given is None else given.responses,
        )
        return await self._in_time(self.tasks.finish(task, way))

    def _made(self, answer: Mapping[str, Any]) -> TaskState:
        try:
            return read_task(self.failures.server, self.tool, answer)
        except ValueError as error:
            raise self.failures.not_a_result(self.tool) from error

    async def _responded(self, request: Mapping[str, Any]) -> ElicitationRequest | dict[str, Any]:
        """The answer to one question, or the question where it ends the call."""
        method, params = str(request.get("method")), request.get("params") or {}
        if not self.questions.answers(method):
            raise self.failures.asks_back(self.tool)
        try:
            if method == "elicitation/create" and self.questions.pauses:
                return self.questions.screened(params, self.tool)
            return await self.questions.answer(method, params, self.asking)
        except Refused as refused:
            raise self.failures.unanswered(self.tool, refused.reason) from refused

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
